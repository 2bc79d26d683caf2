"""Samples the threads of a Python process from beside it: what each does, by the kernel, and on which line, by Python.

Started by stacks.py under the interpreter of that process. It takes no lock there and stops nothing. Each sample reads
the state of every thread first, then the stacks; a wait counts for a line only if the thread has not run in between.
Counts go by slices of time to `stacks-PID`, a line of JSON each, so that what was written stays if all is killed.

States: run, ready (without a core), gil, lock, io, idle (parked for work). Futexes of the GIL were learnt at the start.
"""

import json
import os
import random
import select
import time
import traceback
from collections import Counter
from contextlib import suppress
from typing import IO, Any

from core.inside.stacks_readers import Asked, Key, Remote
from core.inside.stacks_threads import Frame, Thread, is_parked_in_poll, is_parked_on_a_lock

SLICE_NS = 100_000_000
MOST_STACKS = 8192
MOST_THREADS = 500  # a question fits a pipe at once
MOST_BYTES = 16 << 20
MOST_PROGRAMS = 10
GIL_BYTES = 512  # condition, mutex and their second pair lie beside each other: struct _gil_runtime_state
LEARN_NS = 5_000_000_000
ENOUGH_SEEN = 3
UNKNOWN = ("", 0, "")  # where a wait was that was over before its stack was read


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

    def number(self, stack: tuple[Frame, ...]) -> int:
        """By which counts name *stack*."""
        frames = tuple(self._numbered(self._frames, frame, "frame", frame) for frame in stack)
        return self._numbered(self._stacks, frames, "stack", frames)

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
        self._unknown = self._output.number((UNKNOWN,))
        self._stacks: dict[Key, tuple[Frame, int]] = {}

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
            if tid in stacks:
                innermost, stack = self._known(stacks[tid])
                doing = self._state(kind, futex, innermost)
                has_moved = doing in ("gil", "lock", "io") and self._has_moved(tid, kind, futex)
                self._output.counts[doing, self._unknown if has_moved else stack] += 1

    def _known(self, key: Key) -> tuple[Frame, int]:
        """The innermost frame of a stack, and its number. Of more than MOST_STACKS nothing is known."""
        known = self._stacks.get(key)
        if known is None:
            if len(self._stacks) >= MOST_STACKS:
                return UNKNOWN, self._unknown
            frames = self._reader.frames(key)
            known = self._stacks[key] = frames[0], self._output.number(frames)
        return known

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
        if kind == "spin":
            return False
        if self._is_gil(futex):
            return not self._is_gil((self._look(tid) or ("", 0))[1])
        try:
            return self._threads[tid].has_run()
        except (ProcessLookupError, ValueError, IndexError):
            return True

    def _state(self, kind: str, futex: int, innermost: Frame) -> str:
        if kind in ("run", "ready", "io"):
            return kind
        if kind in ("parked", "accept"):
            return "idle"
        if kind == "poll":
            return "idle" if is_parked_in_poll(innermost) else "io"
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
        if not seen:  # or who waits for the GIL would be said to wait for a lock
            raise RuntimeError("no thread was seen to wait for the GIL")
        return {futex for futex, _ in seen.most_common(1)}


def main(words: str) -> None:
    """Sample the process of which stacks.py told; failures are where its own would be."""
    told = json.loads(words)
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
