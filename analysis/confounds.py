"""Confounds: in what two compared arms differ besides the difference whose effect is measured. They
are facts of the interpreters' builds, hosts, and numbers of processes and threads.

The sources are core/runtime.py: RuntimeFacts and Flags, record/saved_plan.py: HostFacts, and
CellResult.services[].workers, which has an entry for each process of a service. Facts are values by
label; both are messages to show. A host is a machine of the run, by name. analysis/comparing.py
lists the confounds of a comparison. commands/runtimes.py, reports/compare and the machine section
of a report show the facts.
"""

from collections.abc import Mapping, Sequence
from statistics import median_low

from analysis.cell_index import grouped
from analysis.steps import Step
from core.messages import COMMA, NOTHING, Arg, Json, Message, listed, message, verbatim
from core.runtime import Flags, RuntimeFacts, RuntimeName
from record.saved_run import CellResult, Run

YES, NO, UNKNOWN = message("yes"), message("no"), message("unknown")
ON, OFF, MISSING = message("on"), message("off"), message("missing")
VERSION, COMPILER = message("version"), message("compiler")
# labels of the fields of RuntimeFacts
NAMED = {"version": VERSION, "compiler": COMPILER}
# labels of the fields of Flags, in the order in which they are shown
FLAGS = {
    "pgo": message("PGO"),
    "lto": message("LTO"),
    "shared": message("shared library"),
    "debug": message("debug"),
    "tail_call": message("tail-call interpreter"),
    "jit": message("JIT"),
}
# words for flags that are off; a flag that is not here is mentioned only if it is on
WITHOUT = {
    "pgo": message("no PGO"),
    "lto": message("no LTO"),
    "shared": message("static libpython"),
}
# of these flags, a difference is named by the flag itself, except for the JIT
SHORT_FLAGS: Mapping[str, Arg] = {**{name: name for name in FLAGS}, "jit": message("JIT built in")}
# packages that an environment has only if uv did not make it
INSTALLERS = {"pip", "setuptools", "wheel"}
# Ranges of default builds with the incremental collector, by minor and release of RuntimeName; ends
# are exclusive.
INCREMENTAL_GC = (
    ((14, (0, "a", 1)), (14, (5, "release", 0))),
    ((15, (0, "a", 1)), (15, (0, "b", 1))),
)
# labels of the fields of record/saved_plan.py: HostFacts that hosts must have in common
MACHINE: Mapping[str, Message] = {
    "cpu": message("CPU"),
    "cores_usable": message("cores"),
    "kernel": message("kernel"),
    "governor": message("frequency governor"),
}
FEWEST_BLOCKS = 2  # of each arm, for its numbers of processes and threads
Shape = tuple[int, int]  # number of processes, and threads per process
Facts = Mapping[Message, Message]  # values by label


# ---- facts of builds -----------------------------------------------------------------------------


def build_flags(flags: Flags) -> Message:
    """Return the build flags as text: 'PGO, no LTO, static libpython'; empty if unknown, as for
    native programs.
    """
    if any(getattr(flags, name) is None for name in WITHOUT):
        return NOTHING
    on = {name: label for name, label in FLAGS.items() if getattr(flags, name)}
    return listed((WITHOUT | on)[name] for name in FLAGS if name in WITHOUT or name in on)


def build_facts(facts: RuntimeFacts) -> dict[Message, Message]:
    """Return the version, the compiler and the flags of an interpreter as words, by label."""
    words = {True: YES, False: NO, None: UNKNOWN}
    flag_words = {label: words[getattr(facts.flags, name)] for name, label in FLAGS.items()}
    return known(vars(facts), NAMED) | flag_words


def known(facts: Json, labels: Mapping[str, Message]) -> dict[Message, Message]:
    """Return the value of each fact by its label; UNKNOWN if it is missing, 0 or empty.

    labels: the label of each fact's key
    """

    def value(key: str) -> Message:
        return verbatim(str(facts[key])) if facts.get(key) else UNKNOWN

    return {label: value(key) for key, label in labels.items()}


def by_label(facts: Mapping[str, Facts]) -> dict[Message, dict[str, Message]]:
    """Return {label: {name: value}} from {name: {label: value}}."""
    found: dict[Message, dict[str, Message]] = {}
    for name, known_facts in facts.items():
        for label, value in known_facts.items():
            found.setdefault(label, {})[name] = value
    return found


def unlike(facts: Mapping[Message, Mapping[str, Message]], joint: Message = COMMA) -> list[Message]:
    """Return a line for each fact that has different values: 'PGO: yes (3.11), no (3.14t)'.

    facts: values by name
    """
    lines = []
    for label, values in facts.items():
        names = grouped(values, values.__getitem__)
        each = [
            message("{value} ({names})", value=value, names=", ".join(who))
            for value, who in names.items()
        ]
        if len(each) > 1:
            lines.append(message("{label}: {values}", label=label, values=listed(each, joint)))
    return lines


# ---- confounds -----------------------------------------------------------------------------------


def build_confounds(step: Step, runtimes: Mapping[str, RuntimeFacts]) -> list[Message]:
    """Return how two compared builds of Python differ, apart from the difference whose effect is
    measured.

    These are compiler, flags, the incremental garbage collector, the version if it is not the
    cause, and versions of the packages in a user's own environment.
    """
    if not runtimes.keys() >= {*step.arms}:
        return []
    before, after = (_build(arm, runtimes[arm]) for arm in step.arms)
    if {"version", "patch"} & {*step.causes}:
        del before[VERSION]
    rows = [(label, value, after[label]) for label, value in before.items()]
    installed, others = (runtimes[arm].packages for arm in step.arms)
    for file in installed:
        # a user's file; our own pin the same versions for all runtimes
        if file.startswith("/") and file in others:
            mine, theirs = installed[file], others[file]
            for name in sorted({*mine, *theirs} - INSTALLERS):
                versions = (mine.get(name, MISSING), theirs.get(name, MISSING))
                rows.append((message("package {name}", name=name), *versions))
    return [
        message("{name}: {before} versus {after}", name=label, before=value, after=other)
        for label, value, other in rows
        if value != other
    ]


def _build(arm: str, facts: RuntimeFacts) -> dict[Arg, Arg]:
    """Return the facts of an interpreter's build by label: compiler, flags, version and garbage
    collector.
    """
    name = RuntimeName(arm).of_release(facts.version)
    collects = not name.free_threaded and any(
        first <= (name.minor, name.release) < end for first, end in INCREMENTAL_GC
    )
    return {
        COMPILER: facts.compiler,
        **{
            label: (OFF, ON)[bool(getattr(facts.flags, flag))]
            for flag, label in SHORT_FLAGS.items()
        },
        VERSION: facts.version,
        message("incremental garbage collector (3.14.0 to 3.14.4)"): ON if collects else OFF,
    }


def host_confounds(step: Step, run: Run) -> list[Message]:
    """Return how the hosts of a run differ in hardware and in their builds of the two compared
    runtimes.

    Empty for a run on one machine.
    step: the comparison, which names the two runtimes
    """
    hosts = run.machine.hosts
    facts = by_label({name: known(vars(host), MACHINE) for name, host in hosts.items()})
    for runtime in step.arms:
        builds = {
            name: build_facts(host.builds.get(runtime, RuntimeFacts()))
            for name, host in hosts.items()
        }
        for label, values in by_label(builds).items():
            facts[message("{runtime}, {fact}", runtime=runtime, fact=label)] = values
    return [message("hosts differ in {difference}", difference=line) for line in unlike(facts)]


def shape_confounds(
    step: Step, cells: tuple[Sequence[CellResult], Sequence[CellResult]]
) -> list[Message]:
    """Return a list with one confound if the arms had different numbers of processes or threads,
    else [].

    One block does not show whether the numbers vary within an arm.
    """
    one, other = map(measured_shape, cells)
    are_few = min(map(len, cells)) < FEWEST_BLOCKS
    if are_few or not one or not other or not differ(one, other):
        return []
    return [
        message(
            "{denominator} ran with {one} and {numerator} with {other} (processes x threads)",
            denominator=step.denominator, numerator=step.numerator,
            one=shape_text(one), other=shape_text(other),
        )
    ]  # fmt: skip


# ---- processes and threads -----------------------------------------------------------------------


def shape_text(shape: Shape) -> str:
    """Return processes and threads as text: '2 x 4' for 2 processes of 4 threads each."""
    return f"{shape[0]} x {shape[1]}"


def measured_shape(cells: Sequence[CellResult]) -> Shape | None:
    """Return the median numbers of processes and of threads per process that *cells* had.

    None if they are unknown, or if they differ between *cells*, as with a service that starts a
    thread per connection.
    """
    processes, threads = [], []
    for cell in cells:
        of_cell = [worker.threads for service in cell.services for worker in service.workers]
        if of_cell:
            processes.append(len(of_cell))
            threads.append(median_low(of_cell))
    if not threads or differ((min(processes), min(threads)), (max(processes), max(threads))):
        return None
    return median_low(processes), median_low(threads)


def differ(one: Shape, other: Shape) -> bool:
    """Return whether two services differ in processes, or one has over twice the other's threads
    per process.
    """
    return one[0] != other[0] or max(one[1], other[1]) > 2 * min(one[1], other[1])
