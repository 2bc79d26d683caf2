"""`--profile memory`: divide the memory of a service into files, stacks, C heap and Python objects.

The kind of a memory mapping follows from its neighbours and its name, in the same way for every build of CPython. Sizes
are proportional set sizes: a page that n processes share counts 1/n for each. Allocators' own statistics are added.
Source: proc_pid_smaps(5), pthread_create(3) for guard pages of stacks, and glibc's malloc/arena.c (HEAP_MAX_SIZE) for
malloc's arenas.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

from core.inside.memory import ASK, END
from core.processtree import tree
from lab.gil.memory import Region, parse_mappings
from lab.machine.host import HERE, number, total

# before any client connects, before and after the load, IDLE_S later
MOMENTS = ("listening", "before", "after", "idle")
IDLE_S = 2.0
ANSWER_S = 0.3  # time for a main thread to write its allocator's statistics; statistics that come later are ignored
KINDS = ("files", "stacks", "c_heap", "objects")
LARGEST_GUARD = 64 << 10
LARGEST_STACK = 64 << 20
GLIBC_ARENA = 64 << 20
_IN_USE = re.compile(r"# bytes in allocated blocks +=\s+([0-9,]{1,25})\n")
_ARENAS = re.compile(r"[0-9]+ arenas \* [0-9]+ bytes/arena +=\s+([0-9,]{1,25})\n")


_NOWHERE = Region(0, 0, "", 0, "", 0)  # before the first mapping, and after the last


def sizes_by_kind(smaps: Iterable[str]) -> dict[str, int]:
    """Return the bytes of processes' memory by kind, such as stacks or Python objects.

    files: programs and libraries; stacks: of threads; c_heap: malloc's arenas
    objects: all other memory without a file, which is mostly Python's: arenas of pymalloc or pages of mimalloc.
    Blocks that are too large for malloc's arenas count as objects, too.
    """
    sizes = dict.fromkeys(KINDS, 0)
    for text in smaps:
        mappings = parse_mappings(text)
        for before, mapping, after in zip([_NOWHERE, *mappings], mappings, [*mappings[1:], _NOWHERE], strict=False):
            sizes[_kind(mapping, before, after)] += mapping.pss_bytes
    return sizes


def parse_heap(statistics: str) -> dict[str, int]:
    """Parse pymalloc's statistics: the bytes in use and the free bytes in its arenas; {} if there are no statistics."""
    in_use, arenas = _IN_USE.search(statistics), _ARENAS.search(statistics)
    if not in_use or not arenas:
        return {}
    used, reserved = (int(match[1].replace(",", "")) for match in (in_use, arenas))
    return {"in_use": used, "free": reserved - used} if used <= reserved else {}


def sum_heaps(contents: Iterable[str]) -> list[dict[str, int]]:
    """Return the used and free bytes of pymalloc at each of MOMENTS, summed over all processes.

    contents: what each process wrote
    The list is empty if a process did not answer each time, or if its allocator has no statistics.
    """
    answers = [[parse_heap(part) for part in content.split(END)[:-1]] for content in contents]
    if not answers or any(len(of_one) != len(MOMENTS) or not all(of_one) for of_one in answers):
        return []
    return [dict(sum(map(Counter, of_all), Counter[str]())) for of_all in zip(*answers, strict=True)]


class MemoryWatcher:
    """A profiler that measures the memory of a process and its descendants at each of MOMENTS, such as after the load.

    skipped: how many of the first processes belong to gilscope rather than to the service
    facts: sizes in bytes, and numbers of processes, threads and sockets, by moment
    """

    def __init__(self, skipped: int) -> None:
        self._skipped = skipped
        self.facts: dict[str, dict[str, int]] = {}

    def listening(self, pid: int) -> None:
        """Measure the service's memory before any client connects."""
        self._measure("listening", pid)

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Measure the service's memory before the `with` block, after the block, and IDLE_S later."""
        self._measure("before", pid)
        yield
        self._measure("after", pid)
        sleep(IDLE_S)
        self._measure("idle", pid)

    def _measure(self, moment: str, pid: int) -> None:
        pids = tree(pid)[self._skipped :]
        sizes = sizes_by_kind(HERE.text(f"proc/{process}/smaps") or "" for process in pids)
        status = {process: HERE.table(f"proc/{process}/status") for process in pids}
        threads = total(number(of_one.get("Threads")) for of_one in status.values()) or 0
        self.facts[moment] = {**sizes, "processes": len(pids), "threads": threads, "sockets": _count_sockets(pids)}
        for process, of_one in status.items():
            if int(of_one.get("SigCgt", "0"), 16) >> (ASK - 1) & 1:  # the signal would kill a process without a handler
                with suppress(OSError):
                    os.kill(process, ASK)
        sleep(ANSWER_S)


def merge_moments(
    moments: Mapping[str, Mapping[str, int]], started: Sequence[str], answers: Iterable[str]
) -> dict[str, dict[str, int]]:
    """Merge memory sizes and allocator statistics by moment, for result.json.

    started: the mappings of each interpreter before it ran the service's code, which become the moment `start`
    answers: the statistics that each process wrote
    """
    known = {moment: dict(sizes) for moment, sizes in moments.items()}
    for moment, heap in zip(MOMENTS, sum_heaps(answers), strict=False):
        known[moment] |= heap
    return {**({"start": sizes_by_kind(started)} if started else {}), **known}


def _kind(mapping: Region, before: Region, after: Region) -> str:
    if mapping.name == "[heap]":
        return "c_heap"
    if mapping.name.startswith("[stack"):
        return "stacks"
    if mapping.inode or mapping.name.startswith("["):
        return "files"
    if _is_guard(before, LARGEST_GUARD) and before.end == mapping.start:
        return "stacks" if mapping.end - mapping.start <= LARGEST_STACK else "objects"
    fills_arena = after.start == mapping.end and after.end == mapping.start + GLIBC_ARENA
    is_arena = fills_arena and not mapping.start % GLIBC_ARENA and _is_guard(after, GLIBC_ARENA)
    return "c_heap" if is_arena else "objects"


def _is_guard(mapping: Region, most_bytes: int) -> bool:
    return mapping.mode == "---p" and not mapping.inode and mapping.end - mapping.start <= most_bytes


def _count_sockets(pids: Iterable[int]) -> int:
    """Return the number of open sockets of these processes. A socket that n processes share counts n times."""
    count = 0
    for descriptor in (file for pid in pids for file in Path(f"/proc/{pid}/fd").glob("*")):
        with suppress(OSError):
            count += os.readlink(descriptor).startswith("socket:")
    return count
