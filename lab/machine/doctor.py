"""Whether this machine is quiet enough to measure on, and what would make it quieter, by the facts of machine/quiet.py.

Pure: facts in, findings out. The bounds are ours. They are set well under the 3 % that a verdict tells apart.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.messages import NOTHING, Message, listed, message, plural, verbatim
from core.method import placement
from core.result import DISTURBANCES
from lab.machine.host import UNLIMITED

LOAD_PER_CORE = 0.2
OTHERS_SHARE = 0.05
STEAL_SHARE = 0.01
CPU_PRESSURE_SHARE = 0.05
MEMORY_PRESSURE_SHARE = 0.01
QUOTA_STALLED_SHARE = 0.01
MOST_WAKEUP_NS = 10_000  # more than awake: a request of 25 us and two of them are 45
FULL_RANDOMISATION = 2  # docs.kernel.org, kernel.randomize_va_space
_ASLR = {0: message("off"), FULL_RANDOMISATION: message("full")}
HOST_KNOWS = ("governor", "turbo", "throttling", "throttled_before")

# What is inspected besides that which disturbs a cell, by code.
SETTINGS: Mapping[str, Message] = {
    "swap": message("swap in use"),
    "governor": message("frequency governor"),
    "turbo": message("turbo"),
    "throttled_before": message("throttled since start"),
    "smt": message("SMT"),
    "cpu_quota": message("CPU quota"),
    "aslr": message("address randomisation"),
    "wakeups": message("waking up"),
    "placement": message("placement"),
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was inspected. good None: it cannot be known here; value then says why, if that is known.

    code: a key of DISTURBANCES or SETTINGS. remedy: NOTHING if nothing needs to be done
    """

    code: str
    value: Message
    good: bool | None
    remedy: Message = NOTHING

    @property
    def name(self) -> Message:
        """What was inspected."""
        return {**DISTURBANCES, **SETTINGS}[self.code]


class Check(NamedTuple):
    """How a fact is judged.

    facts: the names of those that it needs, the judged one first; value and good are called with what these are
    """

    code: str
    facts: tuple[str, ...]
    value: Callable[..., Message]
    good: Callable[..., bool]
    remedy: Message

    def finding(self, facts: Mapping[str, Any]) -> Finding:
        """Of these facts; unknown if one that it needs is missing."""
        judged, *others = (facts.get(name) for name in self.facts)
        if judged is None or not all(others):
            return Finding(code=self.code, value=NOTHING, good=None)
        good = self.good(judged, *others)
        value = self.value(judged, *others)
        return Finding(code=self.code, value=value, good=good, remedy=NOTHING if good else self.remedy)


def findings(facts: Mapping[str, Any]) -> list[Finding]:
    """How quiet the machine is before a run. facts: those of quiet.facts()."""
    window = facts.get("window") or {}
    inspected = [
        *(check.finding(facts) for check in _BEFORE),
        *(check.finding(window) for check in _WINDOW),
        *(check.finding(facts) for check in _SETTINGS),
    ]
    return [_explained(finding) for finding in inspected] if facts.get("virtual") else inspected


def disturbances(window: Mapping[str, Any]) -> list[Message]:
    """What disturbed a cell in its timed window, of which quiet.between() tells; each has its code."""
    inspected = [check.finding(window) for check in _WINDOW]
    return [replace(finding.value, code=finding.code) for finding in inspected if finding.good is False]


def _explained(finding: Finding) -> Finding:
    hidden = finding.good is None and finding.code in HOST_KNOWS
    return replace(finding, value=message("a virtual machine does not show it")) if hidden else finding


def _slowed(throttles: int) -> Message:
    return plural("heat slowed a core {count} time", "heat slowed a core {count} times", count=throttles)


def _of_the_last_10_s(share: float) -> Message:
    return message("{percent:.1f} % of the last 10 s", percent=share * 100)


_BEFORE = (
    Check(
        "load",
        ("load_1m", "cores"),
        lambda load_1m, cores: plural(
            "{load:.2f} on {count} core", "{load:.2f} on {count} cores", count=cores, load=load_1m
        ),
        lambda load_1m, cores: load_1m <= LOAD_PER_CORE * cores,
        message("Stop what else is running (see top). After a run, wait a minute: this is a mean."),
    ),
    Check(
        "cpu_pressure",
        ("cpu_pressure",),
        _of_the_last_10_s,
        lambda cpu_pressure: cpu_pressure <= CPU_PRESSURE_SHARE,
        message("Processes wait for a core: stop some, or measure later."),
    ),
)
# Only what our own processes do not cause: a run makes load and pressure by itself.
_WINDOW = (
    Check(
        "other_processes",
        ("others",),
        lambda others: message(
            "other processes used {used_cores:.2f} of {cores} cores: {names}",
            used_cores=others["share"] * others["cores"],
            cores=others["cores"],
            names=listed(others["busiest"]) or message("none that can be seen"),
        ),
        lambda others: others["share"] <= OTHERS_SHARE,
        message("Stop them, or name those that the service needs with --neighbour."),
    ),
    Check(
        "steal",
        ("steal",),
        lambda steal: message("the host took {percent:.1f} % of the CPU time", percent=steal * 100),
        lambda steal: steal <= STEAL_SHARE,
        message("The host gives these cores to other guests: use dedicated cores, or run more blocks."),
    ),
    Check(
        "swapping",
        ("swapped_pages",),
        lambda swapped_pages: plural("{count} page was swapped", "{count} pages were swapped", count=swapped_pages),
        lambda swapped_pages: swapped_pages == 0,
        message("Memory is short: stop something, or lower NUM_CLIENTS or NUM_API_SERVICES."),
    ),
    Check(
        "throttling",
        ("throttles",),
        _slowed,
        lambda throttles: throttles == 0,
        message("Heat slows the cores: improve cooling, or turn turbo off."),
    ),
    Check(
        "quota",
        ("quota_stalled_ns", "window_ns"),
        lambda quota_stalled_ns, window_ns: message(
            "the CPU quota held threads back for {held_ms:.0f} ms in {window_s:.1f} s",
            held_ms=quota_stalled_ns / 1e6,
            window_s=window_ns / 1e9,
        ),
        lambda quota_stalled_ns, window_ns: quota_stalled_ns <= QUOTA_STALLED_SHARE * window_ns,
        message("Raise the container's CPU quota, or lower NUM_API_SERVICES and NUM_CLIENTS."),
    ),
)
_SETTINGS = (
    Check(
        "memory_pressure",
        ("memory_pressure",),
        _of_the_last_10_s,
        lambda memory_pressure: memory_pressure <= MEMORY_PRESSURE_SHARE,
        message("Processes wait for memory: stop what holds it."),
    ),
    Check(
        "swap",
        ("swap_used_bytes",),
        lambda swap_used_bytes: message("{used_mib:.0f} MiB", used_mib=swap_used_bytes / 2**20),
        lambda swap_used_bytes: swap_used_bytes == 0,
        message("Free memory, then: sudo swapoff -a && sudo swapon -a"),
    ),
    Check(
        "governor",
        ("governors",),
        lambda governors: verbatim(", ".join(governors)),
        lambda governors: governors == ["performance"],
        verbatim("sudo cpupower frequency-set -g performance"),
    ),
    Check(
        "turbo",
        ("turbo",),
        lambda turbo: message("on") if turbo else message("off"),
        lambda turbo: not turbo,
        message(
            "The clock depends on heat and on how many cores are busy. Turn it off in the firmware, or with 1 in "
            "/sys/devices/system/cpu/intel_pstate/no_turbo or 0 in /sys/devices/system/cpu/cpufreq/boost."
        ),
    ),
    Check(
        "throttled_before",
        ("throttles",),
        _slowed,
        lambda throttles: throttles == 0,
        message("Heat has slowed the cores before: improve cooling, and check again after a run."),
    ),
    Check(
        "smt",
        ("smt",),
        lambda smt: message("on: two threads share a core") if smt else message("off"),
        lambda smt: not smt,
        message(
            "K busy threads get less than K cores. Keep services and clients on cores of their own with --pin, or: "
            "echo off | sudo tee /sys/devices/system/cpu/smt/control"
        ),
    ),
    Check(
        "cpu_quota",
        ("cores_quota", "cores"),
        lambda cores_quota, cores: (
            message("none")
            if cores_quota == UNLIMITED
            else plural(
                "{quota:g} of {count} core",
                "{quota:g} of {count} cores",
                count=cores,
                quota=cores_quota,
            )
        ),
        lambda cores_quota, cores: cores_quota == UNLIMITED or cores_quota >= cores,
        message(
            "The control group holds threads back when it is used up: raise it (docker run --cpus), or use "
            "--cpuset-cpus."
        ),
    ),
    Check(
        "aslr",
        ("aslr",),
        lambda aslr: _ASLR.get(aslr, message("partial")),
        lambda aslr: aslr == FULL_RANDOMISATION,
        message("Fresh processes should differ in memory layout: sudo sysctl kernel.randomize_va_space=2"),
    ),
    Check(
        "wakeups",
        ("wakeup_idle_ns", "wakeup_awake_ns"),
        lambda wakeup_idle_ns, wakeup_awake_ns: message(
            "an idle core takes {idle_us:.0f} us, one that is held awake {awake_us:.0f} us",
            idle_us=wakeup_idle_ns / 1e3,
            awake_us=wakeup_awake_ns / 1e3,
        ),
        lambda wakeup_idle_ns, wakeup_awake_ns: wakeup_idle_ns <= wakeup_awake_ns + MOST_WAKEUP_NS,
        message("With few connections this is what is measured: hold the cores awake with --keep-awake true."),
    ),
    Check("placement", ("cores",), placement, lambda cores: True, NOTHING),
)
