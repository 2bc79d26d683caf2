"""Samples the threads of a Python process from beside it: what each does, by the kernel, and on which line, by Python.

Started by stacks.py under the interpreter of that process. It takes no lock there and stops nothing. Each sample reads
the state of every thread first, then the stacks; a wait counts for a line only if the thread has not run in between.
Counts go by slices of time to `stacks-PID`, a line of JSON each, so that what was written stays if all is killed.

States: run, ready (without a core), gil, lock, io, idle (parked for work). Futexes of the GIL were learnt at the start.
"""

import json
import linecache
import os
import random
import re
import select
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from typing import IO, Any, NoReturn

SLICE_NS = 100_000_000
MOST_FRAMES = 100
MOST_STACKS = 8192
MOST_THREADS = 500  # a question fits a pipe at once
MOST_BYTES = 16 << 20
MOST_PROGRAMS = 10
FEWEST_YIELDS = 3
LONGEST_TURN_NS = 15_000  # spinning: 2 to 10 us; threads that preempt each other: above 28 us (docs/why.md)
MOST_READS = 5  # of stacks that change meanwhile
GIL_BYTES = 512  # condition, mutex and their second pair lie beside each other: struct _gil_runtime_state
LEARN_NS = 300_000_000
ENOUGH_SEEN = 3
ANSWER_DEADLINE_MS = 1000
MOVED = ("", 0, "")  # the stack of a wait that was over before its line was read

# Numbers of system calls: asm/unistd_64.h of x86-64, and asm-generic/unistd.h.
_X86 = {
    "futex": {202, 455}, "parked": {34, 61, 127, 128, 130, 232, 247, 281, 441},
    "accept": {43, 288}, "poll": {7, 23, 270, 271}, "read": {0, 45, 47},
}  # fmt: skip
_GENERIC = {
    "futex": {98, 455}, "parked": {22, 95, 133, 137, 260, 441},
    "accept": {202, 242}, "poll": {72, 73}, "read": {63, 207, 212},
}  # fmt: skip
CALLS = _X86 if os.uname().machine == "x86_64" else _GENERIC

# A thread that waits here waits for work, not for one that holds a lock: (end of the file's name, pattern of the line)
_PARKED_ON = re.compile(r"\b(waiter|_tstate_lock|lock)\.acquire\(|\.join\(|\.wait\(|work_queue\.get\(")
_PARKED_IN = re.compile(r"(^|/)(threading|concurrent/futures/thread)\.py$")
_PARKED_FOR = re.compile(r"wait|join|_worker|_shutdown")
_QUEUE_GET = re.compile(r"\.get\((\)|block\b|timeout\b|True\b)")  # a dict's takes a key
_INVOLUNTARY = re.compile(rb"nonvoluntary_ctxt_switches:\s*(\d+)")
_READINESS = re.compile(r"\b(select|poll|accept)\(")

Frame = tuple[str, int, str]


def is_parked_on_a_lock(frame: Frame) -> bool:
    """Whether a thread whose innermost frame this is, and that waits on a futex, waits for work."""
    file, line, function = frame
    text = linecache.getline(file, line)
    if _PARKED_IN.search(file):
        return bool(_PARKED_FOR.search(function) and _PARKED_ON.search(text))
    return bool(_QUEUE_GET.search(text))


class Thread:
    """One thread of the process, by its files in /proc, which stay open."""

    def __init__(self, pid: int, tid: int, *, may_spin: bool) -> None:
        place = f"/proc/{pid}/task/{tid}/"
        self._call = os.open(place + "syscall", os.O_RDONLY)
        self._schedule = os.open(place + "schedstat", os.O_RDONLY)
        self._status = os.open(place + "status", os.O_RDONLY) if may_spin else None
        self._ran_ns = self._waited_ns = self._ran_at_switches_ns = self._switches = 0
        self._ready_share = 0.0
        self.turns = 0
        self.look()

    def close(self) -> None:
        os.close(self._call)
        os.close(self._schedule)
        if self._status is not None:
            os.close(self._status)

    def look(self) -> tuple[str, int]:
        """(kind, futex): kind is run, ready, spin, futex, one of CALLS, or io. Source: proc(5), sched-stats.rst."""
        words = os.pread(self._call, 256, 0).split()
        ran_ns, waited_ns, self.turns = map(int, os.pread(self._schedule, 64, 0).split())
        ran, waited = ran_ns - self._ran_ns, waited_ns - self._waited_ns
        if ran + waited:
            self._ready_share = waited / (ran + waited)
        self._ran_ns, self._waited_ns = ran_ns, waited_ns
        if words[0] == b"running":  # on a core or ready for one: what it got since the last sample tells
            if self._spins(ran_ns):
                return "spin", 0
            return ("ready" if random.random() < self._ready_share else "run"), 0
        number = int(words[0])
        if number in CALLS["futex"]:
            return "futex", int(words[1], 16)
        if number in CALLS["read"] and words[1] == b"0x0":
            return "parked", 0  # its standard input
        return next((kind for kind in ("parked", "accept", "poll") if number in CALLS[kind]), "io"), 0

    def _spins(self, ran_ns: int) -> bool:
        """Whether it gave its core away again and again, as _PyMutex_LockTimed does (sched_yield) before it sleeps."""
        if self._status is None:
            return False
        switches = int(_INVOLUNTARY.search(os.pread(self._status, 4096, 0))[1])  # type: ignore[index]
        new, ran = switches - self._switches, ran_ns - self._ran_at_switches_ns
        self._switches, self._ran_at_switches_ns = switches, ran_ns
        return new >= FEWEST_YIELDS and ran < new * LONGEST_TURN_NS

    def has_run(self) -> bool:
        """Whether it has run since look()."""
        return int(os.pread(self._schedule, 64, 0).split()[2]) != self.turns


class Remote:
    """Stacks of another process, read from outside: 3.14 and later."""

    name = "_remote_debugging"

    def __init__(self, told: dict[str, Any]) -> None:
        from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]

        self._unwinder = RemoteUnwinder(told["pid"], all_threads=True)

    def stacks(self, tids: list[int]) -> dict[int, tuple[Frame, ...]]:
        """Of each thread, the innermost frame first; of none where the memory changed while it was read."""
        trace = next((trace for _ in range(MOST_READS) if (trace := self._trace())), [])
        threads = [thread for item in trace for thread in getattr(item, "threads", [item])]  # 3.15 has interpreters
        return {thread.thread_id: tuple(map(_frame, thread.frame_info[:MOST_FRAMES])) for thread in threads}

    def _trace(self) -> list[Any]:
        try:
            trace: list[Any] = self._unwinder.get_stack_trace()
        except (RuntimeError, UnicodeDecodeError, MemoryError):
            return []
        except (PermissionError, ProcessLookupError):
            raise
        except OSError:  # what was a pointer is none any more
            return []
        return trace


def _frame(info: Any) -> Frame:
    location = getattr(info, "location", info)  # 3.15
    return info.filename, getattr(location, "lineno", 0) or 0, info.funcname


class Asked:
    """Stacks that a thread of the process tells: stacks.py."""

    name = "sys._current_frames"

    def __init__(self, told: dict[str, Any]) -> None:
        self._ask, self._answer = told["ask"], told["answer"]
        self._known: dict[int, tuple[Frame, ...]] = {}
        self._rest, self._is_asked = b"", False
        self._waiting = select.poll()
        self._waiting.register(self._answer, select.POLLIN)

    def stacks(self, tids: list[int]) -> dict[int, tuple[Frame, ...]]:
        """Of each thread, the innermost frame first."""
        if self._is_asked and self._heard() is None:
            return {}  # it still owes the answer to an earlier question
        os.write(self._ask, json.dumps(tids).encode())
        self._is_asked = True
        at = self._heard() or {}
        return {int(tid): self._known[number] for tid, number in at.items()}

    def _heard(self) -> dict[str, int] | None:
        """Its answer, if it comes in time: a call that keeps the GIL keeps it from answering."""
        while b"\n" not in self._rest:
            if not self._waiting.poll(ANSWER_DEADLINE_MS):
                return None
            self._rest += os.read(self._answer, 1 << 20) or _ended()
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        self._known |= {number: tuple(map(tuple, frames)) for number, frames in answer["new"]}
        self._is_asked = False
        at: dict[str, int] = answer["at"]
        return at


def _ended() -> NoReturn:
    raise ProcessLookupError("the process has ended")


def _new_file(path: str) -> IO[str]:
    """A file of its own for each program of a process that replaces its program (exec)."""
    for number in range(MOST_PROGRAMS):
        with suppress(FileExistsError):
            return open(f"{path}.{number}", "x", encoding="utf-8")
    raise ProcessLookupError("it has been replaced too often")


class Output:
    """The file: frames and stacks by number, and for each slice how often which stack was in which state."""

    def __init__(self, path: str, head: dict[str, Any]) -> None:
        self._file = _new_file(path)
        self._frames: dict[Frame, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._lines: list[Any] = [head]
        self._written = 0
        self.counts: Counter[tuple[str, int]] = Counter()
        self.missed = self.unread = 0

    def add(self, state: str, stack: tuple[Frame, ...]) -> None:
        """One sample of one thread."""
        numbers = tuple(self._numbered(self._frames, frame, "frame", frame) for frame in stack)
        if len(self._stacks) >= MOST_STACKS and numbers not in self._stacks:
            numbers = numbers[:1]
        self.counts[state, self._numbered(self._stacks, numbers, "stack", numbers)] += 1

    def _numbered(self, numbers: dict[Any, int], key: Any, kind: str, value: Any) -> int:
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers)
            self._lines.append({kind: value})
        return number

    def end_slice(self, start_ns: int) -> None:
        """Write what was counted since *start_ns*."""
        counts = [[state, stack, count] for (state, stack), count in self.counts.items()]
        used_ns = time.process_time_ns()
        self._lines.append(
            {"at": start_ns, "counts": counts, "missed": self.missed, "unread": self.unread, "cpu_ns": used_ns}
        )
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self._lines)
        if self._written + len(text) <= MOST_BYTES:
            self._file.write(text)
            self._file.flush()
            self._written += len(text)
        self.counts.clear()
        self._lines.clear()
        self.missed = self.unread = 0


class Sampler:
    """Samples at *rate_hz*, each at a random moment of its period, so that nothing keeps in step with it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._pid, self._rate_hz = told["pid"], told.get("rate_hz", 100)
        self._threads: dict[int, Thread] = {}
        self._may_spin = not told["has_gil"]
        self._parked: dict[Frame, bool] = {}
        self._gil = self._learnt(told["ready"]) if told["has_gil"] else set()
        self._reader: Remote | Asked = (Remote if told["is_remote"] else Asked)(told)
        head = {"reader": self._reader.name, "rate_hz": self._rate_hz, "python": told["python"]}
        self._output = Output(os.path.join(told["folder"], f"stacks-{self._pid}"), head)

    def run(self) -> None:
        """Until the process ends."""
        process = os.pidfd_open(self._pid)
        period_ns, began_ns = 10**9 // self._rate_hz, time.monotonic_ns()
        slice_ns, number = began_ns, 0
        while not select.select([process], [], [], 0)[0]:
            due_ns = began_ns + int((number + random.random()) * period_ns)
            time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
            now_ns = time.monotonic_ns()
            if now_ns - slice_ns >= SLICE_NS:
                self._output.end_slice(slice_ns)
                slice_ns = now_ns
            self._sample()
            next_number = max(number + 1, (time.monotonic_ns() - began_ns) // period_ns)
            self._output.missed += next_number - number - 1
            number = next_number
        self._output.end_slice(slice_ns)

    def _sample(self) -> None:
        self._follow()
        states = {tid: state for tid in self._threads if (state := self._look(tid))}
        stacks = self._reader.stacks(list(states))
        self._output.unread += not stacks
        for tid, (kind, futex) in states.items():
            if stacks.get(tid):
                self._output.add(*self._judged(kind, futex, stacks[tid], self._has_moved(tid, kind, futex)))

    def _follow(self) -> None:
        """Threads come and go."""
        tids = {int(name) for name in os.listdir(f"/proc/{self._pid}/task")}
        for tid in self._threads.keys() - tids:
            self._threads.pop(tid).close()
        for tid in sorted(tids - self._threads.keys())[: MOST_THREADS - len(self._threads)]:
            try:
                self._threads[tid] = Thread(self._pid, tid, may_spin=self._may_spin)
            except (FileNotFoundError, ProcessLookupError):
                continue

    def _look(self, tid: int) -> tuple[str, int] | None:
        try:
            return self._threads[tid].look()
        except (ProcessLookupError, ValueError, IndexError):
            return None  # it ends

    def _has_moved(self, tid: int, kind: str, futex: int) -> bool:
        """Whether what it waits for now need not be what it waited for. Who waits for the GIL wakes to ask for it."""
        if kind in ("run", "ready", "spin"):
            return False
        if self._is_gil(futex):
            return not self._is_gil((self._look(tid) or ("", 0))[1])
        try:
            return self._threads[tid].has_run()
        except (ProcessLookupError, ValueError, IndexError):
            return True

    def _judged(
        self, kind: str, futex: int, stack: tuple[Frame, ...], has_moved: bool
    ) -> tuple[str, tuple[Frame, ...]]:
        """The state, and the stack if it is the one of that state."""
        state = self._state(kind, futex, stack[0])
        return state, ((MOVED,) if has_moved and state not in ("run", "ready", "idle") else stack)

    def _state(self, kind: str, futex: int, innermost: Frame) -> str:
        if kind in ("run", "ready", "io"):
            return kind
        if kind in ("parked", "accept"):
            return "idle"
        if kind == "poll":
            return "idle" if _READINESS.search(linecache.getline(innermost[0], innermost[1])) else "io"
        if self._is_gil(futex):
            return "gil"
        if innermost not in self._parked:
            self._parked[innermost] = is_parked_on_a_lock(innermost)
        return "idle" if self._parked[innermost] else "lock"

    def _is_gil(self, futex: int) -> bool:
        return any(abs(futex - known) <= GIL_BYTES for known in self._gil) if futex else False

    def _learnt(self, ready: int) -> set[int]:
        """The futexes on which threads of the process wait while they contend for the GIL and for nothing else."""
        seen: Counter[int] = Counter()
        until_ns = time.monotonic_ns() + LEARN_NS
        while time.monotonic_ns() < until_ns and (not seen or max(seen.values()) < ENOUGH_SEEN):
            self._follow()
            seen.update(state[1] for tid in self._threads if (state := self._look(tid)) and state[1])
            time.sleep(0.0005)
        os.write(ready, b"learnt")
        return {futex for futex, _ in seen.most_common(1)}


def main() -> None:
    """Sample the process of which stacks.py told; failures are where its own would be."""
    told = json.loads(sys.argv[1])
    kept = sorted({told["ready"], told["ask"], told["answer"]})
    for low, high in zip([2, *kept], [*kept, 1 << 16], strict=True):
        os.closerange(low + 1, high)
    try:
        os.write(told["ready"], str(os.getpid()).encode())
        sampler = Sampler(told)
        os.close(told["ready"])
        sampler.run()
    except (ProcessLookupError, FileNotFoundError, BrokenPipeError):
        return  # the process has ended
    except Exception:
        with open(os.path.join(told["folder"], f"failed-{told['pid']}"), "a", encoding="utf-8") as failed:
            failed.write(traceback.format_exc())


if __name__ == "__main__":
    main()
