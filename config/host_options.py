"""Read the hosts that run a plan's services and clients. Refuse plans that cannot run
across hosts.

config/flags.py and config/load.py call layout_with(), and flags.py calls adapt_to_hosts(). A Layout
(core/layout.py) says which host runs the services and which hosts run the clients. A carrier is the
program that connects to a host (key `via`): a preset such as ssh or kubectl, or the user's command.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from config.options import (
    PYTHON,
    Flags,
    Given,
    Option,
    applying,
    by_key,
    expect_keys,
    fields_of,
    matching,
    parsed,
)
from config.run_plan import Plan, values_used_by
from config.text_yaml import read_yaml
from core.layout import PRESETS, Host, Layout, Preset
from core.messages import BadInput, Message, message
from core.user_service import only_native

# the number of hosts that a file may describe
MOST_HOSTS = 64
# the carrier of a command of the user's own, which needs no key of the host
ANY = Preset("", ())
# keys of a host that some preset uses; _host() refuses those that the host's own carrier does not
CARRIER_KEYS = {key for preset in PRESETS.values() for key in preset.keys}
# parses the key ssh; (?!-) because a program could read such a name as an option
_ssh = matching(
    r"(?!-)(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.%a-z]+\])(?::[0-9]{1,5})?",
    "user@host:port, a host, or a name from ~/.ssh/config",
)


def _address(given: Given) -> str:
    try:
        address = IPv4Address(given.value)
        if not (address.is_unspecified or address.is_multicast):
            return str(address)
    except ValueError:
        pass
    raise given.wrong("an IPv4 address of the host, such as 10.0.0.2")


def _pythons(given: Given) -> tuple[str, ...]:
    paths = [*map(str, given.values)]
    if not all(path.startswith("/") and path.isprintable() for path in paths):
        raise given.wrong("absolute paths of interpreters on the host")
    return tuple(paths)


def _via(given: Given) -> str | tuple[str, ...]:
    if isinstance(given.value, list) and given.value:
        return tuple(_word(replace(given, value=word)) for word in given.value)
    if given.value not in tuple(PRESETS):
        raise given.wrong(
            "one of {names}, or a list with the words of a command", names=tuple(PRESETS)
        )
    return str(given.value)


def _word(given: Given) -> str:
    text = str(given.value)
    if not text.isprintable() or not text:
        raise given.wrong("a text of one line")
    return text


def _name_of_carrier(given: Given) -> str:
    if _word(given).startswith("-"):
        raise given.wrong("a name, which does not begin with -")
    return _word(given)


HOST_KEYS = (
    Option("ssh", "How to reach the host: user@host:port, or a name from ~/.ssh/config.", _ssh),
    Option(
        "address",
        "The host's IPv4 address for the measured traffic (default: that of its default route).",
        _address,
    ),
    Option(
        "via",
        "How gilscope connects to the host: ssh (default), kubectl, docker, podman, srun, here if "
        "the host is this machine, or a list with the words of a command.",
        _via,
    ),
    Option("pod", "The pod, for kubectl.", _name_of_carrier),
    Option("namespace", "The namespace of the pod (default: that of kubectl).", _name_of_carrier),
    Option(
        "container",
        "The container, for docker and podman, and for a pod with several containers.",
        _name_of_carrier,
    ),
    Option("node", "The node, for srun.", _name_of_carrier),
    Option(
        "job",
        "The Slurm job that has the node (default: the job in which gilscope runs).",
        _name_of_carrier,
    ),
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
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", name):
        raise BadInput(
            "{name!r} is not a valid host name. Use up to 40 lower-case letters, digits, - and _.",
            name=name,
        )
    expect_keys(what, content, by_key(HOST_KEYS))
    host = Host(name=name, **parsed(HOST_KEYS, content, folder))
    preset = PRESETS.get(str(host.via), ANY)
    if preset.needs and preset.needs not in content:
        raise BadInput(
            "{host} has no {key}, which is required with via: {via}. Add this key.",
            host=what,
            key=preset.needs,
            via=host.via,
        )
    # - binds tighter than &
    if useless := content.keys() & CARRIER_KEYS - preset.keys:
        raise BadInput(
            "{host} has keys that its value of via does not use: {keys}. Remove these keys, or "
            "change the value of via.",
            host=what,
            keys=sorted(useless),
        )
    return host


def parse_hosts(given: Given) -> dict[str, Host]:
    """Return the hosts by name, from a mapping in a plan or from the file that *given* names.
    Raises BadInput.
    """
    if not isinstance(given.value, str):
        return _hosts(given)
    path = given.folder / given.value
    content = read_yaml(path, given.name)
    try:
        return _hosts(replace(given, value=content, folder=path.parent))
    except BadInput as error:
        raise BadInput("{path}: {error}", path=path, error=error.message) from error


def _hosts(given: Given) -> dict[str, Host]:
    content = given.value
    if not isinstance(content, dict) or not 0 < len(content) <= MOST_HOSTS:
        raise given.wrong("a mapping with 1 to {count} host names as keys", count=MOST_HOSTS)
    return {str(name): _host(str(name), host, given.folder) for name, host in content.items()}


def _names(given: Given) -> tuple[str, ...]:
    return given.items(Given.text, "names of hosts, such as b,c")


HOSTS = Option(
    "--hosts FILE", "A YAML file that describes the hosts (see docs/hosts.md).", parse_hosts
)
SERVICES_ON = Option("--services-on NAME", "The host that runs the services.", Given.text)
CLIENTS_ON = Option(
    "--clients-on NAMES",
    "The hosts that run the clients. The clients are assigned to these hosts in turn.",
    _names,
)
OPTIONS = applying(PYTHON, HOSTS, SERVICES_ON, CLIENTS_ON)


def layout_with(layout: Layout | None, values: Flags) -> Layout | None:
    """Return *layout* (which hosts run services and clients), changed by the options in *values*.

    values: parsed options by field name. Without any field of Layout, *layout* comes back as it is.
    adapt_to_hosts() reports what is missing.
    """
    given = fields_of(Layout, values)
    if not given:
        return layout
    return replace(layout or Layout(hosts={}, services_on="", clients_on=()), **given)


def adapt_to_hosts(plan: Plan) -> Plan:
    """Return the plan with TCP as transport if it has several hosts. Raises BadInput if it cannot
    run across hosts.

    Without hosts, return *plan* itself, and raise BadInput if this machine lacks CPUs to pin to.
    """
    layout = plan.layout
    if plan.method.is_limited and plan.user_service and plan.user_service.targets:
        raise BadInput(
            "--cpus and --memory cannot limit a service that already runs. Leave them out."
        )
    if layout is None:
        plan.method.expect_cpus()
        return plan
    _check_names(layout)
    # only the first obstacle is reported
    for why in _host_obstacles(plan):
        raise BadInput("This plan cannot run across hosts (see docs/hosts.md): {why}", why=why)
    rows = []
    for row in plan.rows:
        tcp = values_used_by(row.system, {"TRANSPORT": ("tcp",)})
        rows.append(replace(row, values={**row.values, **tcp}))
    return replace(plan, rows=tuple(rows))


def expect_no_hosts(plan: Plan, what: str) -> None:
    """Raise BadInput if the plan has hosts, because the command *what* does not work
    across hosts.
    """
    if plan.layout:
        raise BadInput(
            "{what} does not work across hosts (see docs/hosts.md). Remove the hosts from the plan "
            "and the flags.",
            what=what,
        )


def _check_names(layout: Layout) -> None:
    if not layout.hosts:
        raise BadInput(
            "--services-on and --clients-on name hosts, but no hosts are described. Describe them "
            "with --hosts FILE."
        )
    for option, names in ((SERVICES_ON, (layout.services_on,)), (CLIENTS_ON, layout.clients_on)):
        if not any(names):
            raise BadInput(
                "{flag} is missing. Choose from the described hosts: {hosts}.",
                flag=option.flag,
                hosts=sorted(layout.hosts),
            )
        for name in names:
            if name not in layout.hosts:
                raise BadInput(
                    "{flag} names the host {name!r}, which is not described. The described hosts "
                    "are {hosts}.",
                    flag=option.flag,
                    name=name,
                    hosts=sorted(layout.hosts),
                )


def _host_obstacles(plan: Plan) -> Iterator[Message]:
    """Return the reasons why the plan cannot run across hosts."""
    method, service = plan.method, plan.user_service
    local_only = [
        key
        for key, system in plan.systems.items()
        if not (system.supports_hosts or (system.hosted and not system.file))
    ]
    # the text in place of a missing command passes the check of placeholders below
    command = str(service.command.command) if service and service.command else "{host}{port}"
    if service and service.targets:
        yield message("Clients of a service that already runs (--target) must run on this machine.")
    if not ("{host}" in command and "{port}" in command):
        yield message(
            "The command must contain {places}, because the service must listen on the host's "
            "address.",
            places="{host} {port}",
        )
    if local_only:
        yield message("System {systems} listens only on this machine.", systems=local_only)
    if any("unix" in row.values.get("TRANSPORT", ()) for row in plan.rows):
        yield message("TRANSPORT is unix, but Unix sockets do not reach other hosts. Use tcp.")
    if plan.beside:
        yield message(
            "--with can start programs only on this machine, not on other hosts. Leave --with out."
        )
    if service and any(command.ref or command.overrides for command in service.commands):
        yield message("Variants with a ref or with a package can be measured only on this machine.")
    if method.is_limited:
        yield message(
            "The limits --cpus and --memory apply only on this machine, not on other hosts."
        )
    if service and service.requests.has_files and only_native(service.protocol, service.requests):
        yield message(
            "Only the native client has sessions, placeholders and HTTP/2, but it cannot send a "
            "body_file from another host. Write the text into body."
        )
    if not method.duration_s:
        yield message(
            "Clients must stop after a time, not after a number of requests. Give a duration, such "
            "as --duration 2."
        )
