"""Read how quiet this machine is: its settings, and the load of other processes during a
measurement.

lab/machine/machine_rules.py judges these facts, JSON with the keys of Quiet and Window in
record/result_parts.py. facts() is for doctor and the beginning of a run, observed() for the timed
window of each cell. On other hosts the worker (lab/hosts) calls them, so this module needs the
standard library and gilscope alone.
The facts come from Linux's /proc and /sys. A fact is None if its file is missing, as on macOS or in
many containers. Shares are 0..1. Only the names of processes are read. Command lines are not read
because they may contain secrets.
Source: proc_pid_stat(5), pid_namespaces(7); the first PID namespace has the inode 0xEFFFFFFC
    (proc_ns.h).
"""

import os
import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lab.machine.host import (
    at,
    cores_quota,
    governors,
    number,
    number_of,
    quota_stalled_ns,
    table_of,
    text_of,
    texts_of,
    total,
    usable_cpus,
)

# how long facts() observes the machine
WINDOW_S = 0.5
# counters whose growth between() returns
COUNTED = ("swapped_pages", "throttles", "quota_stalled_ns")
# the columns of a cpu line in /proc/stat, in their order
TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
# how many of the busiest other processes are named
MOST_NAMED = 3
IN_MEMORY = "a program in memory"  # instead of the name of a process without a program file
LONGEST_NAME = 15  # the kernel truncates longer names
# link of the first PID namespace, whose processes see all others: 0xEFFFFFFC
_FIRST_NAMESPACE = "pid:[4026531836]"
# the kinds of CPU time that processes use; interrupts and steal belong to none
_OTHERS_MAY_USE = ("user", "nice", "system")
# folder with facts about CPUs
_CPU = "sys/devices/system/cpu"


class TreeTimes(NamedTuple):
    """The CPU times of one process and of its ended children, in clock ticks.

    ticks: its own CPU time; waited_ticks: the CPU time of its children that have ended; cpu: the
        CPU that it last used
    """

    name: str
    parent: int
    ticks: int
    waited_ticks: int
    cpu: int


Processes = Mapping[
    tuple[int, int], TreeTimes
]  # by pid and start time, because the kernel reuses pids


class Snapshot(NamedTuple):
    """The counters of the machine at one moment.

    cpus: the CPUs that this process may use; busy_ticks: CPU time of all processes on these CPUs
    processes: all visible processes; a PID namespace may hide others
    sees_all: whether no other process can use these CPUs
    counts: counters since boot, without those that the machine lacks:
    user to steal: CPU time by kind (TICKS), over all cores, in clock ticks
    swapped_pages: pages swapped in and out; throttles: how often heat throttled a core
    quota_stalled_ns: time in which the CPU quota throttled our threads
    """

    at_ns: int
    cores: int
    cpus: frozenset[int]
    busy_ticks: int
    processes: Processes
    sees_all: bool
    counts: Mapping[str, int]


def facts(window_s: float = WINDOW_S) -> dict[str, Any]:
    """Observe the machine for *window_s* seconds. Return its settings and its activity, as plain
    JSON.

    governors: frequency governors in use; turbo: whether clocks may rise above the nominal
        frequency
    smt: whether two hardware threads share a core
    cores_quota: CPU time in cores that the control group permits, or 'unlimited'
    """
    before, threads = snapshot(), number_of(f"{_CPU}/smt/active")
    time.sleep(window_s)
    return {
        "cores": before.cores or None,
        "governors": governors() or None,
        "turbo": _turbo(),
        "smt": None if threads is None else threads == 1,
        "cores_quota": cores_quota(),
        "aslr": number_of("proc/sys/kernel/randomize_va_space"),
        "window": between(before, snapshot()),
    }


def snapshot(groups: Iterable[str] = ()) -> Snapshot:
    """Read the machine's counters. With 100 processes this takes 4 ms, so do not call it in a timed
    region.

    groups: control groups of services, whose CPU quotas count too
    """
    stat, cpus = table_of("proc/stat"), usable_cpus()
    cores = sum(name[:3] == "cpu" and name[3:].isdigit() for name in stat)
    swapped, namespace = table_of("proc/vmstat"), ""
    with suppress(OSError):
        namespace = os.readlink(at("proc/self/ns/pid"))
    counts = {
        **_ticks(stat.get("cpu", "")),
        "swapped_pages": total(number(swapped.get(name)) for name in ("pswpin", "pswpout")),
        "throttles": total(
            map(number, texts_of(f"{_CPU}/cpu[0-9]*/thermal_throttle/*_throttle_count"))
        ),
        "quota_stalled_ns": quota_stalled_ns(groups),
    }
    return Snapshot(
        at_ns=time.monotonic_ns(),
        cores=cores,
        cpus=cpus,
        busy_ticks=sum(
            _ticks(stat.get(f"cpu{cpu}", "")).get(kind, 0)
            for cpu in cpus
            for kind in _OTHERS_MAY_USE
        ),
        processes=processes(),
        sees_all=namespace == _FIRST_NAMESPACE
        and at("proc/1/stat").exists()
        and len(cpus) == cores,
        counts={name: count for name, count in counts.items() if count is not None},
    )


def between(
    before: Snapshot, after: Snapshot, neighbours: Iterable[str] = (), also_ours: Iterable[int] = ()
) -> dict[str, Any]:
    """Return the machine's activity between two snapshots, as plain JSON.

    neighbours: names of processes that the service needs; also_ours: pids of processes that belong
        to the run
    steal: share of all cores' time
    others: CPU time of processes outside of our process tree and the trees of *also_ours*; None if
        unknown
    """
    grown = {
        name: max(0, after.counts[name] - count)
        for name, count in before.counts.items()
        if name in after.counts
    }
    ticks = sum(grown.get(kind, 0) for kind in TICKS)
    return {
        "window_ns": after.at_ns - before.at_ns,
        "steal": _share(grown.get("steal"), ticks),
        "others": _others(before, after, neighbours, (os.getpid(), *also_ours))
        if TICKS[0] in grown
        else None,
        **{name: grown.get(name) for name in COUNTED},
    }


def observed(
    neighbours: Iterable[str], also_ours: Iterable[int], groups: Sequence[str]
) -> Generator[None, None, dict[str, Any]]:
    """Return the machine's activity between the generator's `yield` and its end, as between() does.

    groups: control groups of services, whose CPU quotas count too
    """
    before = snapshot(groups)
    yield
    return between(before, snapshot(groups), neighbours, also_ours)


def _others(
    before: Snapshot, after: Snapshot, neighbours: Iterable[str], roots: Iterable[int]
) -> dict[str, Any] | None:
    """Return the shares of CPU time of foreign processes, and of other processes that the service
    needs.

    The share of foreign processes is given in total and for the busiest by name. Shares are those
    of the CPUs which gilscope may use.
    neighbours: names of processes that the service needs, such as its database
    roots: processes that belong to the run with their descendants

    The CPU times of visible processes are exact to a clock tick. They include processes that have
    ended, if their parents waited for them. Processes that are not visible are only in the CPUs'
    own counters. The kernel samples these counters at its ticks, so they are inaccurate in a short
    window.
    """
    # clock ticks of CPU time that the CPUs have in this window
    whole = (after.at_ns - before.at_ns) * len(after.cpus) * os.sysconf("SC_CLK_TCK") / 1e9
    if whole <= 0:
        return None
    own = trees(before.processes, roots) | trees(after.processes, roots)
    by_name = Counter[str]()
    for key, process in after.processes.items():
        if key not in own and process.cpu in after.cpus:
            earlier = before.processes.get(key)
            by_name[process.name] += process.ticks - (earlier.ticks if earlier else 0)
    # popped, so that they are not among the busiest
    needed = {name: by_name.pop(name[:LONGEST_NAME], 0) for name in neighbours}
    if after.sees_all:
        foreign = used_ticks(before, after, {*before.processes, *after.processes} - own)
    else:
        # other processes may be hidden, so what is ours is subtracted from the CPUs' own counters
        foreign = after.busy_ticks - before.busy_ticks - used_ticks(before, after, own)
    return {
        "cores": len(after.cpus),
        "window_ns": after.at_ns - before.at_ns,
        "share": _share(max(0, foreign - sum(needed.values())), whole),
        "busiest": {
            name: _share(ticks, whole) for name, ticks in (+by_name).most_common(MOST_NAMED)
        },
        "neighbours": {name: _share(ticks, whole) for name, ticks in needed.items()},
    }


def processes() -> Processes:
    """Return the CPU times of all processes that /proc shows now."""
    found = {}
    for entry in os.scandir(at("proc")) if at("proc").exists() else ():
        if entry.name.isdecimal() and (text := text_of(f"proc/{entry.name}/stat")):
            name = text.partition("(")[2].rpartition(")")[0]
            words = text.rpartition(")")[2].split()
            # words[0] is field 3 of proc_pid_stat(5): 1 ppid, 19 starttime, 36 processor
            user, system, waited_user, waited_system = map(int, words[11:15])
            # of a sealed copy of a program, the kernel gives the name and number of the copy
            name = IN_MEMORY if name.startswith("memfd:") else name
            for letter in {*name}:
                name = name if letter.isprintable() else name.replace(letter, "?")
            found[int(entry.name), int(words[19])] = TreeTimes(
                name or "?",
                int(words[1]),
                user + system,
                waited_user + waited_system,
                int(words[36]),
            )
    return found


def used_ticks(before: Snapshot, after: Snapshot, keys: Collection[tuple[int, int]]) -> int:
    """Return the CPU time in clock ticks that some processes used between two snapshots."""

    def spent(moment: Snapshot) -> int:
        processes = filter(None, map(moment.processes.get, keys))
        return sum(process.ticks + process.waited_ticks for process in processes)

    return spent(after) - spent(before)


def trees(moment: Processes, roots: Iterable[int]) -> set[tuple[int, int]]:
    """Return the processes *roots* and their descendants."""
    children: dict[int, list[tuple[int, int]]] = {}
    for key, process in moment.items():
        children.setdefault(process.parent, []).append(key)
    found = [key for key in moment if key[0] in {*roots}]
    # found grows in this loop, which so reaches the descendants
    for key in found:
        found += children.get(key[0], [])
    return {*found}


def _share(part: float | None, whole: float) -> float | None:
    return None if part is None or whole <= 0 else round(min(1.0, part / whole), 4)


def _ticks(line: str) -> dict[str, int]:
    """Parse a cpu line of /proc/stat; {} if it is malformed.

    The columns after steal are ignored, because user and nice already include them. Source:
    proc(5).
    """
    with suppress(ValueError):
        return dict(zip(TICKS, map(int, line.split()[: len(TICKS)]), strict=True))
    return {}


def _turbo() -> bool | None:
    """Return whether the CPU's turbo is on; None if unknown.

    Source: docs.kernel.org, intel_pstate (no_turbo) and cpufreq (boost, one file or one for each
        policy).
    """
    no_turbo = number_of(f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boosts = texts_of(f"{_CPU}/cpufreq/boost") or texts_of(f"{_CPU}/cpufreq/policy*/boost")
    return any(map(number, boosts)) if boosts else None
