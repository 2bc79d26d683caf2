"""Judge whether this machine is quiet enough to measure on, and suggest how to make it quieter.

The facts are the JSON of lab/machine/quiet.py. commands/doctor.py and commands/hosts.py show the
findings, and lab/run/cell_results.py saves the disturbances of each cell. This module does no I/O.
Below the limits here, which are the authors' choice, a disturbance should change a ratio by less
than 3 %. docs/machine.md lists them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from typing import NamedTuple

from core.messages import NOTHING, Json, Message, listed, message, plural, verbatim
from core.program import PROGRAM
from lab.machine.host import UNLIMITED
from record.saved_run import DISTURBANCES

# the largest share (0..1) of the CPUs' time that other processes may use
OTHERS_SHARE = 0.05
# the largest share (0..1) of all cores' time that the hypervisor may take
STEAL_SHARE = 0.01
# the largest share (0..1) of the time in which the CPU quota may throttle threads
QUOTA_STALLED_SHARE = 0.01
FULL_RANDOMISATION = 2  # value of kernel.randomize_va_space, see docs.kernel.org
_ASLR = {0: message("off"), FULL_RANDOMISATION: message("fully random memory layout")}

# Names of the settings of the machine that are inspected, by code. DISTURBANCES has the names of
# what disturbs a cell.
SETTINGS: Mapping[str, Message] = {
    "governor": message("frequency governor"),
    "turbo": message("turbo"),
    "smt": message("SMT"),
    "cpu_quota": message("CPU quota"),
    "aslr": message("address space randomisation"),
    "native_client": message("native client"),
}


class Finding(NamedTuple):
    """The result of inspecting one property of the machine.

    name: of the property, such as frequency governor
    value: what was found; NOTHING if the inspection was not possible
    good: whether the value is good; None if the inspection was not possible
    remedy: what to do; NOTHING if nothing needs to be done
    code: a key of DISTURBANCES or SETTINGS
    """

    name: Message
    value: Message
    good: bool | None
    remedy: Message
    code: str


class Check(NamedTuple):
    """A rule that judges whether one property of the machine is good for measurements.

    judge: a function of facts, which returns whether the first fact is good, and the text to show.
        The names of its parameters are the names of the facts that the rule needs, so renaming
        a parameter changes the rule.
    remedy, code: as in Finding
    """

    code: str
    judge: Callable[..., tuple[bool, Message]]
    remedy: Message

    def apply(self, facts: Json) -> Finding:
        """Apply the rule to *facts*, and return the finding. It is unknown if the rule needs a
        missing fact.
        """
        judged, *others = map(facts.get, signature(self.judge).parameters)
        # The first fact may be 0 or False. The others are wholes, of which 0 makes no sense.
        is_known = judged is not None and all(others)
        good, value = self.judge(judged, *others) if is_known else (None, NOTHING)
        name = {**DISTURBANCES, **SETTINGS}[self.code]
        return Finding(name, value, good, self.remedy if good is False else NOTHING, self.code)


def judge_machine(facts: Json) -> list[Finding]:
    """Return a finding for each inspected property of the machine before a run.

    facts: the result of quiet.facts(), to which commands/doctor.py adds `native_client`
    """
    window = facts.get("window") or {}
    # no arms take turns here, so the whole window counts
    window = {"own_ns": window.get("window_ns"), **window}
    return [
        *(check.apply(window) for check in OF_A_WINDOW),
        *(check.apply(facts) for check in OF_SETTINGS),
    ]


def disturbances(window: Json, own_ns: int) -> list[Message]:
    """Return a message, with a code, for each disturbance in the timed window of a cell.

    window: the result of quiet.between()
    own_ns: how long the cell had its turns in the window, in which the arms of its setting may take
        turns
    """
    window = {**window, "own_ns": own_ns}
    findings = [check.apply(window) for check in OF_A_WINDOW]
    return [
        replace(finding.value, code=finding.code) for finding in findings if finding.good is False
    ]


OF_A_WINDOW = (  # rules for the facts of a time window, also that of a cell
    Check(
        "other_processes",
        lambda others: (
            others["share"] <= OTHERS_SHARE,
            message(
                "other processes used {used_cores:.2f} of {cores} cores: {names}",
                used_cores=others["share"] * others["cores"],
                cores=others["cores"],
                names=listed(others["busiest"]) or message("process names are not visible"),
            ),
        ),
        message(
            "Stop the other processes. If the service uses one of them, name it with --neighbour."
        ),
    ),
    Check(
        "steal",
        lambda steal: (
            steal <= STEAL_SHARE,
            message(
                "the hypervisor took {percent:.1f} % of the CPU time (steal time)",
                percent=steal * 100,
            ),
        ),
        message(
            "This virtual machine shares its cores with others. Use dedicated cores, or measure "
            "more blocks."
        ),
    ),
    Check(
        "swapping",
        lambda swapped_pages: (
            swapped_pages == 0,
            plural(
                "{count} memory page was swapped in or out",
                "{count} memory pages were swapped in or out",
                count=swapped_pages,
            ),
        ),
        message(
            "There is too little memory. Stop other programs, or lower NUM_CLIENTS or "
            "NUM_API_SERVICES."
        ),
    ),
    Check(
        "throttling",
        lambda throttles: (
            throttles == 0,
            plural(
                "a core was thermally throttled {count} time",
                "cores were thermally throttled {count} times",
                count=throttles,
            ),
        ),
        message("CPU cores are throttled because of heat. Improve cooling, or turn off turbo."),
    ),
    Check(
        "quota",
        lambda quota_stalled_ns, own_ns: (
            quota_stalled_ns <= QUOTA_STALLED_SHARE * own_ns,
            message(
                "the CPU quota throttled threads for {held_ms:.0f} ms of {window_s:.1f} s",
                held_ms=quota_stalled_ns / 1e6,
                window_s=own_ns / 1e9,
            ),
        ),
        message("Raise the container's CPU quota, or lower NUM_API_SERVICES and NUM_CLIENTS."),
    ),
)
OF_SETTINGS = (
    Check(
        "governor",
        lambda governors: (governors == ["performance"], verbatim(", ".join(governors))),
        verbatim("sudo cpupower frequency-set -g performance"),
    ),
    Check(
        "turbo",
        lambda turbo: (not turbo, message("on") if turbo else message("off")),
        message(
            "With turbo, the clock frequency depends on temperature and on the number of busy "
            "cores. Turn turbo off in the firmware, or write 1 to "
            "/sys/devices/system/cpu/intel_pstate/no_turbo or 0 to "
            "/sys/devices/system/cpu/cpufreq/boost."
        ),
    ),
    Check(
        "smt",
        lambda smt: (
            not smt,
            message("on: two hardware threads share a core") if smt else message("off"),
        ),
        message(
            "With SMT, two busy threads may share one physical core. Run services and clients on "
            "separate cores with --pin, or turn SMT off: echo off | sudo tee "
            "/sys/devices/system/cpu/smt/control"
        ),
    ),
    Check(
        "cpu_quota",
        lambda cores_quota, cores: (
            cores_quota == UNLIMITED or cores_quota >= cores,
            message("none")
            if cores_quota == UNLIMITED
            else plural(
                "limited to {quota:g} of {count} core",
                "limited to {quota:g} of {count} cores",
                count=cores,
                quota=cores_quota,
            ),
        ),
        message(
            "Linux throttles threads when their control group has used up its CPU quota. Raise the "
            "quota (docker run --cpus), or use --cpuset-cpus instead."
        ),
    ),
    Check(
        "aslr",
        lambda aslr: (
            aslr == FULL_RANDOMISATION,
            _ASLR.get(aslr, message("partly random memory layout")),
        ),
        message(
            "Each process should get a random memory layout. Run: sudo sysctl "
            "kernel.randomize_va_space=2"
        ),
    ),
    Check(
        "native_client",
        lambda native_client: (
            native_client,
            message("ready") if native_client else message("not built"),
        ),
        message(
            "Python clients take CPU time from services. Install cargo (the package of your "
            "distribution is enough), and run: {program} native loadgen",
            program=PROGRAM,
        ),
    ),
)
