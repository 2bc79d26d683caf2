"""Whether this machine is quiet enough to measure on, and what would make it quieter, by the facts of machine/quiet.py.

Pure: facts in, findings out. The bounds are ours. They are set well under the 3 % that a verdict tells apart.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

LOAD_PER_CORE = 0.2
OTHERS_SHARE = 0.05
STEAL_SHARE = 0.01
CPU_PRESSURE_SHARE = 0.05
MEMORY_PRESSURE_SHARE = 0.01
QUOTA_STALLED_SHARE = 0.01
FULL_RANDOMISATION = 2  # docs.kernel.org, kernel.randomize_va_space
HOST_KNOWS = ("frequency governor", "turbo", "throttling", "throttled since start")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at. good None: it cannot be known here; value then says why, if that is known.

    what_to_do is empty where nothing is to be done.
    """

    name: str
    value: str
    good: bool | None
    what_to_do: str = ""


def findings(facts: Mapping[str, Any]) -> list[Finding]:
    """What was found on the machine, before a run. facts: those of quiet.facts()."""
    found = [
        *(judge(facts) for judge in (_load, _cpu_pressure)),
        *disturbances(facts.get("window") or {}, facts.get("cores")),
        *(judge(facts) for judge in _SETTINGS),
    ]
    return [_explained(one) for one in found] if facts.get("virtual") else found


def disturbances(window: Mapping[str, Any], cores: int | None) -> list[Finding]:
    """What disturbed a cell or a run that lasted for *window*, which quiet.between() made.

    Only what our own processes do not cause: a run makes load and pressure by itself.
    """
    return [
        _others(window, cores),
        _steal(window),
        _swapping(window),
        _throttled(window),
        _quota_stalled(window),
    ]


def _explained(one: Finding) -> Finding:
    hidden = one.good is None and one.name in HOST_KNOWS
    return replace(one, value="a virtual machine does not show it") if hidden else one


def _judged(
    name: str,
    value: Any,
    told: Callable[[Any], str],
    good: Callable[[Any], bool],
    what_to_do: str,
) -> Finding:
    """The finding for a fact that may be missing."""
    if value is None:
        return Finding(name=name, value="", good=None)
    fine = good(value)
    return Finding(name=name, value=told(value), good=fine, what_to_do="" if fine else what_to_do)


def _load(facts: Mapping[str, Any]) -> Finding:
    cores = facts.get("cores")
    return _judged(
        "load",
        facts.get("load_1m") if cores else None,
        lambda load: f"{load:.2f} on {_cores(cores)}",
        lambda load: load <= LOAD_PER_CORE * (cores or 1),
        "Stop what else runs (top shows it). After a run, wait a minute: this is a mean.",
    )


def _cpu_pressure(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "CPU pressure",
        facts.get("cpu_pressure"),
        lambda share: f"{_percent(share)} of the last 10 s",
        lambda share: share <= CPU_PRESSURE_SHARE,
        "Processes wait for a core: stop some, or measure later.",
    )


def _others(window: Mapping[str, Any], cores: int | None) -> Finding:
    return _judged(
        "other processes",
        window.get("others_cores") if cores else None,
        lambda used: f"use {used:.2f} of {_cores(cores)}",
        lambda used: used <= OTHERS_SHARE * (cores or 1),
        "Stop them; top shows which they are.",
    )


def _steal(window: Mapping[str, Any]) -> Finding:
    return _judged(
        "CPU steal",
        window.get("steal"),
        lambda share: f"{_percent(share)} of CPU time",
        lambda share: share <= STEAL_SHARE,
        "The host gives these cores to other guests: use dedicated cores, or run more blocks.",
    )


def _swapping(window: Mapping[str, Any]) -> Finding:
    return _judged(
        "swapping",
        window.get("swapped_pages"),
        lambda pages: f"{pages} page{'s' * (pages != 1)}",
        lambda pages: pages == 0,
        "Memory is short: stop something, or lower NUM_CLIENTS or NUM_API_SERVICES.",
    )


def _throttled(window: Mapping[str, Any]) -> Finding:
    return _judged(
        "throttling",
        window.get("throttles"),
        _times,
        lambda times: times == 0,
        "Heat slows the cores: see to cooling, or turn turbo off.",
    )


def _quota_stalled(window: Mapping[str, Any]) -> Finding:
    spent_ns = window.get("window_ns") or 0
    return _judged(
        "held by the quota",
        window.get("quota_stalled_ns") if spent_ns else None,
        lambda stalled_ns: f"{stalled_ns / 1e6:.0f} ms in {spent_ns / 1e9:.1f} s",
        lambda stalled_ns: stalled_ns <= QUOTA_STALLED_SHARE * spent_ns,
        "Raise the container's CPU quota, or lower NUM_API_SERVICES and NUM_CLIENTS.",
    )


def _memory_pressure(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "memory pressure",
        facts.get("memory_pressure"),
        lambda share: f"{_percent(share)} of the last 10 s",
        lambda share: share <= MEMORY_PRESSURE_SHARE,
        "Processes wait for memory: stop what holds it.",
    )


def _swap(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "swap in use",
        facts.get("swap_used_bytes"),
        lambda used_bytes: f"{used_bytes / 2**20:.0f} MiB",
        lambda used_bytes: used_bytes == 0,
        "Free memory, then: sudo swapoff -a && sudo swapon -a",
    )


def _governor(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "frequency governor",
        facts.get("governors"),
        ", ".join,
        lambda names: names == ["performance"],
        "sudo cpupower frequency-set -g performance",
    )


def _turbo(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "turbo",
        facts.get("turbo"),
        lambda on: "on" if on else "off",
        lambda on: not on,
        "The clock depends on heat and on how many cores are busy. Turn it off in the firmware, or with 1 in "
        "/sys/devices/system/cpu/intel_pstate/no_turbo or 0 in /sys/devices/system/cpu/cpufreq/boost.",
    )


def _throttled_ever(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "throttled since start",
        facts.get("throttles"),
        _times,
        lambda times: times == 0,
        "Heat has slowed the cores before: see to cooling, and look again after a run.",
    )


def _smt(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "SMT",
        facts.get("smt"),
        lambda on: "on: two threads share a core" if on else "off",
        lambda on: not on,
        "K busy threads get less than K cores. Keep services and clients on cores of their own with --pin, or: "
        "echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )


def _quota(facts: Mapping[str, Any]) -> Finding:
    cores = facts.get("cores") or 0
    return _judged(
        "CPU quota",
        facts.get("cores_quota"),
        lambda quota: f"{quota:g} of {_cores(cores)}" if isinstance(quota, float | int) else "none",
        lambda quota: not isinstance(quota, float | int) or quota >= cores,
        "The control group holds threads back when it is used up: raise it (docker run --cpus), or use --cpuset-cpus.",
    )


def _aslr(facts: Mapping[str, Any]) -> Finding:
    return _judged(
        "address randomisation",
        facts.get("aslr"),
        lambda level: "full" if level == FULL_RANDOMISATION else "off" if level == 0 else "partial",
        lambda level: level == FULL_RANDOMISATION,
        "Fresh processes should differ in memory layout, or one layout decides: "
        "sudo sysctl kernel.randomize_va_space=2",
    )


_SETTINGS = (_memory_pressure, _swap, _governor, _turbo, _throttled_ever, _smt, _quota, _aslr)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _cores(number: int | None) -> str:
    return "1 core" if number == 1 else f"{number} cores"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
