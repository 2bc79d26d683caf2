"""`--profile locks`: find the Python lines that wait for contended locks or cause stop-the-world pauses.

Probes report each call of the interpreter's functions that wait for a PyMutex or stop all threads, with the thread and
the mutex's address (lab.profile.uprobes). SAMPLES_HZ times per second, the Python stacks of all threads and the owners
of the mutexes that they wait for are read from the processes' memory (lab.profile.frames). lab.profile.waits joins
probes and stacks.

CPU time samples within the functions that count references of shared objects give a lower bound of the cost of sharing
objects. It is a lower bound because the compiler inlines most of this counting.
"""

import platform
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import monotonic_ns

from core.errors import GilscopeError
from core.messages import NOTHING, Message, listed, message
from core.processtree import tree
from lab.gil.memory import KNOWN, NotReadable
from lab.processes import guarded
from lab.profile.frames import SourceLine, StackReader, ThreadStack
from lab.profile.uprobes import CLOCK, MACHINES, Hit, Probe, Probes
from lab.profile.waits import (
    LOCK,
    LOCKED,
    STARTED,
    STOP,
    STOPPED,
    UNREAD,
    OwnerReading,
    WaitSample,
    WaitTimeline,
    count_stop_samples,
    count_wait_samples,
)

SELF_TEST = Path(__file__).with_name("self_test.py")
EXPECTED = {("copy_list", "list"), ("copy_dict", "dict")}
SELF_TEST_ROUNDS, SELF_TEST_S, MOST_SELF_TESTS = 40, 2.0, 15
SAMPLES_HZ = 200
LONGEST_S = 60.0
PARTS = 20
NEW_PROCESSES_S = 0.5
TAKE_MUTEX = ("_PyMutex_LockTimed", "PyMutex_Lock", "_PyRecursiveMutex_LockTimed")
STOP_ALL = (("stop_the_world", "start_the_world"), ("_PyEval_StopTheWorld", "_PyEval_StartTheWorld"))

NOTIFICATION = ("Condition.wait", "threading.py")  # a thread that waits here waits to be notified, not for a lock


class LocksFailed(GilscopeError):
    """The error that the locks of a service could not be profiled."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Samples of threads that wait at one source line for mutexes of objects of one type, such as dict, or of one file.

    owner: the owner of the mutex, as in lab.profile.waits.WaitSample
    stack: the line, followed by its callers
    samples: the number of samples; by_time: their numbers in PARTS successive intervals of equal length
    """

    owner: str
    stack: tuple[SourceLine, ...]
    samples: int
    by_time: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LockFacts:
    """The contended locks and stop-the-world pauses of a service, observed for *watched_ns* nanoseconds.

    waiting_ns: time that all threads together waited for contended mutexes
    stops: number of stop-the-world pauses, which only a free-threaded build has
    stopping_ns: time that the threads that caused the pauses spent on them, all together
    stood_ns: time that the other threads of a process were paused, for the process with the longest such time
    waits, stopping: the lines that wait and the lines that cause pauses, most samples first
    count_share: share of the service's CPU time in functions that count references of shared objects, 0..1
    waiting_cpu_share: share of the service's CPU time in threads that wait for locks, 0..1
    lost: probe hits that were lost because the ring buffer was full
    """

    watched_ns: int = 0
    waiting_ns: int = 0
    waits: tuple[Waiting, ...] = ()
    stops: int = 0
    stopping_ns: int = 0
    stood_ns: int = 0
    stopping: tuple[Waiting, ...] = ()
    cpu_samples: int = 0
    count_share: float = 0.0
    waiting_cpu_share: float = 0.0
    lost: int = 0


class LockRecording:
    """A recorder of lock waits in Python process *pid* and its descendants during the `with` block."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ending = threading.Event()
        self._round = threading.Condition()
        self._timeline = WaitTimeline()
        self._stacks: dict[int, list[ThreadStack]] = defaultdict(list)
        self._owners: dict[int, list[OwnerReading]] = defaultdict(list)
        self._cpu: Counter[bool] = Counter()
        self._processes: dict[int, StackReader] = {}
        self._other_pids: set[int] = set()

        self._rounds = 0
        self.facts: LockFacts | None = None

    def __enter__(self) -> "LockRecording":
        """Start recording lock waits. Raises LocksFailed."""
        self._find_processes()
        if not self._processes:
            raise LocksFailed(
                "the service has no process with CPython {known} whose memory gilscope may read", known=listed(KNOWN)
            )
        with ExitStack() as stack:
            stack.callback(self._close)
            programs = {process.file.stat().st_ino: process for process in self._processes.values()}
            probes = [probe for process in programs.values() for probe in _probes_of(process)]
            self._probes = stack.enter_context(_set_probes(probes))
            self._thread = threading.Thread(target=self._watch, name="locks", daemon=True)
            self._started_ns = monotonic_ns()
            self._thread.start()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        self._thread.join()
        try:
            self.facts = self._collect_facts()
        finally:
            self._open.close()

    def wait_for(self, rounds: int, timeout_s: float) -> None:
        """Wait until *rounds* rounds of samples have been taken."""
        with self._round:
            self._round.wait_for(lambda: self._rounds >= rounds, timeout_s)

    def _close(self) -> None:
        for process in self._processes.values():
            process.close()

    def _watch(self) -> None:
        searched_ns = self._started_ns
        while not self._ending.wait(1 / SAMPLES_HZ) and not self._timeline.is_full:
            now_ns = monotonic_ns()
            if now_ns - self._started_ns > LONGEST_S * 1e9:
                break
            if now_ns - searched_ns > NEW_PROCESSES_S * 1e9:
                self._find_processes()
                searched_ns = now_ns
            self._sample()
        self._ended_ns = monotonic_ns()

    def _sample(self) -> None:
        """Take one round of samples: all stacks, new probe hits, and the owners of mutexes for which threads wait."""
        for process in self._processes.values():
            self._stacks[process.pid] += process.stacks()
        self._add_hits(self._probes.hits())
        for pid, tid, mutex in self._timeline.waiting():
            start_ns = monotonic_ns()
            name = self._processes[pid].owner(mutex)
            self._owners[pid].append(OwnerReading(tid, mutex, start_ns, monotonic_ns(), name))
        with self._round:
            self._rounds += 1
            self._round.notify_all()

    def _add_hits(self, hits: list[Hit]) -> None:
        ours = [hit for hit in hits if hit.pid in self._processes]
        self._timeline.add(ours)
        for hit in ours:
            if hit.name == CLOCK:
                self._cpu[any(hit.value in function for function in self._processes[hit.pid].shared_counts)] += 1

    def _find_processes(self) -> None:
        for pid in tree(self._pid):
            if pid not in self._processes and pid not in self._other_pids:
                try:
                    self._processes[pid] = StackReader(pid)
                except NotReadable:
                    self._other_pids.add(pid)

    def _collect_facts(self) -> LockFacts:
        self._add_hits(self._probes.hits())
        timeline = self._timeline
        timeline.end(self._ended_ns)
        waits = self._group_by_line(count_wait_samples(timeline.waits, self._stacks, self._owners, self._interval_at))
        contended = [
            waiting
            for waiting in waits
            if not waiting.stack or (waiting.stack[0].function, Path(waiting.stack[0].file).name) != NOTIFICATION
        ]
        watched_ns = self._ended_ns - self._started_ns
        per_sample_ns = watched_ns / max(1, self._rounds)
        return LockFacts(
            watched_ns=watched_ns,
            waiting_ns=round(sum(waiting.samples for waiting in contended) * per_sample_ns),
            waits=tuple(contended),
            stops=len(timeline.stops),
            stopping_ns=sum(span.end_ns - span.start_ns for span in timeline.stops),
            stood_ns=max(timeline.stood_ns.values(), default=0),
            stopping=tuple(self._group_by_line(count_stop_samples(timeline.stops, self._stacks))),
            cpu_samples=self._cpu.total(),
            count_share=round(self._cpu[True] / max(1, self._cpu.total()), 4),
            waiting_cpu_share=round(timeline.cpu[True] / max(1, timeline.cpu.total()), 4),
            lost=self._probes.lost(),
        )

    def _interval_at(self, at_ns: int) -> int:
        length_ns = max(1, self._ended_ns - self._started_ns)
        return min(PARTS - 1, max(0, at_ns - self._started_ns) * PARTS // length_ns)

    def _group_by_line(self, samples: Counter[WaitSample]) -> list[Waiting]:
        """Group samples by mutex owner and innermost line, largest group first, each with its most frequent stack."""
        lines: dict[tuple[str, SourceLine | None], Counter[tuple[SourceLine, ...]]] = defaultdict(Counter)
        parts: dict[tuple[str, SourceLine | None], Counter[int]] = defaultdict(Counter)
        for sample, count in samples.items():
            places = map(self._processes[sample.pid].place, sample.frames)
            stack = tuple(place for place in places if place)
            line = sample.owner, stack[0] if stack else None
            lines[line][stack] += count
            parts[line][sample.part] += count
        waiting = (
            Waiting(
                owner=line[0],
                stack=stacks.most_common(1)[0][0],
                samples=stacks.total(),
                by_time=tuple(parts[line][part] for part in range(PARTS)),
            )
            for line, stacks in lines.items()
        )
        return sorted(waiting, key=lambda line: -line.samples)


def _probes_of(process: StackReader) -> Iterator[Probe]:
    """Yield the probes to set in a process's interpreter, except for functions that the compiler has inlined."""
    file = process.file
    known = process.symbols((*TAKE_MUTEX, *chain(*STOP_ALL)))
    for name in TAKE_MUTEX:
        if name in known:
            yield Probe(name=LOCK, file=file, offset=known[name].offset)
            yield Probe(name=LOCKED, file=file, offset=known[name].offset, returns=True)
    for stop, start in STOP_ALL if process.free_threaded else ():
        if stop in known and start in known:
            yield Probe(name=STOP, file=file, offset=known[stop].offset)
            yield Probe(name=STOPPED, file=file, offset=known[stop].offset, returns=True)
            yield Probe(name=STARTED, file=file, offset=known[start].offset, returns=True)
            return


@contextmanager
def _set_probes(probes: list[Probe]) -> Iterator[Probes]:
    if not probes:
        raise LocksFailed(
            "the service's interpreter has no symbols, so its functions that take a lock cannot be found; use an "
            "interpreter that was not stripped"
        )
    try:
        with Probes(probes) as set_probes:
            yield set_probes
    except OSError as error:
        raise LocksFailed(_explain_refusal(error)) from error


def run_self_test(executable: Path) -> None:
    """Run the self-test: record a test program in which threads contend for the locks of a list and a dict.

    Raises LocksFailed if the recording shows anything else.
    """
    seen: set[tuple[str, str]] = set()
    with guarded([executable, "-I", SELF_TEST], streams=(subprocess.PIPE, subprocess.DEVNULL)) as guard:
        if not guard.process.stdout or not guard.process.stdout.readline():
            raise LocksFailed(
                "{executable} could not run the self-test {script}", executable=str(executable), script=SELF_TEST.name
            )
        for _ in range(MOST_SELF_TESTS):
            with LockRecording(guard.process.pid) as recording:
                recording.wait_for(SELF_TEST_ROUNDS, SELF_TEST_S)
            waits = recording.facts.waits if recording.facts else ()
            seen |= {(line.stack[0].function, line.owner) for line in waits if line.stack and line.owner != UNREAD}
            if len(seen) >= len(EXPECTED):
                break
    if seen != EXPECTED:
        pairs = ", ".join(f"{function}: {owner}" for function, owner in sorted(seen)) or "-"
        raise LocksFailed(
            "the self-test of --profile locks failed with {executable}: it must see lock waits for a dict in "
            "copy_dict and for a list in copy_list, but it saw {seen}",
            executable=str(executable),
            seen=pairs,
        )


def obstacle() -> Message:
    """Return why locks cannot be profiled on this machine and how to fix it; NOTHING if they can."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return message("--profile locks needs Linux 6.6 or later on x86-64 or arm64.")
    try:
        with Probes([Probe(name=LOCK, file=Path(sys.executable).resolve(), offset=0)]):
            return NOTHING
    except OSError as error:
        return _explain_refusal(error)


def _explain_refusal(error: OSError) -> Message:
    return message(
        "--profile locks is not permitted to probe functions here: {error}. Run it as root, or in a container started "
        "with --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE.",
        error=error.strerror or str(error),
    )
