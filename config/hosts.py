"""Hosts in a plan or a file of their own, who serves and who calls, and what does not work across hosts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from config.options import PYTHON, Given, Option, applying, by_key, expect_keys, parsed
from config.plan import Plan
from config.text_yaml import read_yaml
from core.errors import BadInput
from core.hosts import VIA, Host, Layout
from core.messages import Message, listed, message
from core.method import ORCHESTRATOR
from core.system_file import file_of

MOST_HOSTS = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SSH = re.compile(r"(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.%a-z]+\])(?::[0-9]{1,5})?")


def _ssh(given: Given) -> str:
    if not isinstance(given.value, str) or not _SSH.fullmatch(given.value) or given.value.startswith("-"):
        raise given.wrong(message("user@host:port, host, or a name of ~/.ssh/config"))
    return given.value


def _via(given: Given) -> str:
    if given.value == "asyncssh":
        raise BadInput(
            "{name} is asyncssh, which is gone. Leave via out: the command ssh connects, as ~/.ssh/config says.",
            name=given.name,
        )
    return given.choice(VIA)


def _address(given: Given) -> str:
    try:
        address = ip_address(given.value)
    except ValueError:
        raise given.wrong(message("an IPv4 address of that host, such as 10.0.0.2")) from None
    if address.version != 4 or address.is_unspecified or address.is_multicast:
        raise given.wrong(message("an IPv4 address of that host, such as 10.0.0.2"))
    return str(address)


def _pythons(given: Given) -> tuple[str, ...]:
    paths = given.value if isinstance(given.value, list) else [given.value]
    if not all(isinstance(path, str) and path.startswith("/") and path.isprintable() for path in paths):
        raise given.wrong(message("absolute paths of interpreters on that host"))
    return tuple(paths)


def _file(given: Given) -> str:
    return str(Given(value=str(Path(given.text()).expanduser()), name=given.name, folder=given.folder).file())


HOST_KEYS = (
    Option("", message("user@host:port, or a name of ~/.ssh/config"), _ssh, key="ssh"),
    Option("", message("the address that measured traffic uses (IPv4)"), _address, key="address"),
    Option(
        "",
        message("what connects: ssh (default), here (this machine)"),
        _via,
        key="via",
    ),
    Option("", message("private key, if the agent and ~/.ssh do not have it"), _file, key="identity_file"),
    Option("", message("file of known host keys (default: ~/.ssh/known_hosts)"), _file, key="known_hosts"),
    Option("", message("CPUs of the children there: 0-3"), Given.cpus, key="cpus"),
    Option("", message("paths of interpreters there, if they are not found"), _pythons, key="python"),
)


def _host(name: str, content: Any, folder: Path) -> Host:
    what = message("host {name}", name=name)
    if not _NAME.fullmatch(name):
        raise BadInput("{name!r} is not a host's name; it must be small letters, digits, - and _.", name=name)
    expect_keys(what, content, tuple(by_key(HOST_KEYS)))
    host = Host(name=name, **{"address": "", **parsed(HOST_KEYS, content, folder)})
    if not host.address:
        raise BadInput("{host} has no address; give it the one that measured traffic uses.", host=what)
    if (host.via == "here") == bool(host.ssh):
        raise BadInput("{host} must have either ssh: user@host, or via: here for this machine.", host=what)
    return host


def parse_hosts(given: Given) -> dict[str, Host]:
    """Hosts by name, from a mapping in a plan or the name of a file. Raises BadInput."""
    content, folder = given.value, given.folder
    if isinstance(content, str):
        path = folder / content
        content, folder = read_yaml(path, given.name), path.parent
        if isinstance(content, dict) and content.keys() == {"hosts"}:
            content = content["hosts"]
    if not isinstance(content, dict) or not 0 < len(content) <= MOST_HOSTS:
        raise given.wrong(message("a mapping of host names, at most {count}", count=MOST_HOSTS))
    return {str(name): _host(str(name), host, folder) for name, host in content.items()}


def _name(given: Given) -> str:
    if not isinstance(given.value, str) or not _NAME.fullmatch(given.value.strip()):
        raise given.wrong(message("the name of a host"))
    return given.value.strip()


def _names(given: Given) -> tuple[str, ...]:
    names = given.value.split(",") if isinstance(given.value, str) else given.value
    if not isinstance(names, list) or not names:
        raise given.wrong(message("names of hosts, such as b,c"))
    return tuple(dict.fromkeys(_name(replace(given, value=name)) for name in names))


HOSTS = Option("--hosts FILE", message("hosts by name, in YAML: docs/hosts.md"), parse_hosts)
SERVICES_ON = Option("--services-on NAME", message("the host of the services"), _name)
CLIENTS_ON = Option("--clients-on NAMES", message("the hosts of the clients, which take turns"), _names)
OPTIONS = applying(PYTHON, HOSTS, SERVICES_ON, CLIENTS_ON)


def layout_with(layout: Layout | None, values: Mapping[str, Any]) -> Layout | None:
    """*layout* with the parsed *values* of OPTIONS, by key; spread() says what is missing."""
    given = {option.key: values[option.key] for option in OPTIONS if option.key in values}
    if not given:
        return layout
    before = layout or Layout(hosts={}, services_on="", clients_on=())
    fields = {"hosts": before.hosts, "services_on": before.services_on, "clients_on": before.clients_on}
    return Layout(**{**fields, **given})


def spread(plan: Plan) -> Plan:
    """The plan as it can run across its hosts: over TCP. Raises BadInput for what does not work there."""
    layout = plan.layout
    if layout is None:
        plan.method.expect_cpus()
        return plan
    _check_names(layout)
    for why in filter(None, _obstacles(plan, layout)):
        raise BadInput("{why} It does not work across hosts (docs/hosts.md).", why=why)
    rows = tuple(
        replace(row, values={**row.values, "TRANSPORT": ("tcp",)}) if "TRANSPORT" in row.system.parameters else row
        for row in plan.rows
    )
    if plan.user_service and plan.method.client_runtime == ORCHESTRATOR:  # the same client for every runtime, there too
        plan = replace(plan, method=replace(plan.method, client_runtime=plan.runtimes[0]))
    return replace(plan, rows=rows)


def expect_here(plan: Plan, what: str) -> None:
    """Raises BadInput where the plan has hosts, across which *what* does not work."""
    if plan.layout:
        raise BadInput("{what} does not work across hosts (docs/hosts.md); leave one of both out.", what=what)


def _check_names(layout: Layout) -> None:
    if not layout.hosts:
        raise BadInput("--services-on and --clients-on name hosts; say what these are: --hosts FILE.")
    for flag, names in (("--services-on", (layout.services_on,)), ("--clients-on", layout.clients_on)):
        if not names or not all(names):
            raise BadInput(
                "{flag} is missing; name hosts, out of {hosts}.", flag=flag, hosts=listed(sorted(layout.hosts))
            )
        for name in names:
            if name not in layout.hosts:
                raise BadInput(
                    "{flag} names {name!r}; the hosts are {hosts}.",
                    flag=flag,
                    name=name,
                    hosts=listed(sorted(layout.hosts)),
                )


def _obstacles(plan: Plan, layout: Layout) -> list[Message | None]:
    """What of a plan cannot be carried to other hosts yet; None for each that is not there."""
    method, unix = plan.method, [row for row in plan.rows if "unix" in row.values.get("TRANSPORT", ())]
    still = [
        key for key, system in plan.systems.items() if not system.hosted and (not system.spreads or file_of(system))
    ]
    service = plan.user_service
    command = str(service.command.command) if service and service.command else "{host}{port}"
    return [
        message("A service that already runs is called from this machine.") if service and service.targets else None,
        message("A command must say where it listens by {places}.", places="{host} {port}")
        if not ("{host}" in command and "{port}" in command)
        else None,
        message("System {systems} listens on this machine alone.", systems=listed(still)) if still else None,
        message("What stands beside a service (--with) runs on this machine alone.") if plan.beside else None,
        message("TRANSPORT unix stays on one machine; use tcp.") if unix else None,
        message("Clients end at a time, and not by a count: give a duration, such as --duration 2.")
        if not method.duration_s
        else None,
        message("The clients' runtime is that of this machine; name one.")
        if method.client_runtime == ORCHESTRATOR and not service
        else None,
    ]
