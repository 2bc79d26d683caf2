"""Read the hosts that run a plan's services and clients. Refuse plans that cannot run across hosts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from config.options import PYTHON, Flags, Given, Option, applying, by_key, expect_keys, fields_of, matching, parsed
from config.plan import Plan
from config.text_yaml import read_yaml
from core.errors import BadInput
from core.hosts import PRESETS, Host, Layout
from core.messages import Message, message
from core.system_file import file_of
from core.user_service import only_native

MOST_HOSTS = 64
_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
_ssh = matching(
    r"(?!-)(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.%a-z]+\])(?::[0-9]{1,5})?",
    "user@host:port, a host, or a name from ~/.ssh/config",
)
_name = matching(_NAME, "the name of a host")


def _address(given: Given) -> str:
    try:
        address = IPv4Address(given.value)
        if not (address.is_unspecified or address.is_multicast):
            return str(address)
    except ValueError:
        pass
    raise given.wrong("an IPv4 address of the host, such as 10.0.0.2")


def _pythons(given: Given) -> tuple[str, ...]:
    if not all(isinstance(path, str) and path.startswith("/") and path.isprintable() for path in given.values):
        raise given.wrong("absolute paths of interpreters on the host")
    return tuple(given.values)


def _file(given: Given) -> str:
    return replace(given, value=str(Path(given.text()).expanduser())).file()


HOST_KEYS = (
    Option("ssh", "How to reach the host: user@host:port, or a name from ~/.ssh/config.", _ssh),
    Option("address", "The host's IPv4 address for the measured traffic.", _address),
    Option(
        "via",
        "How gilscope connects to the host: ssh (default), or here if the host is this machine.",
        choices=tuple(PRESETS),
    ),
    Option(
        "identity_file",
        "The file with the private SSH key, if neither the SSH agent nor ~/.ssh has the key.",
        _file,
    ),
    Option("known_hosts", "The file of known host keys (default: ~/.ssh/known_hosts).", _file),
    Option(
        "cpus",
        "The CPUs for services and clients on the host, such as 0-3 (default: all).",
        Given.cpus,
    ),
    Option(
        "python",
        "Absolute paths of the host's interpreters, if gilscope does not find them by itself.",
        _pythons,
    ),
)


def _host(name: str, content: Any, folder: Path) -> Host:
    what = message("host {name}", name=name)
    if not re.fullmatch(_NAME, name):
        raise BadInput(
            "{name!r} is not a valid host name. Use up to 40 lower-case letters, digits, - and _.", name=name
        )
    expect_keys(what, content, by_key(HOST_KEYS))
    host = Host(name=name, **{"address": "", **parsed(HOST_KEYS, content, folder)})
    if not host.address:
        raise BadInput(
            "{host} has no address. Add the IPv4 address for the measured traffic, such as address: 10.0.0.2.",
            host=what,
        )
    if (host.via == "here") == bool(host.ssh):
        raise BadInput("{host} must have either ssh: user@host, or via: here if the host is this machine.", host=what)
    return host


def parse_hosts(given: Given) -> dict[str, Host]:
    """Return the hosts by name, from a mapping in a plan or from the file that *given* names. Raises BadInput."""
    content, folder = given.value, given.folder
    if isinstance(content, str):
        path = folder / content
        content, folder = read_yaml(path, given.name), path.parent
        if isinstance(content, dict) and content.keys() == {"hosts"}:
            content = content["hosts"]
    if not isinstance(content, dict) or not 0 < len(content) <= MOST_HOSTS:
        raise given.wrong("a mapping with 1 to {count} host names as keys", count=MOST_HOSTS)
    return {str(name): _host(str(name), host, folder) for name, host in content.items()}


def _names(given: Given) -> tuple[str, ...]:
    return given.items(_name, "names of hosts, such as b,c")


HOSTS = Option("--hosts FILE", "A YAML file that describes the hosts (see docs/hosts.md).", parse_hosts)
SERVICES_ON = Option("--services-on NAME", "The host that runs the services.", _name)
CLIENTS_ON = Option(
    "--clients-on NAMES",
    "The hosts that run the clients. The clients are assigned to these hosts in turn.",
    _names,
)
OPTIONS = applying(PYTHON, HOSTS, SERVICES_ON, CLIENTS_ON)


def layout_with(layout: Layout | None, values: Flags) -> Layout | None:
    """Return *layout* (which hosts run services and clients), changed by the options in *values*.

    adapt_to_hosts() reports what is missing.
    """
    given = fields_of(Layout, values)
    if not given:
        return layout
    return replace(layout or Layout(hosts={}, services_on="", clients_on=()), **given)


def adapt_to_hosts(plan: Plan) -> Plan:
    """Return the plan with TCP as transport if it has several hosts. Raises BadInput if it cannot run across hosts."""
    layout = plan.layout
    if plan.method.is_limited and plan.user_service and plan.user_service.targets:
        raise BadInput("--cpus and --memory cannot limit a service that already runs. Leave them out.")
    if layout is None:
        plan.method.expect_cpus()
        return plan
    _check_names(layout)
    for why, applies in _host_obstacles(plan).items():
        if applies:
            raise BadInput("This plan cannot run across hosts (see docs/hosts.md): {why}", why=why)
    rows = tuple(
        replace(row, values={**row.values, "TRANSPORT": ("tcp",)}) if "TRANSPORT" in row.system.parameters else row
        for row in plan.rows
    )
    return replace(plan, rows=rows)


def expect_no_hosts(plan: Plan, what: str) -> None:
    """Raise BadInput if the plan has hosts, because the command *what* does not work across hosts."""
    if plan.layout:
        raise BadInput(
            "{what} does not work across hosts (see docs/hosts.md). Remove the hosts from the plan and the flags.",
            what=what,
        )


def expect_described(flag: str, name: str, hosts: Mapping[str, Host]) -> None:
    """Raise BadInput if *flag* names a host that is not one of *hosts*."""
    if name not in hosts:
        raise BadInput(
            "{flag} names the host {name!r}, which is not described. The described hosts are {hosts}.",
            flag=flag,
            name=name,
            hosts=sorted(hosts),
        )


def _check_names(layout: Layout) -> None:
    if not layout.hosts:
        raise BadInput(
            "--services-on and --clients-on name hosts, but no hosts are described. Describe them with --hosts FILE."
        )
    for option, names in ((SERVICES_ON, (layout.services_on,)), (CLIENTS_ON, layout.clients_on)):
        if not any(names):
            raise BadInput(
                "{flag} is missing. Choose from the described hosts: {hosts}.",
                flag=option.flag,
                hosts=sorted(layout.hosts),
            )
        for name in names:
            expect_described(option.flag, name, layout.hosts)


def _host_obstacles(plan: Plan) -> dict[Message, bool]:
    """Return every possible reason why a plan cannot run across hosts, as {reason: whether it applies to *plan*}."""
    method, service = plan.method, plan.user_service
    local_only = [
        key for key, system in plan.systems.items() if file_of(system) or not (system.hosted or system.supports_hosts)
    ]
    command = str(service.command.command) if service and service.command else "{host}{port}"
    return {
        message("Clients of a service that already runs (--target) must run on this machine."): bool(
            service and service.targets
        ),
        message(
            "The command must contain {places}, because the service must listen on the host's address.",
            places="{host} {port}",
        ): not ("{host}" in command and "{port}" in command),
        message("System {systems} listens only on this machine.", systems=local_only): bool(local_only),
        message("TRANSPORT is unix, but Unix sockets do not reach other hosts. Use tcp."): any(
            "unix" in row.values.get("TRANSPORT", ()) for row in plan.rows
        ),
        message("--with can start programs only on this machine."): bool(plan.beside),
        message("The limits --cpus and --memory apply only on this machine, not on other hosts."): method.is_limited,
        message(
            "Only the native client has sessions, placeholders and HTTP/2, but it cannot send a body_file from another "
            "host. Write the text into body."
        ): bool(service and service.requests.has_files and only_native(service.protocol, service.requests)),
        message(
            "Clients must stop after a time, not after a number of requests. Give a duration, such as --duration 2."
        ): not method.duration_s,
    }
