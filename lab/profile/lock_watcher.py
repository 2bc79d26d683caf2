"""`--profile locks`: find the Python lines that wait for contended locks or cause stop-the-world
pauses.

Probes report each call of the interpreter's functions that wait for a PyMutex or stop all threads,
with the thread and the mutex's address (lab.profile.uprobes). SAMPLES_HZ times per second, the
Python stacks of all threads and the owners of the mutexes that they wait for are read from the
processes' memory (lab.profile.frames). lab.profile.lock_waits joins probes and stacks.

CPU time samples within the functions that count references of shared objects give a lower bound of
the cost of sharing objects. It is a lower bound because the compiler inlines most of this counting.

lab/run/profiling.py calls run_self_test(), then watched(), on the services' host. On another host
they run in the worker (lab/hosts/worker.py), so this module needs the standard library and gilscope
alone, and LockFacts must become JSON. While the `with` block of record_locks() lasts, the thread
"locks" changes a LockRecording, and others may only call wait_for() and set `ending`.
"""

import platform
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic_ns
from typing import NamedTuple

from core.messages import NOTHING, ChildFailed, Message, message
from core.processtree import tree
from lab.processes import guarded
from lab.profile.frames import FrameReader, SourceLine, ThreadStack
from lab.profile.lock_waits import (
    LOCK,
    LOCKED,
    PROBED,
    UNREAD,
    OwnerReading,
    WaitSpan,
    WaitTimeline,
    wait_samples,
)
from lab.profile.uprobes import CLOCK, MACHINES, Probes, Uprobe
from lab.user_service.process_memory import KNOWN, NotReadable

# A program with a known contended lock, which is profiled first, to check that profiling works. It
# runs under the profiled interpreter: standard library only. Threads copy one dict until they are
# killed. Each copy holds the dict's own mutex, so the threads wait for it. Copying so many entries
# takes long enough to be sampled.
SELF_TEST = """
import threading

def copy_dict(shared):
    while True:
        shared.copy()

by_number = dict.fromkeys(range(20_000))
for _ in range(4):
    threading.Thread(target=copy_dict, args=(by_number,), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
# the function and the lock's owner that a recording of SELF_TEST must show, and no others
EXPECTED = {"copy_dict: dict"}
# rounds of samples in one recording, its longest time in s, and how many recordings are made
# until a lock is seen
SELF_TEST_ROUNDS, SELF_TEST_S, MOST_SELF_TESTS = 40, 2.0, 15
# rounds of samples per second, at most
SAMPLES_HZ = 200
# after this time the recording stops, even if the service still runs
LONGEST_S = 60.0
# intervals of Waiting.by_time; lock_report.STUDENT_95 depends on it
PARTS = 20
ROUNDS_PER_SEARCH = 100  # new processes are searched for about twice per second
# A thread that waits here waits to be notified, or has been notified by a thread that still holds
# the condition's lock.
NOTIFICATIONS = (("Condition.wait", "threading.py"), ("Condition._acquire_restore", "threading.py"))
Stack = tuple[SourceLine, ...]


class Waiting(NamedTuple):
    """Samples of threads that wait at one source line for mutexes of objects of one type, such as
    dict, or of one file.

    owner: the owner of the mutex, as lab.profile.lock_waits.wait_samples() yields it
    stack: the line, followed by its callers
    samples: the number of samples; by_time: their numbers in PARTS successive intervals of equal
        length
    """

    owner: str
    stack: Stack
    samples: int
    by_time: tuple[int, ...] = ()


class LockFacts(NamedTuple):
    """The contended locks and stop-the-world pauses of a service, observed for *watched_ns*
    nanoseconds.

    waiting_ns: time that all threads together waited for contended mutexes
    stops: number of stop-the-world pauses, which only a free-threaded build has
    stopping_ns: time that the threads that caused the pauses spent on them, all together
    stood_ns: time that the other threads of a process were paused, for the process with the longest
        such time
    contended, stopping: the lines that wait and the lines that cause pauses, most samples first
    count_share: share of the service's CPU time in functions that count references of shared
        objects, 0..1
    waiting_cpu_share: share of the service's CPU time in threads that wait for locks, 0..1
    lost: probe hits that were lost because the ring buffer was full
    """

    watched_ns: int
    waiting_ns: int
    contended: tuple[Waiting, ...]
    stops: int
    stopping_ns: int
    stood_ns: int
    stopping: tuple[Waiting, ...]
    cpu_samples: int
    count_share: float
    waiting_cpu_share: float
    lost: int


class LockRecording:
    """A recorder of lock waits in Python processes. record_locks() makes and runs it.

    facts: the result, set when the recording has ended
    """

    def __init__(self, pid: int, held: ExitStack) -> None:
        """Find the Python processes among *pid* and its descendants, and set probes. Raises
        ChildFailed.

        held: closes the probes and the processes' memory
        """
        self._pid, self._held = pid, held
        self.facts: LockFacts | None = None
        self.ending = threading.Event()
        self._round = threading.Condition()
        self._rounds = 0
        self._timeline = WaitTimeline()
        self._stacks: list[ThreadStack] = []
        self._owners: list[OwnerReading] = []
        self._cpu = Counter[str]()
        self._processes: dict[int, FrameReader] = {}
        self._find_processes()
        if not self._processes:
            raise ChildFailed(
                "the service has no process with CPython {known} whose memory gilscope may read",
                known=KNOWN,
            )
        # one set of probes per interpreter, because every process of its file hits the probes
        # [1:3]: inode and device of the file
        programs = {process.file.stat()[1:3]: process for process in self._processes.values()}
        probes = [probe for process in programs.values() for probe in _probes_of(process)]
        if not probes:
            raise ChildFailed(
                "the service's interpreter has no symbols, so its functions that take a lock "
                "cannot be found; use an interpreter that was not stripped"
            )
        try:
            self._probes = held.enter_context(Probes(probes))
        except OSError as error:
            raise ChildFailed(_explain_refusal(error)) from error
        self._started_ns = self._ended_ns = monotonic_ns()

    def wait_for(self, rounds: int, timeout_s: float) -> None:
        """Wait until *rounds* rounds of samples have been taken."""
        with self._round:
            self._round.wait_for(lambda: self._rounds >= rounds, timeout_s)

    def take_samples(self) -> None:
        """Take samples until *ending* is set, for LONGEST_S at most."""
        ends_ns = self._started_ns + LONGEST_S * 1e9
        while (
            not self.ending.wait(1 / SAMPLES_HZ)
            and not self._timeline.is_full
            and monotonic_ns() < ends_ns
        ):
            if self._rounds % ROUNDS_PER_SEARCH == 0:
                self._find_processes()
            self._sample()
        self._ended_ns = monotonic_ns()

    def _sample(self) -> None:
        """Take one round of samples: all stacks, new probe hits, and the owners of mutexes for
        which threads wait.
        """
        for process in self._processes.values():
            self._stacks += process.stacks()
        self._add_hits()
        for pid, tid, mutex in self._timeline.waiting():
            start_ns = monotonic_ns()
            name = self._processes[pid].owner(mutex)
            self._owners.append(OwnerReading(pid, tid, start_ns, monotonic_ns(), mutex, name))
        with self._round:
            self._rounds += 1
            self._round.notify_all()

    def _add_hits(self) -> None:
        for hit in self._probes.hits():
            process = self._processes.get(hit.pid)
            if process and hit.name == CLOCK:
                counts = any(hit.value in function for function in process.shared_counts)
                self._cpu.update(
                    all=1, waiting=self._timeline.is_waiting(hit.pid, hit.tid), counting=counts
                )
            elif process:
                self._timeline.add(hit)

    def _find_processes(self) -> None:
        for pid in tree(self._pid):
            if pid not in self._processes:
                with suppress(NotReadable):  # it may run Python later, after an exec
                    self._processes[pid] = self._held.enter_context(FrameReader(pid, PROBED))

    def collect_facts(self) -> None:
        """Set *facts* to what was recorded, after take_samples() has ended."""
        self._add_hits()
        timeline, cpu = self._timeline, self._cpu
        timeline.end(self._ended_ns)
        waits = self._group_by_line(timeline.waits)
        contended = [waiting for waiting in waits if not is_notification(waiting.stack)]
        watched_ns = self._ended_ns - self._started_ns
        # a sample stands for the time between two rounds, as the waits are only sampled
        per_sample_ns = watched_ns / max(1, self._rounds)
        self.facts = LockFacts(
            watched_ns=watched_ns,
            waiting_ns=round(sum(waiting.samples for waiting in contended) * per_sample_ns),
            contended=tuple(contended),
            stops=len(timeline.stops),
            stopping_ns=sum(span.end_ns - span.start_ns for span in timeline.stops),
            stood_ns=max(timeline.stood_ns.values(), default=0),
            stopping=tuple(self._group_by_line(timeline.stops)),
            cpu_samples=cpu["all"],
            count_share=round(cpu["counting"] / max(1, cpu["all"]), 4),
            waiting_cpu_share=round(cpu["waiting"] / max(1, cpu["all"]), 4),
            lost=self._probes.lost(),
        )

    def _group_by_line(self, spans: Sequence[WaitSpan]) -> list[Waiting]:
        """Group samples by mutex owner and innermost line, largest group first, each with its most
        frequent stack.
        """
        groups: dict[tuple[str, Stack], list[tuple[Stack, int]]] = defaultdict(list)
        length_ns = max(1, self._ended_ns - self._started_ns)
        for owner, stack in wait_samples(spans, self._stacks, self._owners):
            lines = tuple(filter(None, map(self._processes[stack.pid].place, stack.frames)))
            part = min(PARTS - 1, max(0, stack.start_ns - self._started_ns) * PARTS // length_ns)
            groups[owner, lines[:1]].append((lines, part))
        waiting = []
        for (owner, _), samples in groups.items():
            stacks, parts = map(Counter, zip(*samples, strict=True))
            by_time = tuple(parts[part] for part in range(PARTS))
            ((usual, _),) = stacks.most_common(1)
            waiting.append(Waiting(owner, usual, len(samples), by_time))
        return sorted(waiting, key=lambda line: -line.samples)


def is_notification(stack: Stack) -> bool:
    """Return whether a thread with this *stack*, such as an idle worker of a pool, waits for work
    and for no lock.
    """
    return bool(stack) and (stack[0].function, Path(stack[0].file).name) in NOTIFICATIONS


@contextmanager
def record_locks(pid: int) -> Iterator[LockRecording]:
    """Record lock waits in Python process *pid* and its descendants during the `with` block. Raises
    ChildFailed.
    """
    with ExitStack() as held, ThreadPoolExecutor(1, "locks") as pool:
        recording = LockRecording(pid, held)
        sampling = pool.submit(recording.take_samples)
        try:
            yield recording
        finally:
            recording.ending.set()
        if error := sampling.exception():
            raise ChildFailed(
                "the recording of locks ended early ({error})", error=repr(error)
            ) from error
        recording.collect_facts()


def _probes_of(process: FrameReader) -> Iterator[Uprobe]:
    """Yield the probes to set in a process's interpreter, except for functions that the compiler
    has inlined.

    Functions that stop all threads do nothing in a default build. If such a function calls another
    one, the inner call counts (WaitTimeline).
    """
    for function, symbol in process.symbols.items():
        # not strict, because symbols that are not probed have no names
        for name, returns in zip(PROBED.get(function, ()), (False, True), strict=False):
            if name and (process.free_threaded or name in (LOCK, LOCKED)):
                yield Uprobe(name, process.file, symbol.offset, returns)


def run_self_test(executable: str) -> None:
    """Record a test program in which threads contend for the lock of a dict, under the interpreter
    *executable*.

    Raises ChildFailed if the recording shows anything else.
    """
    seen = set[str]()
    command = [executable, "-I", "-c", SELF_TEST]
    with guarded(command, streams=(subprocess.PIPE, subprocess.DEVNULL)) as guard:
        if not guard.process.stdout or not guard.process.stdout.readline():
            raise ChildFailed(
                "{executable} could not run {script}, a program with which gilscope tests "
                "--profile locks",
                executable=executable,
                script="self_test",
            )
        for _ in range(MOST_SELF_TESTS):
            with record_locks(guard.process.pid) as recording:
                recording.wait_for(SELF_TEST_ROUNDS, SELF_TEST_S)
            for line in recording.facts.contended if recording.facts else ():
                if line.stack and line.owner != UNREAD:
                    seen.add(f"{line.stack[0].function}: {line.owner}")
            if seen:
                break
    if seen != EXPECTED:
        raise ChildFailed(
            "the self-test of --profile locks failed with {executable}: it must see lock waits for "
            "a dict in copy_dict, but it saw {seen}",
            executable=executable,
            seen=", ".join(sorted(seen)) or "-",
        )


def watched(pid: int) -> Generator[None, None, LockFacts | None]:
    """Return which locks the threads of process *pid* waited for between the generator's `yield`
    and its end.

    Raises ChildFailed.
    """
    with record_locks(pid) as recording:
        yield
    return recording.facts


def obstacle_to(kind: str) -> Message:
    """Return why a profile of *kind* (python or locks) cannot be taken on this machine, and how to
    fix it; NOTHING if it can.
    """
    if kind == "python" and sys.platform == "linux":
        return NOTHING
    if kind == "python":
        return message(
            "--profile python needs Linux. Use a Linux machine, or leave python out of --profile."
        )
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return message(
            "--profile locks needs Linux 6.6 or later on x86-64 or arm64. Use such "
            "a machine, or leave locks out of --profile."
        )
    try:
        # no code begins at offset 0, so this tests the permission and nothing is hit
        with Probes([Uprobe(LOCK, Path(sys.executable).resolve(), 0)]):
            return NOTHING
    except OSError as error:
        return _explain_refusal(error)


def _explain_refusal(error: OSError) -> Message:
    return message(
        "--profile locks is not permitted to probe functions here: {error}. Run gilscope as "
        "root, or in a container started with --cap-add BPF --cap-add PERFMON --cap-add "
        "SYS_PTRACE.",
        error=error.strerror or str(error),
    )
