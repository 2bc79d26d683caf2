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
from struct import pack_into
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

    __slots__ = ("_began_ns", "_counters", "_file", "_folder")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file: mmap.mmap | None = None
        self._began_ns = 0
        self._counters = [[0] * COUNTERS for _ in range(GENERATIONS)]

    def open(self) -> mmap.mmap:
        """Make the file. Raises OSError."""
        self._file = file = _mapped(self._folder)
        pack_into("=Q", file, 0, MAGIC)
        return file

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        """As gc calls it, at the start and at the stop of a collection; one at a time."""
        if phase == "start":
            self._began_ns = perf_counter_ns()
            return
        spent_ns = perf_counter_ns() - self._began_ns
        try:
            file = self._file or self.open()
        except OSError:  # the cell is over, or this process may not write there any more
            gc.callbacks.remove(self)
            return
        generation = info["generation"]
        counters = self._counters[generation]
        count, total_ns, reported_ns = counters
        place = HEADER_BYTES + 16 * (generation * RECORDS + count % RECORDS)
        pack_into("=QQ", file, place, self._began_ns, spent_ns)
        if "duration" in info:
            reported_ns += int(info["duration"] * 1e9)
        counters[:] = count + 1, total_ns + spent_ns, reported_ns
        pack_into("=QQQ", file, 8 + 8 * COUNTERS * generation, *counters)


def _mapped(folder: str) -> mmap.mmap:
    descriptor = _new_file(folder)
    try:
        os.ftruncate(descriptor, SIZE_BYTES)
        if sys.version_info >= (3, 13):
            return mmap.mmap(descriptor, SIZE_BYTES, trackfd=False)
        return mmap.mmap(descriptor, SIZE_BYTES)
    finally:
        os.close(descriptor)


def _new_file(folder: str) -> int:
    for number in range(MOST_FILES):
        try:
            return os.open(
                os.path.join(folder, f"pauses-{os.getpid()}.{number}"), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600
            )
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
