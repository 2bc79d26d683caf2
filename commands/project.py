"""Find in a project what flags leave out of a user's service, and print each choice with its reason."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from config.beside import PLACES, WITH
from config.flags import value_of
from config.load import load_experiment
from config.options import parsed
from config.plan_options import BLOCKS, EXPERIMENT, INTERPRETER, UNTIL
from config.user_service.flags import plan_from_service_flags, service_from
from config.user_service.options import ENVIRONMENT, EXTRA, GROUP
from config.user_service.servers import SERVERS, USUAL, WSGI
from core.errors import BadInput
from core.messages import AND, Arg, Message, listed, message
from core.program import ROOT
from core.secret import revealed
from lab.environments.environment import EnvironmentFailed, installed_packages, requirements_file
from lab.places import ENVIRONMENTS
from lab.project import packages
from lab.project.application import Application, look_at
from lab.python import interpreters
from lab.run.runtimes import Runtime, present

PAIRS = (("3.14", "3.14t"), ("3.15", "3.15t"))
UNTIL_DECIDED = "verdict,3min"
Note = Callable[[Arg], None]


def with_project(flags: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return *flags* with what they leave out: packages, runtimes, server, and when a run ends.

    Only --app and --service-command are completed, because a plan names everything itself. Raises BadInput.
    """
    filled = dict(flags)
    if not (flags["app"] or flags["service_command"]):
        return filled
    _expect_mendable(flags)
    filled["requirements"] = flags["requirements"] or _requirements(flags, note)
    filled["runtime"] = flags["runtime"] or _of_experiment(flags) or _runtimes(flags, note)
    if flags["app"] and not (flags["server"] and flags["interface"]):
        filled |= _served(filled, note)
    if not flags["request"] and not flags["requests"]:
        note(message("Request: GET / (--request names another)"))
    if BLOCKS.name in flags and not (flags[BLOCKS.name] or flags[UNTIL.name] or flags[EXPERIMENT.name]):
        filled[UNTIL.name] = UNTIL_DECIDED
        note(message("Blocks: until there is a verdict, for 3 minutes at most (--blocks or --until say otherwise)"))
    return filled


def _of_experiment(flags: Mapping[str, Any]) -> str:
    """Return the runtimes of the plan that says how to measure; empty without one."""
    name = flags.get(EXPERIMENT.name)
    return ",".join(load_experiment(name).runtimes) if name else ""


def _expect_mendable(flags: Mapping[str, Any]) -> None:
    """Raise BadInput for flags that nothing in a project could correct, before anything is installed."""
    usual: dict[str, Any] = {"requirements": os.devnull}
    if flags["app"]:
        usual["server"] = USUAL.get(flags["interface"] or WSGI)
    plan_from_service_flags({**flags, **{name: value for name, value in usual.items() if not flags[name]}})


def _folder(flags: Mapping[str, Any]) -> Path:
    return Path(flags["directory"] or ".").absolute()


def _requirements(flags: Mapping[str, Any], note: Note) -> str | None:
    """Return a requirements file of the project; None if it declares nothing, and in gilscope's own checkout."""
    folder = _folder(flags)
    if ROOT.is_relative_to(folder):
        return None
    needed = packages.needs(folder, flags[EXTRA.name], flags[GROUP.name])
    if needed is None:
        note(message("Packages: none; {folder} has no pyproject.toml or requirements.txt", folder=str(folder)))
        return None
    if needed.installs:
        note(message("Packages: the project itself and what it needs, by {source}", source=needed.source))
    else:
        note(message("Packages: by {source}", source=needed.source))
    if len(needed.entries) == 1 and needed.entries[0].startswith("-r "):
        return needed.entries[0].removeprefix("-r ")
    return requirements_file("", needed.entries, ENVIRONMENTS) or None


def _runtimes(flags: Mapping[str, Any], note: Note) -> str:
    """Return the default and the free-threaded build of one version, which are installed or can be."""
    if flags.get("hosts"):
        return ",".join(PAIRS[0])
    given = value_of(INTERPRETER, flags, {})
    there = interpreters.find([name for pair in PAIRS for name in pair], given)
    pair = max(PAIRS, key=lambda names: sum(name in there for name in names))
    missing = [name for name in pair if name not in there]
    for line in interpreters.install(missing):
        note(line)
    if missing:
        note(message("Runtimes: {names}; uv installs {missing}", names=listed(pair, AND), missing=listed(missing, AND)))
    else:
        note(message("Runtimes: {names}, which are here (--runtime names others)", names=listed(pair, AND)))
    return ",".join(pair)


def _served(flags: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return server and interface, and the application with () if it is a function that makes one."""
    python = _python(flags)
    seen = look_at(flags["app"], python, _folder(flags), _variables(flags))
    if not (flags["interface"] or seen.interface):
        raise _no_interface(flags["app"], seen)
    app = flags["app"] if flags["app"].endswith("()") or not seen.factory else f"{flags['app']}()"
    interface = flags["interface"] or seen.interface
    note(message("Application: {app} is {interface} ({kind})", app=app, interface=interface.upper(), kind=seen.kind))
    server, why = _server(flags["server"], interface, installed_packages(python))
    if why:
        note(message("Server: {server}, {why} (--server names another)", server=server, why=why))
    return {"app": app, "server": server, "interface": interface}


def _server(given: str | None, interface: str, installed: Mapping[str, str]) -> tuple[str, Message | None]:
    """The server, and why; the project's own, if it has one for this interface."""
    if given:
        return given, None
    own = [name for name, server in SERVERS.items() if name in installed and interface in server.interfaces]
    if own:
        return own[0], message("which the project has")
    return USUAL[interface], message("usual for {interface}", interface=interface.upper())


def _python(flags: Mapping[str, Any]) -> Path:
    """Return the interpreter of the first runtime that can have the packages. Raises EnvironmentFailed, BadInput."""
    names = tuple(str(flags["runtime"]).split(","))
    runtimes: dict[str, Runtime] = present(names, interpreters.find(names, value_of(INTERPRETER, flags, {})))
    failure: EnvironmentFailed | None = None
    for runtime in runtimes.values():
        try:
            return runtime.python(str(Path(flags["requirements"]).absolute()) if flags["requirements"] else "")
        except EnvironmentFailed as failed:
            failure = failure or failed
    raise failure or BadInput(interpreters.missing(names[0]))


def _variables(flags: Mapping[str, Any]) -> dict[str, str]:
    values = parsed((ENVIRONMENT,), service_from(flags), Path.cwd())
    nowhere = dict.fromkeys(PLACES, "1")  # it is imported here, and connects later
    beside = [one.variables(nowhere) for one in value_of(WITH, flags, ())]
    own = {name: revealed(text) for name, text in values.get(ENVIRONMENT.key, {}).items()}
    return {name: text for variables in (*beside, own) for name, text in variables.items()}


def _no_interface(app: str, seen: Application) -> BadInput:
    return BadInput(
        "{app} is {kind}, which is neither WSGI nor ASGI. Give the command that serves it: --service-command "
        "'{{python}} -m ... {{port}}'; or say what it is with --interface.",
        app=app,
        kind=seen.kind,
    )
