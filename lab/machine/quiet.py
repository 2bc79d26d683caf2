"""Read how quiet this machine is: its settings, and the load of other processes during a measurement.

lab/machine/doctor.py judges these facts. They come from Linux's /proc and /sys. A fact is None if its file is missing,
as on macOS or in many containers. Shares are 0..1.
"""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.machine.host import cores_quota, governors, quota_stalled_ns, usable_cpus
from lab.machine.kernelfiles import HERE, Reader, decimal, number
from lab.machine.others import Processes, own_ticks, processes, sees_all, usage

WINDOW_S = 0.5
COUNTED = ("swapped_pages", "throttles", "quota_stalled_ns")
TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_OTHERS_MAY_USE = ("user", "nice", "system")
_CPU = "sys/devices/system/cpu"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The counters of the machine at one moment. A counter is None if the machine lacks it.

    cpus: the CPUs that this process may use; busy_ticks: CPU time of all processes on these CPUs
    processes: all visible processes; sees_all: whether no other process can use these CPUs
    ticks: CPU time by kind since boot, over all cores, in clock ticks
    swapped_pages: pages swapped in and out; throttles: how often heat throttled a core
    *_stalled_us: time in which some process waited for a core, or for memory
    quota_stalled_ns: time in which the CPU quota throttled our threads
    """

    at_ns: int
    cores: int
    cpus: frozenset[int] = frozenset()
    busy_ticks: int = 0
    processes: Processes = field(default_factory=dict)
    sees_all: bool = True
    ticks: Mapping[str, int] | None = None
    swapped_pages: int | None = None
    throttles: int | None = None
    cpu_stalled_us: int | None = None
    memory_stalled_us: int | None = None
    quota_stalled_ns: int | None = None


def facts(window_s: float = WINDOW_S, reader: Reader = HERE) -> dict[str, Any]:
    """Return the machine's settings and its activity during the next *window_s* seconds, as plain JSON.

    load_1m: processes that ran or waited, mean over a minute; throttles: how often heat throttled a core since boot
    governors: frequency governors in use; turbo: whether clocks may rise above the nominal frequency
    smt: whether two hardware threads share a core
    *_pressure: share of the last 10 s in which some process waited for a core, or for memory
    cores_quota: CPU time in cores that the control group permits, or 'unlimited'
    """
    before = snapshot(reader)
    time.sleep(window_s)
    return {
        "cores": before.cores or None,
        "virtual": _virtual(reader),
        "load_1m": decimal((reader.text("proc/loadavg") or "").partition(" ")[0]),
        "governors": governors(reader) or None,
        "turbo": _turbo(reader),
        "throttles": before.throttles,
        "smt": _smt(reader),
        "swap_used_bytes": _swap_used_bytes(reader),
        "cpu_pressure": _pressure(reader, "cpu"),
        "memory_pressure": _pressure(reader, "memory"),
        "cores_quota": cores_quota(reader),
        "aslr": reader.number("proc/sys/kernel/randomize_va_space"),
        "window": between(before, snapshot(reader)),
    }


def snapshot(reader: Reader = HERE, groups: Iterable[Path] = ()) -> Snapshot:
    """Read the machine's counters. With 100 processes this takes 4 ms, so do not call it in a timed region.

    groups: control groups of services, whose CPU quotas count too
    """
    stat, cpus = reader.table("proc/stat"), usable_cpus()
    by_cpu = {int(name[3:]): _ticks(line) for name, line in stat.items() if name[:3] == "cpu" and name[3:].isdigit()}
    throttles = reader.numbers(f"{_CPU}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    return Snapshot(
        at_ns=time.monotonic_ns(),
        cores=len(by_cpu),
        cpus=cpus,
        busy_ticks=sum(ticks[kind] for cpu in cpus if (ticks := by_cpu.get(cpu)) for kind in _OTHERS_MAY_USE),
        processes=processes(reader),
        sees_all=sees_all(reader, cpus, len(by_cpu)),
        ticks=_ticks(stat.get("cpu", "")),
        swapped_pages=_sum(reader.table("proc/vmstat"), ("pswpin", "pswpout")),
        throttles=sum(throttles) if throttles else None,
        cpu_stalled_us=_stalled_us(reader, "cpu"),
        memory_stalled_us=_stalled_us(reader, "memory"),
        quota_stalled_ns=quota_stalled_ns(reader, groups),
    )


def between(
    before: Snapshot, after: Snapshot, neighbours: Iterable[str] = (), also_ours: Iterable[int] = ()
) -> dict[str, Any]:
    """Return the machine's activity between two snapshots, as plain JSON.

    neighbours: names of processes that the service needs; also_ours: pids of processes that belong to the run
    steal, iowait, idle: shares of all cores' time; *_pressure: shares of the window, including our own processes
    others: CPU time of processes outside of our process tree and the trees of *also_ours*; None if unknown
    """
    spent_ns = after.at_ns - before.at_ns
    ticks = _ticks_between(before, after)
    whole = sum(ticks.values())
    return {
        "window_ns": spent_ns,
        **{kind: round(ticks[kind] / whole, 4) if whole else None for kind in ("steal", "iowait", "idle")},
        "others": _others(before, after, neighbours, (os.getpid(), *also_ours)),
        **{name: _difference(getattr(before, name), getattr(after, name)) for name in COUNTED},
        "cpu_pressure": _share(_difference(before.cpu_stalled_us, after.cpu_stalled_us), spent_ns),
        "memory_pressure": _share(_difference(before.memory_stalled_us, after.memory_stalled_us), spent_ns),
    }


def _others(
    before: Snapshot, after: Snapshot, neighbours: Iterable[str], roots: Iterable[int]
) -> dict[str, Any] | None:
    """Return the shares of CPU time of foreign processes, and of other processes that the service needs.

    The share of foreign processes is given in total and for the busiest by name.

    The share is that of the CPUs which gilscope may use.
    neighbours: names of processes that the service needs

    The CPU times of visible processes are exact to a clock tick. Processes that are not visible are only in the CPUs'
    own counters. The kernel samples these counters at its ticks, so they are inaccurate in a short window.
    """
    whole = (after.at_ns - before.at_ns) * len(after.cpus) * os.sysconf("SC_CLK_TCK") / 1e9
    if whole <= 0 or before.ticks is None or after.ticks is None:
        return None
    own, ours = own_ticks(before.processes, after.processes, roots)
    total, busiest, neighbour_ticks = usage(before.processes, after.processes, ours, after.cpus, neighbours)
    if not after.sees_all:
        total = max(0, after.busy_ticks - before.busy_ticks - own - sum(neighbour_ticks.values()))
    return {
        "cores": len(after.cpus),
        "window_ns": after.at_ns - before.at_ns,
        "share": round(min(1.0, total / whole), 4),
        "busiest": {name: round(ticks / whole, 4) for name, ticks in busiest.items()},
        "neighbours": {name: round(ticks / whole, 4) for name, ticks in neighbour_ticks.items()},
    }


def _ticks_between(before: Snapshot, after: Snapshot) -> dict[str, int]:
    """Return the CPU time by kind, such as idle or steal, between two snapshots; {} if unknown."""
    if before.ticks is None or after.ticks is None:
        return {}
    return {kind: max(0, after.ticks[kind] - before.ticks[kind]) for kind in TICKS}


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _share(stalled_us: int | None, spent_ns: int) -> float | None:
    return None if stalled_us is None or spent_ns <= 0 else round(min(1.0, stalled_us * 1000 / spent_ns), 4)


def _ticks(line: str) -> dict[str, int] | None:
    """Parse a cpu line of /proc/stat. Ignore the columns after steal, because user and nice already include them.

    Source: proc(5).
    """
    values = [number(value) for value in line.split()[: len(TICKS)]]
    ticks = {kind: value for kind, value in zip(TICKS, values, strict=False) if value is not None}
    return ticks if len(ticks) == len(TICKS) else None


def _turbo(reader: Reader) -> bool | None:
    """Return whether the CPU's turbo is on; None if unknown.

    Source: docs.kernel.org, intel_pstate (no_turbo) and cpufreq (boost, one file or one for each policy).
    """
    no_turbo = reader.number(f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boosts = reader.numbers(f"{_CPU}/cpufreq/boost") or reader.numbers(f"{_CPU}/cpufreq/policy*/boost")
    return any(boosts) if boosts else None


def _smt(reader: Reader) -> bool | None:
    active = reader.number(f"{_CPU}/smt/active")
    if active is not None:
        return active == 1
    siblings = reader.matching(f"{_CPU}/cpu[0-9]*/topology/thread_siblings_list")
    return any("," in cpus or "-" in cpus for cpus in siblings) if siblings else None


def _virtual(reader: Reader) -> bool | None:
    """Return whether this machine is virtual, according to the x86 CPU flags; None on other architectures."""
    flags = [line for line in (reader.text("proc/cpuinfo") or "").splitlines() if line.startswith("flags")]
    return "hypervisor" in flags[0].split() if flags else None


def _swap_used_bytes(reader: Reader) -> int | None:
    kib = [number(reader.table("proc/meminfo").get(name, "").split(" ")[0]) for name in ("SwapTotal", "SwapFree")]
    return None if kib[0] is None or kib[1] is None else (kib[0] - kib[1]) * 1024


def _pressure(reader: Reader, kind: str) -> float | None:
    """Return the share of the last 10 s in which a process waited for the resource *kind*, such as cpu or memory.

    Source: docs.kernel.org, PSI: `some avg10=1.53 avg60=... avg300=... total=<us>`, in percent.
    """
    percent = decimal(_pressure_fields(reader, kind).get("avg10"))
    return None if percent is None else round(percent / 100, 4)


def _stalled_us(reader: Reader, kind: str) -> int | None:
    return number(_pressure_fields(reader, kind).get("total"))


def _pressure_fields(reader: Reader, kind: str) -> dict[str, str]:
    line = reader.table(f"proc/pressure/{kind}").get("some", "")
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def _sum(table: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    values = [number(table.get(name)) for name in names]
    return None if None in values else sum(filter(None, values))
