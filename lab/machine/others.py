"""How much CPU time other processes used between two moments, and which used most: Linux, from /proc.

Only names of processes are read, no command lines, because these may hold secrets.
Source: proc_pid_stat(5), pid_namespaces(7); the first PID namespace has the inode 0xEFFFFFFC (proc_ns.h).
"""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from lab.machine.kernelfiles import Reader

MOST_NAMED = 3
LONGEST_NAME = 15  # the kernel cuts off the rest
_FIRST_NAMESPACE = "pid:[4026531836]"


class ProcessTimes(NamedTuple):
    """One process. ticks: its CPU time; waited_ticks: that of its children that have ended; cpu: where it ran last."""

    name: str
    parent: int
    ticks: int
    waited_ticks: int
    cpu: int


Processes = Mapping[tuple[int, int], ProcessTimes]  # by number and start, since numbers are used again


def processes(reader: Reader) -> Processes:
    """Return every process that can be seen now."""
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
    """Return whether processes() shows whatever may run on *cpus*: no namespace hides any, and no other CPU has any."""
    try:
        namespace = os.readlink(reader.root / "proc/self/ns/pid")
    except OSError:
        return False
    return namespace == _FIRST_NAMESPACE and reader.exists("proc/1/stat") and len(cpus) == cores


def own_ticks(before: Processes, after: Processes, roots: Iterable[int]) -> tuple[int, set[tuple[int, int]]]:
    """Return the CPU time of the trees of *roots* between two moments, and their processes at either of them."""
    own = {process for moment in (before, after) for process in _trees(moment, roots)}
    return _sum(after, own) - _sum(before, own), own


def usage(
    before: Processes,
    after: Processes,
    own: Collection[tuple[int, int]],
    cpus: Collection[int],
    neighbours: Iterable[str],
) -> tuple[int, dict[str, int], dict[str, int]]:
    """Return the CPU time that all but *own* processes used, in ticks; of the busiest by name; and of *neighbours*.

    The first counts processes that have ended, too, if their parent has waited for them. It counts no neighbours.
    """
    near = {name: name[:LONGEST_NAME] for name in neighbours}
    by_name: dict[str, int] = {}
    for which, process in after.items():
        if which not in own and process.cpu in cpus:
            used = process.ticks - (before[which].ticks if which in before else 0)
            by_name[process.name] = by_name.get(process.name, 0) + used
    beside = {name: by_name.pop(short, 0) for name, short in near.items()}
    busiest = sorted((name for name in by_name if by_name[name] > 0), key=lambda name: -by_name[name])[:MOST_NAMED]
    total = _sum(after, after.keys() - own) - _sum(before, before.keys() - own) - sum(beside.values())
    return max(0, total), {name: by_name[name] for name in busiest}, beside


def _trees(moment: Processes, roots: Iterable[int]) -> list[tuple[int, int]]:
    children: dict[int, list[tuple[int, int]]] = {}
    for which, process in moment.items():
        children.setdefault(process.parent, []).append(which)
    found = [which for which in moment if which[0] in {*roots}]
    for which in found:
        found += children.get(which[0], [])
    return found


def _sum(moment: Processes, which: Iterable[tuple[int, int]]) -> int:
    return sum(moment[one].ticks + moment[one].waited_ticks for one in which if one in moment)


def _printable(name: str) -> str:
    """Return a name that a terminal may show: any process may be called anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in name) or "?"
