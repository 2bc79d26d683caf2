"""Notes each garbage collection of this process in a file that outlives it: when it began, and how long it took.

A file is SIZE_BYTES of unsigned 64-bit numbers in this machine's order: MAGIC, then for each generation how many
collections there were, how long they took together (ns), and how much of that 3.15 and later report themselves; then
for each generation a ring of its RECORDS newest, each a start and a length on the monotonic clock in ns. A length is
from callback to callback: without a GIL, waiting until every thread has stopped is in it, and so are finalizers.
"""

import gc
import mmap
import os
import sys
from time import perf_counter_ns
from typing import Any

MAGIC = 0x31_53_45_53_55_41_50  # PAUSES1
GENERATIONS = 3
RECORDS = 4096
COUNTERS = 3
HEADER_BYTES = 8 * (1 + GENERATIONS * COUNTERS)
SIZE_BYTES = HEADER_BYTES + GENERATIONS * RECORDS * 16
MOST_FILES = 100  # of one process id: one for each program that it executes, and each subinterpreter


class Pauses:
    """A callback of gc.callbacks. The file is made with the first collection, or by open()."""

    __slots__ = ("_began_ns", "_folder", "_numbers")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._numbers: memoryview | None = None
        self._began_ns = 0

    def open(self) -> memoryview:
        """Make the file. Raises OSError."""
        self._numbers = numbers = _mapped(self._folder)
        numbers[0] = MAGIC
        return numbers

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """As gc calls it, at the start and at the stop of a collection; one at a time."""
        if phase == "start":
            self._began_ns = perf_counter_ns()
            return
        spent_ns = perf_counter_ns() - self._began_ns
        try:
            numbers = self._numbers or self.open()
        except OSError:  # the cell is over, or this process may not write there any more
            gc.callbacks.remove(self)
            return
        generation = info["generation"]
        count = 1 + COUNTERS * generation
        place = HEADER_BYTES // 8 + 2 * (generation * RECORDS + numbers[count] % RECORDS)
        numbers[place] = self._began_ns
        numbers[place + 1] = spent_ns
        numbers[count + 1] += spent_ns
        if "duration" in info:
            numbers[count + 2] += int(info["duration"] * 1e9)
        numbers[count] += 1


def _mapped(folder: str) -> memoryview:
    """Return the numbers of a new file."""
    for number in range(MOST_FILES):
        try:
            with open(os.path.join(folder, f"pauses-{os.getpid()}.{number}"), "x+b") as file:
                file.truncate(SIZE_BYTES)
                untracked = {"trackfd": False} if sys.version_info >= (3, 13) else {}
                return memoryview(mmap.mmap(file.fileno(), SIZE_BYTES, **untracked)).cast("Q")
        except FileExistsError:
            continue
    raise OSError(f"process {os.getpid()} has {MOST_FILES} files already")


_running: Pauses | None = None


def start(folder: str, options: dict[str, Any]) -> None:
    """Note collections from now on. A forked child begins a file of its own, if it ever collects."""
    global _running
    inherited, _running = _running, Pauses(folder)
    if inherited is None:
        _running.open()
    elif inherited in gc.callbacks:
        gc.callbacks.remove(inherited)
    gc.callbacks.append(_running)
