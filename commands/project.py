"""Fill in missing flags of a user's service from its project, and print each choice with its
reason.

The commands run, plan, stress and init call complete_from_project() before they make a plan.
*flags* are unparsed values by Option.name, and so are those that are filled in. *note* prints a
choice: it takes a text or a message, and the arguments of a text.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commands.chosen import expect_search
from commands.estimate import no_verdict
from config.flags import plan_from, value_of
from config.load import load_experiment
from config.options import Flags, given_flags, parsed
from config.plan_options import BLOCKS, BUDGET, EXPERIMENT, INTERPRETER, RUNTIMES, SLO, UNTIL
from config.run_plan import Plan
from config.sidecar_options import PLACES, WITH
from config.user_service.service import SERVERS, USUAL, WSGI
from config.user_service.service_flags import service_from
from config.user_service.service_options import (
    ENVIRONMENT,
    EXTRA,
    GROUP,
    IGNORE_PYTHON,
    PACKAGES,
    VARIANTS,
    VARY,
)
from core.messages import AND, NOTHING, BadInput, Message, Value, chained, listed, message
from core.method import cores_usable
from core.program import ROOT
from core.runtime import GIL, NATIVE, OLDEST_MINOR, SWITCHES, RuntimeName
from core.secret import revealed
from lab.environments.environment import EnvironmentFailed, installed_packages, requirements_file
from lab.project import packages
from lab.project.application import inspect_application
from lab.project.commits import COMMIT_DIGITS, check_out
from lab.python import interpreters
from lab.run.measured_runtimes import Runtime, present

# The default and the free-threaded build of a version. The first pair with most builds installed is
# measured if no flag names runtimes.
PAIRS = tuple((RuntimeName(name), RuntimeName(f"{name}t")) for name in ("3.14", "3.15"))
# the value of --until for a user's service; the text of UNTIL names it (config/plan_options.py)
UNTIL_DECIDED = "verdict,3min"
# A third runtime is measured if the time is enough for so many times the fewest blocks: services
# that start slowly need more time than is estimated.
SPARE = 1.5
Note = Callable[..., None]


def complete_from_project(flags: Flags, note: Note) -> dict[str, Any]:
    """Fill in missing flags from the user's project: packages, runtimes, server, and when the run
    ends.

    This may install runtimes and packages, check out commits, and import the application.
    Only flags with --app or --service-command are completed, because a plan is complete. Raises
    BadInput.
    note: prints a message, given as its text and arguments
    """
    filled = dict(flags)
    if not (flags["app"] or flags["service_command"]):
        return filled
    if flags.get("quiet"):
        note = _no_note
    draft, bound = _draft(flags), _bound(flags)
    method = load_experiment(flags[EXPERIMENT.name]).runtimes if flags.get(EXPERIMENT.name) else ()
    filled["runtime"] = flags["runtime"] or ",".join(method) or _runtimes(flags, draft, bound, note)
    names = value_of(RUNTIMES, filled)
    _expect_accepted(names, bound)
    filled["requirements"] = flags["requirements"] or _requirements(flags, names, note)
    if given := flags.get(VARIANTS.name):
        filled[VARIANTS.name] = [*given, *_of_variants(flags, names, note)]
    if flags["app"] and not (flags["server"] and flags["interface"]):
        filled |= _choose_server(filled, note)
    if not flags["request"] and not flags["requests"]:
        note("Request: GET / (change it with --request)")
    if _ends_by_default(flags):
        filled[UNTIL.name] = UNTIL_DECIDED
        note(
            "End: the run ends with a verdict, or after at most 3 minutes (change this with "
            "--blocks or --until)"
        )
    return filled


def _no_note(text: str | Message, /, **args: Value) -> None:
    """Print nothing, for --quiet."""


def _ends_by_default(flags: Flags) -> bool:
    """Return whether *flags* are for a run, and none of them says when the run ends."""
    # init and stress have no --blocks
    return BLOCKS.name in flags and not given_flags((BLOCKS, UNTIL, BUDGET, EXPERIMENT, SLO), flags)


def _draft(flags: Flags) -> Plan:
    """Return the plan for a project that has only the application. Raises BadInput.

    Therefore, flags that are wrong for every project are refused before any package or runtime is
    installed.
    """
    # an empty file, so that nothing is installed
    usual: dict[str, Any] = {"requirements": os.devnull}
    if flags["app"]:
        usual["server"] = USUAL.get(flags["interface"] or WSGI)
        if flags["server"] in SERVERS:
            usual["interface"] = SERVERS[flags["server"]].interfaces[
                -1
            ]  # WSGI if possible: it allows all topologies
    if _ends_by_default(flags):
        usual[UNTIL.name] = UNTIL_DECIDED
    plan = plan_from({**flags, **{name: value for name, value in usual.items() if not flags[name]}})
    expect_search(plan, flags)
    expect_python(plan, flags)
    return plan


def expect_python(plan: Plan, flags: Flags) -> None:
    """Raise BadInput if --runtime names no runtime under which the user's service can
    be measured.
    """
    if (
        flags["runtime"] is not None
        and not replace(plan, runtimes=value_of(RUNTIMES, flags)).cells()
    ):
        raise BadInput(
            "--runtime is {names}, but your own service needs a Python runtime. Name one, such as "
            "3.14t.",
            names=flags["runtime"],
        )


def _bound(flags: Flags) -> packages.PythonBound:
    """Return the Python versions that the project accepts. gilscope itself accepts all."""
    if ROOT.is_relative_to(_folder(flags)) or flags[IGNORE_PYTHON.name]:
        return packages.PythonBound()
    return packages.python_bound(_folder(flags))


def accepted(flags: Flags, names: Sequence[RuntimeName]) -> str:
    """Return the runtimes of *names* that the project accepts, separated by commas; all of them if
    it accepts none.
    """
    bound = _bound(flags)
    return ",".join([name for name in names if bound.accepts(name)] or names)


def _expect_accepted(names: Sequence[RuntimeName], bound: packages.PythonBound) -> None:
    """Raise BadInput if the project does not accept the Python version of a runtime."""
    if excluded := [name for name in names if not bound.accepts(name)]:
        raise BadInput(
            "{file} accepts only Python {bound}, so the project cannot be measured under {names}. "
            "Choose other runtimes with --runtime, or measure it anyway with {flag}.",
            file=str(bound.file),
            bound=bound.text,
            names=listed(excluded, AND),
            flag=IGNORE_PYTHON.flag,
        )


def _folder(flags: Flags) -> Path:
    return Path(flags["directory"] or ".").absolute()


def _requirements(flags: Flags, names: Sequence[RuntimeName], note: Note) -> str | None:
    """Return the project's requirements file. Return None if the project declares no packages or is
    gilscope itself.

    The file may be a new one beside the environments.
    names: the runtimes for which the packages are
    """
    folder = _folder(flags)
    if ROOT.is_relative_to(folder):
        return None
    oldest = min((name.minor for name in names if not name.native), default=OLDEST_MINOR)
    needed = packages.read_dependencies(
        folder, flags[EXTRA.name], flags[GROUP.name], f"3.{oldest}", note
    )
    if needed is None:
        note(
            "Packages: none, because {folder} has no pyproject.toml or requirements.txt",
            folder=folder,
        )
        return None
    project = message(
        "Packages: the project and its dependencies, from {source}", source=needed.source
    )
    note(project if needed.installs else message("Packages: from {source}", source=needed.source))
    if len(needed.entries) == 1 and needed.entries[0].startswith("-r "):
        return needed.entries[0].removeprefix("-r ")
    return requirements_file("", needed.entries, needed.file) or None


def _of_variants(flags: Flags, names: Sequence[RuntimeName], note: Note) -> Iterator[str]:
    """Yield the requirements of each variant with files of its own, as a value of --variant."""
    for name, given in service_from(flags).get(VARIANTS.key, {}).items():
        folder = Path(given["directory"]).absolute() if "directory" in given else _folder(flags)
        if "ref" in given:
            commit, folder = check_out(folder, given["ref"])
            note("Variant {name}: commit {commit}", name=name, commit=commit[:COMMIT_DIGITS])
        # here, *packages* are entries of a variant, rather than the module lab.project.packages
        packages = parsed((PACKAGES,), given, Path.cwd()).get(PACKAGES.key, ())
        has_file = any(Path(one).is_absolute() for one in packages)
        if folder != _folder(flags) and not has_file and not flags["requirements"]:
            file = _requirements({**flags, "directory": str(folder)}, names, note)
            # an empty file keeps the requirements of the service from being used
            yield f"{name}:requirements={file or os.devnull}"


def _runtimes(flags: Flags, draft: Plan, bound: packages.PythonBound, note: Note) -> str:
    """Return the names of the builds of one Python version to compare. Install missing builds.

    The builds are the default and the free-threaded build, and between them the free-threaded build
    with its GIL on if the run has enough blocks (repetitions) for a verdict on three runtimes. The
    project accepts their version.
    """
    pairs = [pair for pair in PAIRS if bound.accepts(pair[0])] or PAIRS
    pair, missing = pairs[0], list[RuntimeName]()
    if not flags.get("hosts"):
        there = interpreters.find([*itertools.chain(*pairs)], value_of(INTERPRETER, flags, {}))
        pair = max(pairs, key=lambda names: sum(name in there for name in names))
        missing = [name for name in pair if name not in there]
    _expect_accepted(pair, bound)
    for line in interpreters.install(missing):
        note(line)
    names, said = [*pair], list[Message]()
    if BLOCKS.name in flags and not (flags.get(VARIANTS.name) or flags.get(VARY.name)):
        names.insert(1, RuntimeName(f"{pair[1]}+{GIL}"))
        if against := _against_three(replace(draft, runtimes=tuple(names))):
            said.append(
                message("{name} is left out, because {reason}", name=names.pop(1), reason=against)
            )
    if missing:
        said.append(message("uv installs {missing}", missing=listed(missing, last=AND)))
    note(
        "Runtimes: {names} (change them with --runtime)",
        names=chained([listed(names, last=AND), *said]),
    )
    return ",".join(names)


def _against_three(plan: Plan) -> Message:
    """Return why *plan* should not measure three runtimes, or NOTHING."""
    if plan.objectives:
        return message("a search takes minutes for each runtime")
    is_short = no_verdict(plan, cores_usable(), SPARE)
    return message("this run is too short for verdicts on three runtimes") if is_short else NOTHING


def _choose_server(flags: Flags, note: Note) -> Flags:
    """Import the application under its interpreter. Return the flags app, server and interface. The
    name of an application factory gets a final (). Raises BadInput.
    """
    python = _python(flags, note)
    environment = parsed((ENVIRONMENT,), service_from(flags), Path.cwd()).get(ENVIRONMENT.key, {})
    variables: dict[str, str] = {}
    for program in value_of(WITH, flags, ()):
        # the application is only imported here, and connects later
        variables |= program.variables(dict.fromkeys(PLACES, "1"))
    variables |= {name: revealed(text) for name, text in environment.items()}
    for switch in SWITCHES.values():
        variables.pop(switch.variable, None)  # some builds do not start with it
    seen = inspect_application(flags["app"], python, _folder(flags), variables)
    interface = flags["interface"] or seen.interface
    if not interface:
        raise BadInput(
            "{app} is {kind}, which is neither WSGI nor ASGI. Give the command that serves it: "
            "--service-command '{{python}} -m ... {{port}}'. Or name its interface with "
            "--interface.",
            app=flags["app"],
            kind=seen.kind,
        )
    app = flags["app"]
    if seen.factory and not app.endswith("()"):
        app += "()"
    note(
        "Application: {app} is {interface} ({kind})",
        app=app,
        interface=interface.upper(),
        kind=seen.kind,
    )
    server = flags["server"]
    if not server:
        fitting = [name for name, one in SERVERS.items() if interface in one.interfaces]
        installed = installed_packages(python)
        own = [name for name in fitting if name in installed]
        server = own[0] if own else USUAL[interface]
        why = message("the default server for {interface}", interface=interface.upper())
        if own:
            why = message("found among your project's packages")
        note("Server: {server}, {why} (change it with --server)", server=server, why=why)
    return {"app": app, "server": server, "interface": interface}


def _python(flags: Flags, note: Note) -> Path:
    """Make an environment with the project's packages for the first runtime for which this is
    possible, and return its interpreter.

    Raises EnvironmentFailed, BadInput.
    """
    names = [name for name in map(RuntimeName, str(flags["runtime"]).split(",")) if name != NATIVE]
    runtimes: dict[str, Runtime] = present(
        names, interpreters.find(names, value_of(INTERPRETER, flags, {})), note
    )
    failure: EnvironmentFailed | None = None
    for runtime in runtimes.values():
        try:
            return runtime.python(
                str(Path(flags["requirements"]).absolute()) if flags["requirements"] else ""
            )
        except EnvironmentFailed as failed:
            failure = failure or failed
    raise failure or BadInput(interpreters.missing(names[0]))
