"""Compute the CPU time that processes outside of the run used between two snapshots of Linux's /proc.

Only the names of processes are read. Command lines are not read because they may contain secrets.
Source: proc_pid_stat(5), pid_namespaces(7); the first PID namespace has the inode 0xEFFFFFFC (proc_ns.h).
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lab.machine.kernelfiles import Reader

MOST_NAMED = 3
LONGEST_NAME = 15  # the kernel truncates longer names
_FIRST_NAMESPACE = "pid:[4026531836]"


class ProcessTimes(NamedTuple):
    """The CPU times of one process and of its ended children, in clock ticks.

    ticks: its own CPU time; waited_ticks: the CPU time of its children that have ended; cpu: the CPU that it last used
    """

    name: str
    parent: int
    ticks: int
    waited_ticks: int
    cpu: int


Processes = Mapping[tuple[int, int], ProcessTimes]  # by pid and start time, because the kernel reuses pids


def processes(reader: Reader) -> Processes:
    """Return the CPU times of all processes that /proc shows now."""
    found = {}
    for entry in os.scandir(reader.root / "proc") if reader.exists("proc") else ():
        if entry.name.isdecimal() and (text := reader.text(f"proc/{entry.name}/stat")):
            name = text.partition("(")[2].rpartition(")")[0]
            words = text.rpartition(")")[2].split()
            user, system, waited_user, waited_system = map(int, words[11:15])
            found[int(entry.name), int(words[19])] = ProcessTimes(
                _printable(name), int(words[1]), user + system, waited_user + waited_system, int(words[36])
            )
    return found


def sees_all(reader: Reader, cpus: Collection[int], cores: int) -> bool:
    """Return whether processes() can see every process that may run on *cpus*. A PID namespace may hide processes."""
    try:
        namespace = os.readlink(reader.root / "proc/self/ns/pid")
    except OSError:
        return False
    return namespace == _FIRST_NAMESPACE and reader.exists("proc/1/stat") and len(cpus) == cores


def own_ticks(before: Processes, after: Processes, roots: Iterable[int]) -> tuple[int, set[tuple[int, int]]]:
    """Return the CPU time that the process trees of *roots* used between two snapshots, and the trees' processes."""
    own = {process for moment in (before, after) for process in _trees(moment, roots)}
    return _sum(after, own) - _sum(before, own), own


def usage(
    before: Processes,
    after: Processes,
    own: Collection[tuple[int, int]],
    cpus: Collection[int],
    neighbours: Iterable[str],
) -> tuple[int, dict[str, int], dict[str, int]]:
    """Return the CPU time of foreign processes (total, and busiest by name), and that of processes the service needs.

    own: processes of the run, which are not foreign
    neighbours: names of processes that belong to the measured service, such as its database
    All times are in clock ticks. The first time does not include neighbours. It includes processes that have ended, if
    their parents waited for them.
    """
    short_names = {name: name[:LONGEST_NAME] for name in neighbours}
    by_name = Counter[str]()
    for key, process in after.items():
        if key not in own and process.cpu in cpus:
            by_name[process.name] += process.ticks - (before[key].ticks if key in before else 0)
    neighbour_ticks = {name: by_name.pop(short, 0) for name, short in short_names.items()}
    total = _sum(after, after.keys() - own) - _sum(before, before.keys() - own) - sum(neighbour_ticks.values())
    return max(0, total), dict((+by_name).most_common(MOST_NAMED)), neighbour_ticks


def _trees(moment: Processes, roots: Iterable[int]) -> list[tuple[int, int]]:
    children: dict[int, list[tuple[int, int]]] = {}
    for key, process in moment.items():
        children.setdefault(process.parent, []).append(key)
    found = [key for key in moment if key[0] in {*roots}]
    for key in found:
        found += children.get(key[0], [])
    return found


def _sum(moment: Processes, keys: Iterable[tuple[int, int]]) -> int:
    return sum(moment[key].ticks + moment[key].waited_ticks for key in keys if key in moment)


def _printable(name: str) -> str:
    """Return a process's name for display in a terminal, with unprintable characters replaced."""
    return "".join(letter if letter.isprintable() else "?" for letter in name) or "?"
