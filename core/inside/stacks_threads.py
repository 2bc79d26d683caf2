"""Read the threads of another process: their states from /proc (Linux), without privileges, and
their stacks.

stacks_sampler.py calls this module in its own process, under the runtime of the sampled service and
with the standard library alone. It calls read_state() of every thread for each sample.
"""

import linecache
import os
import random
import re
from collections.abc import Callable
from typing import Any

# beside other load, threads were preempted up to 4 times after a few us each (docs/why.md)
FEWEST_YIELDS = 5
# a spinning thread runs for 2 to 8 us, one that each thread that it wakes preempts for 14 us
LONGEST_TURN_NS = 8000

# Numbers of system calls, from asm/unistd_64.h of x86-64 and asm-generic/unistd.h. idle: waiting
# for work or to accept.
_X86 = {
    "futex": {202, 455}, "idle": {34, 61, 128, 130, 232, 247, 281, 441, 43, 288},
    "poll": {7, 23, 270, 271}, "read": {0, 45, 47},
}  # fmt: skip
_GENERIC = {
    "futex": {98, 455}, "idle": {22, 95, 133, 137, 260, 441, 202, 242},
    "poll": {72, 73}, "read": {63, 207, 212},
}  # fmt: skip
_CALLS = _X86 if os.uname().machine == "x86_64" else _GENERIC
# by the number of the system call, as /proc/<pid>/task/<tid>/syscall begins
KINDS = {str(number).encode(): kind for kind, numbers in _CALLS.items() for number in numbers}

# A thread that waits at such a line waits for work and not for a lock that another thread holds.
_PARKED_ON = re.compile(
    r"\b(waiter|_tstate_lock|lock)\.acquire\(|\.join\(|\.wait\(|work_queue\.get\("
)
_PARKED_IN = re.compile(r"(^|/)(threading|concurrent/futures/thread)\.py$")
_PARKED_FOR = re.compile(r"wait|join|_worker|_shutdown")
_QUEUE_GET = re.compile(
    r"\.get\((\)|block\b|timeout\b|True\b)|\biter\([\w.]+\.get\b"
)  # unlike dict.get(key)
_INVOLUNTARY = re.compile(rb"nonvoluntary_ctxt_switches:\s*(\d+)")
_READINESS = re.compile(r"\b(select|poll|accept)\(")

# file, line and function
Frame = tuple[str, int, str]


def is_parked_on_a_lock(frame: Frame) -> bool:
    """Return whether a thread that waits on a futex in *frame*, its innermost frame, is idle: it
    waits for work.
    """
    file, line, function = frame
    text = linecache.getline(file, line)
    if _PARKED_IN.search(file):
        return bool(_PARKED_FOR.search(function) and _PARKED_ON.search(text))
    return bool(_QUEUE_GET.search(text))


def is_parked_in_poll(frame: Frame) -> bool:
    """Return whether a thread that waits in poll or select in *frame* is idle.

    A socket with a timeout waits there, too, for its peer. Such a thread is not idle.
    """
    return bool(_READINESS.search(linecache.getline(frame[0], frame[1])))


def is_spinning(switches: int, ran_ns: int) -> bool:
    """Return whether a thread that lost its core *switches* times, and ran for *ran_ns*, spun on a
    lock.
    """
    return switches >= FEWEST_YIELDS and ran_ns < switches * LONGEST_TURN_NS


class Thread:
    """A thread of the sampled process. Its files in /proc stay open."""

    def __init__(self, pid: int, tid: int, *, may_spin: bool) -> None:
        names = ("syscall", "schedstat", *(["status"] if may_spin else []))
        self._files = [os.open(f"/proc/{pid}/task/{tid}/{name}", os.O_RDONLY) for name in names]
        self._ran_ns = self._waited_ns = self._ran_at_switches_ns = self._switches = self._turns = 0
        self._ready_share = 0.0
        self.read_state()

    def close(self) -> None:
        for file in self._files:
            os.close(file)

    def read_state(self) -> tuple[str, int] | None:
        """Return what the thread does and the address of the futex on which it waits; None if the
        thread has ended.

        kind: run, ready, spin, futex, idle, poll or io

        Source: proc(5), sched-stats.rst.
        """
        try:
            words = os.pread(self._files[0], 256, 0).split()
            ran_ns, waited_ns, self._turns = self._scheduled()
            ran, waited = ran_ns - self._ran_ns, waited_ns - self._waited_ns
            if ran + waited:
                self._ready_share = waited / (ran + waited)
            self._ran_ns, self._waited_ns = ran_ns, waited_ns
            if (
                words[0] == b"running"
            ):  # on a core or ready: the share of waiting since the last sample decides
                if self._spins(ran_ns):
                    return "spin", 0
                return ("ready" if random.random() < self._ready_share else "run"), 0
            kind = KINDS.get(words[0], "io")
            if kind == "futex":
                return kind, int(words[1], 16)
            if kind == "read":
                kind = "idle" if words[1] == b"0x0" else "io"  # 0 is standard input
            return kind, 0
        except (ProcessLookupError, ValueError, IndexError):
            return None

    def _scheduled(self) -> list[int]:
        """Return the thread's run time and run-queue time in ns, and how often it was scheduled."""
        return [int(word) for word in os.pread(self._files[1], 64, 0).split()]

    def _spins(self, ran_ns: int) -> bool:
        """Return whether the thread spins: it yields its core often, as _PyMutex_LockTimed does
        before it sleeps.
        """
        if len(self._files) < 3:
            return False
        switches = int(_INVOLUNTARY.search(os.pread(self._files[2], 4096, 0))[1])  # type: ignore[index]
        new, ran = switches - self._switches, ran_ns - self._ran_at_switches_ns
        self._switches, self._ran_at_switches_ns = switches, ran_ns
        return is_spinning(new, ran)

    def has_run(self) -> bool:
        """Return whether the thread has run since read_state(), or has ended."""
        try:
            return self._scheduled()[2] != self._turns
        except (ProcessLookupError, IndexError):
            return True


# ---- stacks, for the sampler ---------------------------------------------------------------------

MOST_FRAMES = 100
MOST_READS = 5  # attempts, because stacks may change while they are read

Key = tuple[Any, ...]  # identifies a stack for its reader


class StackReader:
    """A reader of the stacks of another process, which runs Python 3.14 or later.

    On a free-threaded build, a thread's copy of a function's bytecode may be newer than the
    unwinder's cache. Then the line is negative, or reading fails ("Invalid tlbc_index"), until a
    new unwinder is made. Frames that have no line even then are remembered, so that they do not
    cause another unwinder.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._unwinder = _unwinder(self._pid)
        self._lineless: set[Any] = set()

    def stacks(self) -> dict[int, Key]:
        """Return the stack of each thread; {} if the memory changed while it was read."""
        stacks = self._read()
        if not stacks or _lineless(stacks) - self._lineless:
            self._unwinder = _or_none(lambda: _unwinder(self._pid)) or self._unwinder
            stacks = self._read()
            self._lineless |= _lineless(stacks)
        return stacks

    def frames(self, key: Key) -> tuple[Frame, ...]:
        """Return the frames of a stack, innermost frame first."""
        return tuple(
            (info.filename, max(0, _line(info)), info.funcname) for info in key[:MOST_FRAMES]
        )

    def _read(self) -> dict[int, Key]:
        traces = (_or_none(self._unwinder.get_stack_trace) for _ in range(MOST_READS))
        trace: list[Any] = next(filter(None, traces), [])
        threads = [
            thread for item in trace for thread in getattr(item, "threads", [item])
        ]  # 3.15 has interpreters
        return {
            thread.thread_id: tuple(thread.frame_info) for thread in threads if thread.frame_info
        }


def _or_none(read: Callable[[], Any]) -> Any:
    """Return the result of *read*, or None if the process changed its memory meanwhile."""
    try:
        return read()
    except (
        RuntimeError,
        UnicodeDecodeError,
        MemoryError,
        SystemError,
    ):  # 3.14.7 fails without an exception at times
        return None
    except (PermissionError, ProcessLookupError):
        raise
    except OSError:  # a pointer became invalid while it was followed
        return None


def _unwinder(pid: int) -> Any:
    from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

    return RemoteUnwinder(pid, all_threads=True)


def _lineless(stacks: dict[int, Key]) -> set[Any]:
    return {info for stack in stacks.values() for info in stack if _line(info) < 0}


def _line(info: Any) -> int:
    return getattr(getattr(info, "location", info), "lineno", 0) or 0  # 3.15 has a location
