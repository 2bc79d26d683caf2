"""A plan for a user's own service, from what a YAML file (key `service`) or flags say. docs/own-service.md."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config import own, servers
from config.own import LAST_PORT, START_DEADLINE_S, Own, Target
from config.own_requests import file_in, refuse, requests_of
from config.own_targets import target
from config.plan import DEFAULT_RUNTIMES, Plan, Row
from core.cell import Value
from core.errors import BadInput
from core.method import LONGEST_S, ORCHESTRATOR, Method, Warmup
from core.runtime import NATIVE
from systems import every

KEYS = (
    "name",
    "command",
    "app",
    "server",
    "interface",
    "targets",
    "protocol",
    "requirements",
    "directory",
    "environment",
    "port",
    "start_deadline",
    "topology",
    "requests",
    "think_time",
    "rate",
)
PROTOCOLS = ("http", "framed")
METHOD = Method(warmup=Warmup(share=0.1), duration_s=2.0, client_runtime=ORCHESTRATOR)
BLOCKS = 8  # the fewest that can bring a verdict for the four comparisons of four runtimes: reports.significance
DEFAULTS: dict[str, int] = {
    "NUM_API_SERVICES": 1,
    "NUM_CLIENTS": 2,
    "NUM_CONNECTIONS_PER_CLIENT": 8,
    "NUM_REQUESTS_PER_CLIENT": 1000,
}
THREADS = 8
VIEW = "targets"
NOT_NAMES = ("all", NATIVE)
NOT_TEXTS = ("targets", "environment", "requests")
NOT_OF_TARGETS = (
    "server",
    "interface",
    "requirements",
    "directory",
    "environment",
    "port",
    "start_deadline",
    "topology",
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_APP = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(\(\))?")


def own_plan(given: Mapping[str, Any], folder: Path, defaults: Mapping[str, tuple[Value, ...]] | None = None) -> Plan:
    """The plan that *given* (texts, by KEYS) asks for, and makes its systems known to this process.

    folder: where relative paths begin. defaults: values of parameters, in place of DEFAULTS. Raises BadInput.
    """
    if not isinstance(given, dict) or not given.keys() <= set(KEYS):
        raise BadInput(f"service is {given!r}; it must be a mapping with keys of {', '.join(KEYS)}.")
    _expect_texts(given)
    chosen = _own(given, folder)
    names = chosen.register()
    return Plan(
        name=chosen.name,
        rows=_rows(chosen, names, given.get("topology"), defaults or {}),
        runtimes=(NATIVE,) if chosen.targets else DEFAULT_RUNTIMES,
        blocks=BLOCKS,
        method=METHOD,
        view=VIEW if chosen.targets else "",
        own=chosen,
    )


def _own(given: Mapping[str, Any], folder: Path) -> Own:
    ways = [key for key in ("command", "app", "targets") if key in given]
    if len(ways) != 1:
        raise BadInput(f"a service is a command, an app or targets: exactly one of them; given are {ways or 'none'}.")
    asked = requests_of(given, folder, _protocol(given))
    name = _named(str(given.get("name", "targets" if "targets" in given else "own")))
    if "targets" in given:
        refuse(given, "targets", NOT_OF_TARGETS)
        return Own(name=name, requests=asked, targets=_targets(given))
    package, command = _command(given)
    requirements = str(file_in(folder, given["requirements"])) if "requirements" in given else ""
    own.check_command(command, has_environment=bool(requirements or package))
    return Own(
        name=name,
        command=command,
        directory=str(_directory(folder, str(given.get("directory", ".")))),
        environment=_environment(given.get("environment", {})),
        requirements=requirements,
        packages=(package,) if package else (),
        first_port=_port(str(given.get("port", "0"))),
        start_deadline_s=_start_deadline(given.get("start_deadline", f"{START_DEADLINE_S:g}")),
        protocol=_protocol(given),
        requests=asked,
    )


def _rows(
    chosen: Own, names: list[str], topology: str | None, defaults: Mapping[str, tuple[Value, ...]]
) -> tuple[Row, ...]:
    values: dict[str, tuple[Value, ...]] = {name: (value,) for name, value in DEFAULTS.items()}
    values["RATE"] = (chosen.requests.rate,)
    if "{threads}" in chosen.command:
        values[own.THREADS] = (THREADS,)
    values |= {name: value for name, value in defaults.items() if name in values}
    if topology is None:
        return tuple(Row(system=name, values=values) for name in names)
    shapes = [{own.WORKERS: (one,), own.THREADS: (each,)} for one, each in own.shapes(topology, chosen.command)]
    return tuple(Row(system=names[0], values={**values, **shape}, fixed=tuple(shape)) for shape in shapes)


def _command(given: Mapping[str, Any]) -> tuple[str, str]:
    """The package of the server, if one is named, and the command."""
    if "command" in given:
        refuse(given, "command", ("server", "interface"))
        return "", str(given["command"])
    app = str(given["app"])
    if not _APP.fullmatch(app):
        raise BadInput(f"app is {app!r}; it must be MODULE:NAME, such as shop.web:app.")
    if "server" not in given:
        raise BadInput(f"app is {app}, and no server is named; give one of {', '.join(servers.SERVERS)}.")
    name, interface = str(given["server"]), str(given.get("interface", ""))
    found, _ = servers.server(name, interface)
    return found.package, servers.command(name, app, interface)


def _targets(given: Mapping[str, Any]) -> tuple[Target, ...]:
    asked = given["targets"]
    if not isinstance(asked, dict) or not asked:
        raise BadInput(f"targets is {asked!r}; it must be a mapping such as {{old: 'http://127.0.0.1:8000/'}}.")
    return tuple(target(_named(name), str(url), _protocol(given)) for name, url in asked.items())


def _expect_texts(given: Mapping[str, Any]) -> None:
    """Raises BadInput for a list or a mapping where a text belongs, and for one that no program can be told."""
    for key, value in given.items():
        if key not in NOT_TEXTS and not (isinstance(value, str) and "\0" not in value):
            raise BadInput(f"{key} is {value!r}; it must be a text.")


def _environment(asked: Any) -> dict[str, str]:
    if not isinstance(asked, dict):
        raise BadInput(
            f"environment is {asked!r}; it must be a mapping such as {{LOG_LEVEL: warning}}. "
            "Leave it out where there is nothing to add."
        )
    for name, value in asked.items():
        if not (isinstance(value, str) and re.fullmatch(r"[^=\0]+", name)) or "\0" in value:
            raise BadInput(f"environment has {name!r}: {value!r}; it must be a name without = and a text.")
    return asked


def _named(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise BadInput(f"the name is {text!r}; it must be letters, digits and . _ - and begin with a letter.")
    taken = [one for one in every() if text in (one.key, one.name) and one.group != own.GROUP]
    if taken or text in NOT_NAMES:
        raise BadInput(f"the name is {text}, which has a meaning of its own already; choose another with --name.")
    return text


def _protocol(given: Mapping[str, Any]) -> str:
    protocol = str(given.get("protocol", "http"))
    if protocol not in PROTOCOLS:
        raise BadInput(f"protocol is {protocol}; it must be one of {', '.join(PROTOCOLS)}.")
    return protocol


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > LAST_PORT:
        raise BadInput(f"port is {text}; it must be the first port, a whole number from 1 to {LAST_PORT}, or left out.")
    return int(text)


def _start_deadline(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{1,3})?)(s|min)?", text.strip())
    seconds = float(match[1]) * (60 if match[2] == "min" else 1) if match else 0.0
    if not 0 < seconds <= LONGEST_S:
        raise BadInput(
            f"start_deadline is {text}; it must be a time above 0 such as 30s or 2min, at most {LONGEST_S}s."
        )
    return seconds


def _directory(folder: Path, name: str) -> Path:
    path = (folder / name).absolute()
    if not os.path.isdir(path):
        raise BadInput(f"directory is {path}; there is no such folder.")
    return path
