"""Sample the threads of another Python process: their states from the kernel, and their stacks from
the interpreter.

stacks.py starts the sampler with the interpreter of the sampled process. The sampler takes no lock
in that process and never stops it. Each sample reads the state of every thread, then the stacks. A
wait is counted for a line only if the thread has not run in between. For each slice of time, the
counts are written to `stacks-PID` as a line of JSON, so that they survive if the processes are
killed.

States: run, ready (runnable without a core), gil, lock and io (waiting for these), idle (waiting
    for work). The futex of the GIL is found at the start.

lab/profile/stack_samples.py reads the lines: {"frame": ...} and {"stack": [frame numbers]} get the
numbers 0, 1, ... of their kind; {"at": ...} has the counts of a slice as [state, stack, count].
"""

import json
import os
import random
import select
import time
import traceback
from collections import Counter
from contextlib import suppress
from functools import cache
from typing import IO, Any

from core.inside import SLICE_NS, STACKS_HZ
from core.inside.stacks_threads import (
    Frame,
    Key,
    StackReader,
    Thread,
    is_parked_in_poll,
    is_parked_on_a_lock,
)

MOST_STACKS = 8192  # different stacks; those that follow count as UNKNOWN
MOST_THREADS = 500  # that are sampled
MOST_BYTES = 16 << 20  # of the output, after which no counts are written
MOST_PROGRAMS = 10  # that one process executes in turn (exec)
GIL_BYTES = 512  # the GIL's two conditions and mutexes are adjacent: struct _gil_runtime_state
LEARN_NS = 5_000_000_000  # longest time in which the futex of the GIL is looked for
ENOUGH_SEEN = 3  # waits on one futex, after which it is the futex of the GIL
UNKNOWN = ("", 0, "")  # the frame of a wait that ended before its stack was read


class SampleFile:
    """The output file: numbered frames and stacks, and for each slice of time the count of each
    (state, stack).
    """

    def __init__(self, path: str) -> None:
        self._file = _new_file(path)
        self._numbers: dict[str, dict[Any, int]] = {"frame": {}, "stack": {}}
        self.counts: Counter[tuple[str, int]] = Counter()
        self.missed = 0

    def number(self, stack: tuple[Frame, ...]) -> int:
        """Return the number that identifies *stack* in the output file. A new stack is written to
        the file.
        """
        return self._number("stack", tuple(self._number("frame", frame) for frame in stack))

    def _number(self, kind: str, value: Any) -> int:
        numbers = self._numbers[kind]
        if value not in numbers:
            numbers[value] = len(numbers)
            self._write({kind: value})
        return numbers[value]

    def end_slice(self, start_ns: int) -> None:
        """Write the counts of the slice that began at *start_ns*, and reset them."""
        counts = [[state, stack, count] for (state, stack), count in self.counts.items()]
        used_ns = time.process_time_ns()
        if self._file.tell() < MOST_BYTES:
            self._write(
                {"at": start_ns, "counts": counts, "missed": self.missed, "cpu_ns": used_ns}
            )
        self._file.flush()
        self.counts.clear()
        self.missed = 0

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _new_file(path: str) -> IO[str]:
    """Create a file for the samples of a process. After an exec, the new program of the process
    gets its own file.
    """
    for number in range(MOST_PROGRAMS):
        with suppress(FileExistsError):
            return open(f"{path}.{number}", "x", encoding="utf-8")
    raise ProcessLookupError("the process has replaced its program too often")


class Sampler:
    """A sampler that takes STACKS_HZ samples per second, each at a random moment of its period to
    avoid aliasing.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._pid, self._has_gil = config["pid"], config["has_gil"]
        self._threads: dict[int, Thread] = {}
        self._is_parked = cache(is_parked_on_a_lock)
        self._gil = self._find_gil_futex(config["channel"]) if self._has_gil else 0
        self._reader = StackReader(self._pid)
        self._output = SampleFile(os.path.join(config["folder"], f"stacks-{self._pid}"))
        self._unknown = UNKNOWN, self._output.number((UNKNOWN,))
        self._stacks: dict[Key, tuple[Frame, int]] = {}

    def run(self) -> None:
        """Sample until the process ends."""
        process = os.pidfd_open(self._pid)
        period_ns, began_ns = 10**9 // STACKS_HZ, time.monotonic_ns()
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
        states = self._states()
        stacks = self._reader.stacks()
        self._output.missed += not stacks
        for tid, (kind, futex) in states.items():
            if tid in stacks:
                innermost, stack = self._known(stacks[tid])
                doing = self._state(kind, futex, innermost)
                if (
                    kind == "spin" and len(stacks) == 1
                ):  # the only thread cannot wait for a lock of another
                    doing = "run"
                if doing in ("gil", "lock", "io") and self._has_moved(
                    self._threads[tid], kind, futex
                ):
                    _, stack = self._unknown
                self._output.counts[doing, stack] += 1

    def _known(self, key: Key) -> tuple[Frame, int]:
        """Return the innermost frame of a stack, and the number that identifies the stack in the
        output file.

        After MOST_STACKS different stacks, each new stack counts as unknown.
        """
        if key not in self._stacks:
            if len(self._stacks) >= MOST_STACKS:
                return self._unknown
            frames = self._reader.frames(key)
            self._stacks[key] = frames[0], self._output.number(frames)
        return self._stacks[key]

    def _states(self) -> dict[int, tuple[str, int]]:
        """Return each thread's kind of state and its futex, after adding new threads and removing
        ended threads.
        """
        tids = {int(name) for name in os.listdir(f"/proc/{self._pid}/task")}
        for tid in self._threads.keys() - tids:
            self._threads.pop(tid).close()
        for tid in sorted(tids - self._threads.keys())[: MOST_THREADS - len(self._threads)]:
            with suppress(FileNotFoundError, ProcessLookupError):
                self._threads[tid] = Thread(self._pid, tid, may_spin=not self._has_gil)
        return {
            tid: state for tid, thread in self._threads.items() if (state := thread.read_state())
        }

    def _has_moved(self, thread: Thread, kind: str, futex: int) -> bool:
        """Return whether *thread* may have started another wait since its state was read.

        A thread that waits for the GIL is an exception, because it wakes up regularly to request
        the GIL.
        """
        if self._is_gil(futex):
            return not self._is_gil((thread.read_state() or ("", 0))[1])
        return kind != "spin" and thread.has_run()

    def _state(self, kind: str, futex: int, innermost: Frame) -> str:
        if kind == "poll":
            return "idle" if is_parked_in_poll(innermost) else "io"
        if kind not in ("futex", "spin"):
            return kind
        if self._is_gil(futex):
            return "gil"
        return "idle" if self._is_parked(innermost) else "lock"

    def _is_gil(self, futex: int) -> bool:
        return bool(futex) and abs(futex - self._gil) <= GIL_BYTES

    def _find_gil_futex(self, channel: int) -> int:
        """Return the address of the GIL's futex, on which threads wait while stacks.py makes them
        contend.
        """
        seen: Counter[int] = Counter()
        until_ns = time.monotonic_ns() + LEARN_NS
        while time.monotonic_ns() < until_ns and (not seen or max(seen.values()) < ENOUGH_SEEN):
            seen.update(futex for _, futex in self._states().values() if futex)
            time.sleep(0.0005)
        os.write(channel, b".")
        if not seen:  # otherwise waits for the GIL would be counted as waits for a lock
            raise RuntimeError("no thread was seen waiting for the GIL, so its futex is not known")
        return seen.most_common(1)[0][0]


def main(words: str) -> None:
    """Sample the process that the JSON text *words* describes. Append a failure's traceback to
    `failed-PID`.
    """
    config = json.loads(words)
    channel = config["channel"]
    # files that the sampler inherited from the service must not stay open
    os.closerange(3, channel)
    os.closerange(channel + 1, 1 << 16)
    try:
        os.write(channel, str(os.getpid()).encode())
        Sampler(config).run()
    except (ProcessLookupError, FileNotFoundError, BrokenPipeError):
        return  # the process has ended
    except Exception:
        with open(
            os.path.join(config["folder"], f"failed-{config['pid']}"), "a", encoding="utf-8"
        ) as failed:
            failed.write(traceback.format_exc())
