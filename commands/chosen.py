"""Choose the runtimes of a run: the requested runtimes that are installed. Print a note for each
missing runtime.

The commands run, plan, stress and runtimes use this module, after config/flags.py has parsed the
flags and before anything is measured. *flags* and *given* are unparsed values by Option.name.
*spread* is the connected hosts of a run across hosts, or None if it uses only this machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.settings import service_names
from commands.output import output
from config.flags import plan_from, value_of
from config.options import Flags
from config.plan_options import (
    BLOCKS,
    CLIENTS,
    DURATION,
    FAIL_IF_SLOWER,
    INTERPRETER,
    PROFILE,
    RESUME,
    UNTIL,
)
from config.run_plan import Plan
from core.messages import AND, NOTHING, BadInput, listed, message
from core.method import ORCHESTRATOR, SAME
from core.program import PROGRAM, ROOT
from core.runtime import NATIVE, RuntimeName
from core.secret import secrets_in
from core.user_service import only_native
from lab import native_builds
from lab.hosts.cluster import HostCluster
from lab.project.commits import with_commits
from lab.project.packages import MANIFEST, REQUIREMENTS
from lab.python import interpreters
from lab.run import feasible
from lab.run.measured_runtimes import AnyRuntime, Runtime, usable
from lab.user_service.command import knows

# a message by the name of each missing runtime
Missing = dict[str, Any]


@contextmanager
def planned(given: Flags) -> Iterator[tuple[Plan, HostCluster | None]]:
    """Yield the plan that the flags describe, and the plan's connected hosts, or None if it uses
    only this machine.

    The hosts are disconnected at the end of the `with` block.
    The topology `cores` uses the core count of the services' host. Raises BadInput.
    """
    plan = plan_from(given)
    expect_search(plan, given)
    # the plan is made again, because only connected hosts tell how many cores they have
    with opened(plan) as spread:
        yield plan_from(given, spread.cores) if spread else plan, spread


def opened(plan: Plan) -> AbstractContextManager[HostCluster | None]:
    """Return the connected hosts of the plan, or None if everything runs on this machine. Raises
    BadInput.
    """
    return HostCluster(plan.layout, plan.method) if plan.layout else nullcontext()


def expect_search(plan: Plan, given: Flags) -> None:
    """Raise BadInput for options that --slo would ignore."""
    is_profiled = given.get("profile") is not None
    ignored = {
        BLOCKS: given.get("blocks") is not None,
        UNTIL: bool(plan.until),
        FAIL_IF_SLOWER: bool(plan.fail_if_slower),
        # a plan may have a duration, for runs without --slo; 0 means a number of requests
        DURATION: given.get("duration") is not None or not plan.method.duration_s,
        PROFILE: is_profiled,
    }
    flags_given = [option.flag for option, is_given in ignored.items() if is_given]
    if plan.objectives and flags_given:
        raise BadInput(
            "--slo chooses the rates, durations and number of measurements itself{profile}. Remove "
            "{flags}.",
            profile=message(", and it cannot profile the service") if is_profiled else NOTHING,
            flags=listed(flags_given, AND),
        )


def choose_runtimes(
    plan: Plan, flags: Flags, spread: HostCluster | None = None
) -> tuple[Plan, dict[str, AnyRuntime], Missing]:
    """Check out the plan's commits, find its runtimes, and print notes. Return three values: *plan*
    without missing runtimes; all installed runtimes; a message for each missing runtime.

    Missing patch releases are installed. From now on, *output* hides the plan's secrets. The second
    value may include the clients' runtime, which is no arm. Raises BadInput.
    """
    output.hide(one.reveal() for one in secrets_in(plan.user_service))
    plan = _with_clients(with_commits(plan), flags)
    client = plan.method.client_runtime
    extra = () if client in (SAME, ORCHESTRATOR) else (client,)
    runtimes, missing = find_runtimes((*plan.runtimes, *extra), flags, spread)
    if extra and client not in runtimes:
        raise BadInput("The clients' runtime is missing: {reason}", reason=missing[client])
    arms = tuple(name for name in plan.runtimes if name in runtimes)
    _expect_distinct({name: runtimes[name] for name in arms})
    _note_variables(plan, [name for name in arms if not name.native])
    _note_folders(plan)
    if flags.get("plan"):  # flags are completed from the project
        _note_packages(plan)
    chosen = replace(plan, runtimes=arms)
    service = plan.user_service
    is_alone = len(arms) == 1 and not (service and (service.variants or service.targets))
    if plan.fail_if_slower and is_alone:
        raise BadInput(
            "--fail-if-slower needs two runtimes or variants, but {runtime} alone is measured. Add "
            "a runtime with --runtime, or variants with --variant.",
            runtime=arms[0],
        )
    if not chosen.cells():
        raise BadInput(
            "System {systems} cannot be measured under {runtimes}. Name another runtime, such as "
            "3.14.",
            systems=plan.systems,
            runtimes=arms,
        )
    return chosen, runtimes, missing


def _with_clients(plan: Plan, flags: Flags) -> Plan:
    """Return *plan*, changed to Python clients if the native client is not built and no flag
    requests this client.

    Raises BadInput if only the native client can send the plan's requests, and is not built or not
    chosen.
    """
    service, client = plan.user_service, plan.method.client_runtime
    needed_for = only_native(service.protocol, service.requests) if service else ""
    if needed_for and client != NATIVE:
        raise BadInput(
            "{what} needs the native client, but the clients' runtime is {client}. Set "
            "--client-runtime native, which is the default.",
            what=needed_for,
            client=client,
        )
    wanted = [system.native_client.name for system in plan.systems.values() if system.native_client]
    reasons = list(filter(None, map(native_builds.missing, dict.fromkeys(wanted))))
    if needed_for and reasons:
        raise BadInput(
            "{what} needs the native client, which is {reason}. Install cargo (the package of your "
            "distribution is enough), and run: {program} native loadgen",
            what=needed_for,
            reason=reasons[0],
            program=PROGRAM,
        )
    if plan.layout and service and service.requests.has_files:
        reasons.append(message("not able to send a body_file from another host"))
    has_native = not reasons and (wanted or not service)
    # a resumed run keeps the clients of the saved plan
    if client != NATIVE or has_native or flags.get(CLIENTS.name) or flags.get(RESUME.name):
        return plan
    if reasons:
        output.note(
            "Python clients are used, because the native client is {reason}. The native client "
            "would leave more CPU to the services.",
            reason=reasons[0],
        )
    return replace(plan, method=replace(plan.method, client_runtime=_python_clients(plan)))


def _python_clients(plan: Plan) -> str:
    """Return the runtime of Python clients. For a user's service, all arms have the
    same clients.
    """
    if plan.user_service is None:
        return SAME
    return (
        plan.runtimes[0] if plan.layout else ORCHESTRATOR
    )  # other hosts do not have the orchestrator's Python


def without_absent(plan: Plan, runtimes: Mapping[str, AnyRuntime]) -> Plan:
    """Make the environments that the systems need, and print what cannot be measured here. Return
    the plan without these systems and runtimes.

    Raises BadInput if nothing is left to measure, or if two variants do not differ.
    """
    possible, names = feasible.drop_absent(plan, runtimes), service_names(plan.user_service)
    for reason in dict.fromkeys(possible.absent.values()):
        pairs = [
            message(
                "{system} under {runtimes}",
                system=names.get(system) or message("system {system}", system=system),
                runtimes=runtime,
            )
            for (system, runtime), other in possible.absent.items()
            if other == reason
        ]
        output.note("Not measured: {systems}. Reason: {reason}", systems=pairs, reason=reason)
    if not possible.cells():
        raise BadInput("No system can be measured. The notes above say what each system needs.")
    feasible.expect_different(possible, runtimes)
    return possible


def find_runtimes(
    names: tuple[RuntimeName, ...], flags: Flags, spread: HostCluster | None = None
) -> tuple[dict[str, AnyRuntime], Missing]:
    """Print a note for each missing runtime. Return the installed runtimes and these messages, both
    by name. Raises BadInput if none is installed.
    """
    if spread and value_of(INTERPRETER, flags, {}):
        raise BadInput(
            "--interpreter names a path on this machine, but the run uses other hosts. Set the key "
            "`python` of each host instead."
        )
    runtimes = spread.runtimes(names) if spread else _here(names, flags)
    absent = spread.missing if spread else interpreters.missing
    missing: Missing = {name: absent(name) for name in names if name not in runtimes}
    refused = [] if spread else interpreters.refused(name for name in missing if name != NATIVE)
    for line in dict.fromkeys([*missing.values(), *refused]):
        output.note(line)
    if not runtimes:
        raise BadInput(
            "None of the runtimes {names} was found. Install one with: uv python install 3.14t",
            names=names,
        )
    return runtimes, missing


def _here(names: tuple[RuntimeName, ...], flags: Flags) -> dict[str, AnyRuntime]:
    """Find the runtimes *names* on this machine. If one names a patch release that is missing, try
    to install it with uv. Raises BadInput if that fails.
    """
    binaries = [name for name in names if name != NATIVE]
    given = value_of(INTERPRETER, flags, {})
    found = interpreters.find(binaries, given)
    if absent := [name for name in binaries if name.patch and name.binary not in found]:
        for line in interpreters.install(absent):
            output.note(line)
        found = interpreters.find(binaries, given)
        for name in absent:
            if name.binary not in found:
                raise BadInput(interpreters.missing(name))
    return usable(names, found, None if flags.get("quiet") else output.note)


def _expect_distinct(runtimes: Mapping[str, AnyRuntime]) -> None:
    """Raise BadInput if two runtime names mean the same CPython release with the same GIL and JIT
    state.
    """
    seen: dict[Any, str] = {}
    for name, runtime in runtimes.items():
        if isinstance(runtime, Runtime):
            first = seen.setdefault((runtime.interpreter.label, runtime.name.suffixes), name)
            if first != name:
                raise BadInput(
                    "Runtimes {first} and {name} are both CPython {label}. Leave out one of them. "
                    "To measure one runtime twice, use --aa. To compare two builds of one release, "
                    "measure each in a run of its own and use `compare`.",
                    first=first,
                    name=name,
                    label=runtime.interpreter.label,
                )


def _note_variables(plan: Plan, names: Sequence[RuntimeName]) -> None:
    """Print which builds do not get a variable of the service, because they do not know it, and
    which settings of --vary are passed as variables, because nobody can see whether they are read.
    """
    commands = plan.user_service.commands if plan.user_service else []
    unread = [
        name
        for command in commands
        for name in command.knobs
        if f"{{{name}}}" not in str(command.command)
    ]
    passed = [*dict.fromkeys(unread)]
    if passed:
        output.note(
            "gilscope passes {names} from --vary as environment variables, because the command "
            "does not contain {place}. Check that the service reads them, because gilscope "
            "cannot see this.",
            names=listed(passed, AND),
            place=f"{{{passed[0]}}}",
        )
    given = chain.from_iterable(one.environment for one in commands)
    for variable in dict.fromkeys([*given, *passed]):
        without = [name for name in names if not knows(variable, name.minor, name.free_threaded)]
        if without:
            output.note(
                "{variable} is not passed to {names}, which ignore this variable or do not "
                "start when it is set.",
                variable=variable,
                names=listed(without, AND),
            )


def _note_folders(plan: Plan) -> None:
    """Print which variants do not start in the folder in which --prepare runs."""
    service = plan.user_service
    command = service.command if service else None
    if service is None or command is None:
        return
    elsewhere = [
        name for name, one in service.variants.items() if one.directory != command.directory
    ]
    if plan.prepare and elsewhere:
        output.note(
            "--prepare runs in {folder}, but {variants} start in folders of their own. Name the "
            "files that it makes by absolute paths.",
            folder=command.directory,
            variants=listed(elsewhere, AND),
        )


def _note_packages(plan: Plan) -> None:
    """Print that a plan file without `requirements` installs no packages of its project."""
    command = plan.user_service.command if plan.user_service else None
    if command is None or command.requirements or "{python}" not in str(command.command):
        return
    folder = Path(command.directory)
    declared = [name for name in (MANIFEST, REQUIREMENTS) if (folder / name).is_file()]
    if declared and not ROOT.is_relative_to(folder):
        output.note(
            "Packages: {packages}. Those of {file} are not installed, because requirements is "
            "missing in the plan.",
            packages=listed(command.packages) or message("none"),
            file=declared[0],
        )
