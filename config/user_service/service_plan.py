"""Make the plan for a user's service, from a command, an application, or the URLs of running
services.

config/load.py, service_flags.py and commands/init.py call user_service_plan(). It parses texts by
YAML key to *values* by field, makes a UserService of them (with Command, App or Target, all in
core/user_service.py), and then a Plan with a row for each variant and topology.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from config.options import Flags, Given, Subject, expect_keys, fields_of, parsed, refuse
from config.plan_options import DEFAULT_RUNTIMES
from config.run_plan import Plan, PlanRow, Values
from config.user_service.hidden import ENV
from config.user_service.request_options import expect_sendable, hidden_answer, request_plan
from config.user_service.service import (
    ASGI,
    LAST_PORT,
    SERVERS,
    THREADS,
    WORKERS,
    app_on,
    check_command,
    systems,
)
from config.user_service.service_options import (
    ENVIRONMENT,
    KEYS,
    OF_VARIANT,
    PACKAGES,
    SERVICE,
    TOPOLOGY,
    VARIANTS,
    VARY,
    parse_topology,
)
from core.cell import MACHINE_PARAMETERS, PARAMETERS, Value
from core.messages import BadInput, Json, message
from core.method import Method, Warmup, cores_usable
from core.request_plan import ANY, RequestPlan
from core.runtime import NATIVE, RuntimeName
from core.secret import HIDDEN, Redactor, Secret, Text, revealed, secrets_in
from core.user_service import (
    DEFAULT_NAME,
    HTTP,
    HTTPS,
    SERVER,
    VARIANT,
    App,
    Command,
    Target,
    UserService,
)

# the method and the parameter values (DEFAULTS) of a plan that does not set them
METHOD = Method(warmup=Warmup(share=0.1), duration_s=2.0, client_runtime=NATIVE)
# the minimum for a verdict on the four comparisons of four runtimes (analysis/significance.py)
BLOCKS = 8
DEFAULTS: dict[str, int] = {
    "NUM_API_SERVICES": 1,
    "NUM_CLIENTS": 2,
    "NUM_CONNECTIONS_PER_CLIENT": 8,
    "NUM_REQUESTS_PER_CLIENT": 1000,
    "RATE": 0,
}
# the default of NUM_WORKERS_PER_API_SERVICE if the command contains {threads}
DEFAULT_THREADS = 8
# the numbers of threads per process that `--topology auto` tries
AUTO_THREADS = (2, 8)
MOST_PATH_BYTES = 107  # maximum length of a Unix socket's path. Source: unix(7)
_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*)"
# The empty group `path` gives both patterns the same groups.
_TCP = re.compile(rf"(?P<host>{_HOST}):(?P<port>[0-9]{{1,5}})(?P<path>)", re.ASCII)
_HTTP = re.compile(
    rf"//(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?P<path>/(?:(?![?#])[!-~])*)?", re.ASCII
)
# the default port of each scheme; 0 if the URL must have a port
PORTS = {"http": 80, "https": 443, "tcp": 0}
NUMBERS = {"workers": WORKERS, "threads": THREADS}  # what --vary calls the parameters
# the keys that say what is measured; a service has exactly one of them
STARTS = {"command": Subject.COMMAND, "app": Subject.APP, "targets": Subject.TARGETS}


def user_service_plan(
    given: Flags, folder: Path, defaults: Values | None = None, *, flagged: bool = False
) -> Plan:
    """Return the plan for a user's service from the texts of its YAML keys or flags. Raises
    BadInput.

    given: texts by KEYS
    folder: the folder that relative paths refer to
    defaults: values of parameters, which override DEFAULTS
    flagged: whether the texts come from flags
    """
    expect_keys(message("service"), given, KEYS)
    starts = [key for key in STARTS if key in given]
    if len(starts) != 1:
        raise BadInput(
            "A service must have exactly one of command, app and targets. Given: {starts}.",
            starts=starts or [message("none of them")],
        )
    subject = STARTS[starts[0]]
    refuse(subject, [(key, KEYS[key]) for key in given])
    values = parsed(SERVICE, given, folder, flagged=flagged)
    varied: dict[str, tuple[Value, ...]] = dict(values.get("vary", {}))
    servers, shapes = varied.pop(SERVER, ()), varied.pop(TOPOLOGY, ())
    if servers and "variants" in values:
        raise BadInput("--vary server and --variant cannot be combined. Leave out one of the two.")
    if shapes:
        shape = Given(value=",".join(map(str, shapes)), name=f"{VARY.flag} {TOPOLOGY}")
        values[TOPOLOGY] = parse_topology(shape)
    values["knobs"] = tuple(name for name in varied if name not in NUMBERS)
    _expect_unset(varied, values)
    service = _service(subject, values, servers, folder)
    settings = {NUMBERS.get(name, name): several for name, several in varied.items()}
    return Plan(
        name=service.name,
        rows=_rows(service, values.get(TOPOLOGY), defaults or {}, settings),
        runtimes=(RuntimeName(NATIVE),) if service.targets else DEFAULT_RUNTIMES,
        blocks=BLOCKS,
        method=METHOD,
        user_service=service,
    )


def _service(
    subject: Subject, values: Flags, servers: tuple[Value, ...], folder: Path
) -> UserService:
    """Return the service that *values* describe. Raises BadInput.

    servers: the values of --vary server
    """
    protocol, requests = values.get("protocol", HTTP), request_plan(values)
    expect_sendable(requests, protocol)
    start = _start(subject, values, folder)
    # the values of --vary server are variants that differ in their server
    given = [Given(value=name, name=f"{VARY.flag} {SERVER}") for name in servers]
    of_servers = {str(one.value): {SERVER: one.choice(SERVERS)} for one in given}
    variants = _variants(subject, values, values.get("variants", of_servers), folder)
    secrets = secrets_in((start, *variants.values(), requests))
    return UserService(
        name=values.get("name", "targets" if subject is Subject.TARGETS else DEFAULT_NAME),
        start=start,
        protocol=protocol,
        requests=_with_hidden_answers(requests, Redactor(one.reveal() for one in secrets)),
        variants=variants,
        varied=SERVER if servers else VARIANT,
    )


def _start(subject: Subject, values: Flags, folder: Path) -> Command | tuple[Target, ...]:
    tls = {"ca": values.get("ca", ""), "insecure": values.get("insecure", False)}
    if subject is Subject.TARGETS:
        protocol = values.get("protocol", HTTP)
        return tuple(target(name, url, protocol, tls) for name, url in values["targets"].items())
    secured = {"tls": tls} if values.get("scheme") == HTTPS else {}
    fields = fields_of(Command, {"directory": str(folder.absolute()), **values, **secured})
    if subject is Subject.APP:
        if "server" not in values:
            raise BadInput(
                "app is {app}, but server is missing. Choose one of {servers}.",
                app=values["app"],
                servers=SERVERS,
            )
        app = app_on(
            values["server"],
            values["app"],
            values.get("interface", ""),
            has_topology="topology" in values,
        )
        return replace(app, **fields)
    check_command(
        str(values["command"]), values.get("knobs", ()), has_environment="requirements" in values
    )
    return Command(**fields)


def _variants(
    subject: Subject, values: Flags, described: Mapping[str, Flags], folder: Path
) -> dict[str, Command]:
    """Return the commands of the variants by name. Raises BadInput.

    described: the values of each variant by key
    """
    if len(described) == 1:
        raise Given(value=", ".join(described), name=VARIANTS.flag).wrong(
            "at least two variants, such as before:ref=main and after:ref=HEAD in a repository"
        )
    found: dict[str, Command] = {}
    for name, own in described.items():
        refuse(subject, [(f"{key} of variant {name}", OF_VARIANT[key]) for key in own])
        start = _variant(subject, values, own, folder)
        for other, earlier in found.items():
            if earlier.plain == start.plain:
                raise BadInput(
                    "The variants {other} and {name} are the same. Each must differ in ref, "
                    "directory, requirements, env, command or server.",
                    other=other,
                    name=name,
                )
        found[name] = start
    return found


def _expect_unset(varied: Iterable[str], values: Flags) -> None:
    """Raise BadInput if a variable of --vary is set for the whole service or for a variant, too."""
    named = {ENVIRONMENT.flag: values.get("environment", {})}
    for name, own in values.get("variants", {}).items():
        named[f"{VARIANTS.flag} {name}:{ENV}"] = own.get("environment", {})
    for flag, environment in named.items():
        for name in varied:
            if name in environment:
                raise BadInput(
                    "{flag} sets {name}, which --vary sets, too. Leave out one of the two.",
                    flag=flag,
                    name=name,
                )


def _variant(subject: Subject, values: Flags, own: Flags, folder: Path) -> Command:
    """Return the service's command with a variant's *own* values. Raises BadInput."""
    environment = {**values.get("environment", {}), **own.get("environment", {})}
    changed: dict[str, Any] = {**values, **own, "environment": environment}
    packages = own.get(PACKAGES.key, ())
    # the only absolute path is a requirements file; all others are packages (_packages())
    file = next((one for one in packages if Path(one).is_absolute()), "")
    changed[PACKAGES.key] = file or values.get(PACKAGES.key, "")
    start = _start(subject, changed, folder)
    # refuse() has refused variants of targets
    assert isinstance(start, Command)
    start = replace(start, overrides=tuple(one for one in packages if one != file))
    if not start.ref:
        return start
    start = replace(start, repository=start.directory)
    if file or not start.requirements:
        return start
    # with_commits() (lab/project/commits.py) takes a file with a relative path from the commit
    inner = os.path.relpath(start.requirements, start.directory)
    return start if inner.startswith(os.pardir) else replace(start, requirements=inner)


def target(name: str, url: Text, protocol: str, tls: Json) -> Target:
    """Parse a target: http://host:port/path, https://, unix:/path or tcp:host:port. Raises
    BadInput.
    """
    scheme, _, rest = revealed(url).partition(":")
    prefix, is_path = "", rest.startswith("/") and rest.isprintable()
    match = (_TCP if scheme == "tcp" else _HTTP).fullmatch(rest)
    port = int(match["port"] or PORTS[scheme]) if match and scheme in PORTS else 0
    if scheme == "unix" and is_path and len(rest.encode()) <= MOST_PATH_BYTES:
        address = rest
    elif match and 1 <= port <= LAST_PORT:
        address, prefix = f"{match['host'].lower()}:{port}", (match["path"] or "").rstrip("/")
    else:
        raise BadInput(
            "The target URL of service {name} is {url} (protocol {protocol}). The URL must be "
            "http://HOST:PORT/PATH (or https) without a query, unix:/PATH of at most {most} bytes, "
            "or tcp:HOST:PORT. Ports are 1 to {last}.",
            name=name,
            url=str(url),
            protocol=protocol,
            most=MOST_PATH_BYTES,
            last=LAST_PORT,
        )
    return Target(
        name=name,
        url=url,
        address=_part(url, address),
        prefix=_part(url, prefix),
        protocol=protocol,
        tls=tls if scheme == HTTPS else None,
    )


def _part(url: Text, part: str) -> Text:
    """Return a part of a target's URL, as a Secret if the whole URL is secret."""
    return Secret(HIDDEN, name=url.name, value=part) if isinstance(url, Secret) and part else part


def _with_hidden_answers(plan: RequestPlan, redactor: Redactor) -> RequestPlan:
    """Return *plan* with Secret objects in place of the expected answers that contain a secret."""
    requests = []
    for request in plan.requests:
        answer = request.expect_json
        is_secret = answer is not ANY and redactor.json(answer) != answer
        requests.append(
            replace(request, expect_json=hidden_answer(request)) if is_secret else request
        )
    return replace(plan, requests=tuple(requests))


def _rows(
    service: UserService,
    topology: list[tuple[int, int]] | str | None,
    defaults: Values,
    settings: Values,
) -> tuple[PlanRow, ...]:
    """Return a row for each variant and topology of the service. Raises BadInput.

    settings: the values of --vary
    """
    values: dict[str, tuple[Value, ...]] = {name: (value,) for name, value in DEFAULTS.items()}
    threaded = [command.threaded for command in service.commands]
    _expect_settable(settings, topology, is_threaded=all(threaded))
    if any(threaded):
        values[THREADS] = (DEFAULT_THREADS,)
    # other defaults are ignored
    settable = {*values, *MACHINE_PARAMETERS}
    values |= {name: value for name, value in defaults.items() if name in settable}
    for name, several in settings.items():
        known = PARAMETERS.get(name)
        values[name] = tuple(map(known.parse, several)) if known else several
    made = []
    # without variants, each *variant* is None
    for system, variant in zip_longest(systems(service), service.variants):
        own = {service.varied: (variant,)} if variant else {}
        made.append(PlanRow(system=system, values={**values, **own}))
    if topology is None:
        return tuple(made)
    offered = _offered(service.command, topology)
    shapes = [{WORKERS: (processes,), THREADS: (threads,)} for processes, threads in offered]
    return tuple(
        replace(row, values={**row.values, **shape}, fixed=tuple(shape))
        for row in made
        for shape in shapes
    )


def _expect_settable(settings: Values, topology: object, *, is_threaded: bool) -> None:
    """Raise BadInput if the command has no place for a number of threads that is set, or if both
    --vary and a topology set a number.
    """
    setters = {"topology": topology is not None, f"{VARY.flag} threads": THREADS in settings}
    for setter, sets in setters.items():
        if sets and not is_threaded:
            raise BadInput(
                "{setter} sets the number of threads, but the command does not contain {place}. "
                "Add {place} to the command.",
                setter=setter,
                place="{threads}",
            )
    for varied, name in NUMBERS.items():
        if name in settings and topology is not None:
            raise BadInput(
                "topology already sets {name}. Leave out --vary {varied} or topology.",
                name=name,
                varied=varied,
            )


def _offered(
    command: Command | None, topology: list[tuple[int, int]] | str
) -> list[tuple[int, int]]:
    """Return the pairs (processes, threads) of a topology. Raises BadInput if the server does not
    offer one of them.

    `auto` means one process to two processes per core, with each of AUTO_THREADS.
    """
    app = command if isinstance(command, App) and command.interface == ASGI else None
    if isinstance(topology, str):
        cores, threads = cores_usable(), (1,) if app else AUTO_THREADS
        processes = dict.fromkeys((1, max(1, cores // 2), cores, 2 * cores))
        return [(number, of_each) for number in processes for of_each in threads]
    if app and any(threads > 1 for _, threads in topology):
        raise BadInput(
            "topology is {topology}, but {server} serves an ASGI application with one event loop "
            "per worker process. Give numbers of processes with one thread each, such as 4x1,1x1.",
            topology=",".join(f"{processes}x{threads}" for processes, threads in topology),
            server=app.server,
        )
    return topology
