"""Record the start and length of each garbage collection of this process in a memory-mapped file.

The file has SIZE_BYTES of unsigned 64-bit numbers in native byte order. After MAGIC come, for each
generation, the number of collections and their total length (ns). Then comes, for each generation,
a ring buffer of its newest RECORDS collections: start and length on the monotonic clock in ns. A
length is the time between gc's two callbacks. It includes finalizers and, without a GIL, the wait
until all threads have stopped.

lab/run/slow.py reads the file, also while the service runs, and knows its layout. gc calls
Pauses within a collection: it allocates as little as possible, and must not raise.
"""

import gc
import mmap
import os
import sys
from time import perf_counter_ns
from typing import Any

MAGIC = 0x31_53_45_53_55_41_50  # PAUSES1
GENERATIONS = 3
RECORDS = 4096  # newest collections of each generation
COUNTERS = 2  # numbers for each generation: collections, and their total length in ns
HEADER_BYTES = 8 * (1 + GENERATIONS * COUNTERS)
SIZE_BYTES = HEADER_BYTES + GENERATIONS * RECORDS * 16
# for one process id: one file for each program that it executes and each subinterpreter
MOST_FILES = 100


class Pauses:
    """A callback for gc.callbacks that records collections. The first collection, or open(),
    creates the file.
    """

    __slots__ = ("_began_ns", "_folder", "_numbers")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._numbers: memoryview | None = None
        self._began_ns = 0

    def open(self) -> memoryview:
        """Create the memory-mapped file for the recorded collections. Raises OSError."""
        self._numbers = numbers = _mapped(self._folder)
        numbers[0] = MAGIC
        return numbers

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """Record a garbage collection. gc calls this at its start and end, and collections never
        overlap.
        """
        if phase == "start":
            self._began_ns = perf_counter_ns()
            return
        spent_ns = perf_counter_ns() - self._began_ns
        try:
            numbers = self._numbers or self.open()
        except OSError:  # the cell has ended, or this process has lost the permission to write
            gc.callbacks.remove(self)
            return
        generation = info["generation"]
        count = 1 + COUNTERS * generation
        place = HEADER_BYTES // 8 + 2 * (generation * RECORDS + numbers[count] % RECORDS)
        numbers[place] = self._began_ns
        numbers[place + 1] = spent_ns
        numbers[count + 1] += spent_ns
        # last, because the reader expects so many records
        numbers[count] += 1


def _mapped(folder: str) -> memoryview:
    """Create a file and return it as a memory-mapped array of numbers. Raises OSError."""
    for number in range(MOST_FILES):
        try:
            with open(os.path.join(folder, f"pauses-{os.getpid()}.{number}"), "x+b") as file:
                file.truncate(SIZE_BYTES)
                # without trackfd, the mapping would keep a file descriptor of the service open
                untracked = {"trackfd": False} if sys.version_info >= (3, 13) else {}
                return memoryview(mmap.mmap(file.fileno(), SIZE_BYTES, **untracked)).cast("Q")
        except FileExistsError:
            continue
    raise OSError(f"process {os.getpid()} has {MOST_FILES} files already")


_running: Pauses | None = None


def start(folder: str, options: object) -> None:
    """Start recording garbage collections. A forked child creates its own file at its first
    collection.
    """
    global _running
    inherited, _running = _running, Pauses(folder)
    if inherited is None:
        _running.open()
    elif inherited in gc.callbacks:
        gc.callbacks.remove(inherited)
    gc.callbacks.append(_running)
