"""Describe a user's service and its clients as systems to measure. Check its parameter values and
command, and make the command that serves an application (--app).

config/run_plan.py, service_plan.py and lab/ use this module. A user's service becomes a System
(core/system.py) whose child_config["own"] is what the service's and the clients' children read: the
fields of the Command or Target, and the requests. Variants are systems with the same name.

app_on() replaces the words APP, INTERFACE and THREADS of a command in servers.yaml. Placeholders
such as {port} remain, and lab/user_service/command.py fills them in when it starts the service.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.options import Given
from config.text_yaml import read_yaml
from core.cell import Value
from core.messages import OR, BadInput, Json, listed
from core.system import NATIVE_CLIENT, SIZES, System
from core.user_service import App, Start, Target, UserService
from record.decode import decoded

# System.group of a user's service
GROUP = "own"
# the placeholders that gilscope replaces in a command
PLACES = ("{python}", "{host}", "{port}", "{socket}", "{workers}", "{threads}")
# Names of parameters (core/cell.py). THREADS are those of a service, unlike in config/run_plan.py.
WORKERS, THREADS = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE"
CLIENTS, CONNECTIONS = "NUM_CLIENTS", "NUM_CONNECTIONS_PER_CLIENT"
WSGI, ASGI = "wsgi", "asgi"
LONGEST_TITLE = 60  # characters
LAST_PORT = 65535


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server for WSGI or ASGI applications. servers.yaml explains the fields."""

    interfaces: tuple[str, ...]
    package: str
    command: str
    source: str
    factory: str = ""


# the servers by the name in --server; shared by all plans, so it is never changed
SERVERS = decoded(
    read_yaml(Path(__file__).with_name("servers.yaml"), "--server"), dict[str, Server]
)
USUAL = {WSGI: "gunicorn", ASGI: "uvicorn"}  # the default server of each interface


def systems(service: UserService) -> list[System]:
    """Return the systems to measure: one for each command that starts *service* or a variant of it,
    all with the same name, or one for each running service.
    """
    requests = service.requests.to_json()
    for request, told_request in zip(service.requests.requests, requests["requests"], strict=True):
        # the children report by this name, also if the plan gives none
        told_request["title"] = str(request)
    starts = service.commands or service.targets
    is_threaded = any(start.threaded for start in starts)
    return [_system(service, start, requests, is_threaded) for start in starts]


def _system(service: UserService, start: Start, requests: Json, is_threaded: bool) -> System:
    # the fields of *start* come later, so that a Target replaces name, protocol and prefix
    told = {
        "name": service.name,
        "protocol": service.protocol,
        "prefix": "",
        **vars(start),
        "requests": requests,
    }
    if isinstance(start, Target):
        title = told["url"] = str(start.url)
    else:
        text = str(start.command)
        title = text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 3] + "..."
    settings = () if isinstance(start, Target) else start.knobs
    return System(
        name=told["name"],
        title=f"{title} (handshakes only)" if service.requests.has_only_handshakes else title,
        group=GROUP,
        common=SIZES,
        reads=(
            *(CONNECTIONS, "RATE"),
            *([THREADS] if is_threaded else []),
            *settings,
            *([service.varied] if service.variants else []),
        ),
        child_config={"own": told},
        user_service=start,
        native_client=NATIVE_CLIENT,
    )


def check_values(service: UserService, values: Mapping[str, Sequence[Value]]) -> None:
    """Raise BadInput if *values* of parameters contradict the service or each other."""
    services = max(_numbers(values, WORKERS), default=1)
    rate = max(_numbers(values, "RATE"), default=0)
    if rate and service.requests.think_time_s:
        raise BadInput(
            "think_time is {think_time_s:g} s and RATE is {rate}. With RATE, requests are sent "
            "at fixed times, so think_time has no effect. Leave out one of the two.",
            think_time_s=service.requests.think_time_s,
            rate=rate,
        )
    command = service.command
    if command is None:
        return
    last = command.first_port + (0 if command.forks else services - 1)
    if command.first_port and last > LAST_PORT:
        raise BadInput(
            "port is {port} and NUM_API_SERVICES is {services}, so the last service would use "
            "port {last}. The highest port is {most}. Choose a lower port.",
            port=command.first_port,
            services=services,
            last=last,
            most=LAST_PORT,
        )
    clients = [number for number in _numbers(values, CLIENTS) if number]
    connections = min(clients, default=0) * min(_numbers(values, CONNECTIONS), default=1)
    if not command.forks and 0 < connections < services:  # each connection goes to one service
        raise BadInput(
            "NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT is {connections}, but NUM_API_SERVICES is "
            "{services}, so {idle} services would get no requests. Use at least {services} "
            "connections.",
            connections=connections,
            services=services,
            idle=services - connections,
        )


def _numbers(values: Mapping[str, Sequence[Value]], name: str) -> list[int]:
    return [value for value in values.get(name, ()) if isinstance(value, int)]


def check_command(command: str, knobs: Sequence[str] = (), *, has_environment: bool) -> None:
    """Raise BadInput if *command* has open quotes, cannot be started several times, or is the same
    under every runtime.

    knobs: the names of settings, which are accepted as placeholders, too
    """
    places = (*PLACES, *(f"{{{name}}}" for name in knobs))
    try:
        shlex.split(command)
    except ValueError:
        raise Given(value=command, name="command").wrong(
            "a command with balanced quotes and no placeholders other than {places}",
            places=listed(places),
        ) from None
    for place in re.findall(r"\{[a-z_]+\}", command):
        if place not in places:
            raise BadInput(
                "The command contains the unknown placeholder {place}. Accepted are {places}.",
                place=place,
                places=places,
            )
    if "{port}" not in command and "{socket}" not in command:
        raise BadInput(
            "The command {command!r} does not say where to listen. It must contain {{port}} or "
            "{{socket}}, such as '{{python}} -m myapp --port {{port}}'.",
            command=command,
        )
    if "{python}" not in command and not has_environment:
        raise BadInput(
            "The command {command!r} does not contain {{python}}, so every runtime would be "
            "the same. Write {{python}} in place of the interpreter, or give --requirements.",
            command=command,
        )


def app_on(name: str, app: str, interface: str = "", *, has_topology: bool = False) -> App:
    """Return the application *app* (module:name) with the command that serves it on the server
    *name*. Raises BadInput.

    It is an error if the server does not support *interface*.
    has_topology: whether the plan sets both the number of processes and the number of threads
    """
    server = SERVERS[name]
    if interface and interface not in server.interfaces:
        raise BadInput(
            "gilscope starts {server} only for {interfaces}, but the interface of {app} is "
            "{interface}. Use --server {servers}, or give the start command yourself with "
            "--service-command.",
            server=name,
            app=app,
            interface=interface,
            interfaces=listed(server.interfaces, OR),
            servers=listed(
                [other for other, one in SERVERS.items() if interface in one.interfaces], OR
            ),
        )
    interface = interface or server.interfaces[0]
    # the option of Granian, the only server with THREADS in its command
    threads = "--blocking-threads {threads} " if interface == WSGI else ""
    made = app.endswith("()") and server.factory
    target = f"{server.factory} {app.removesuffix('()')}" if made else app
    command = (
        server.command.replace("APP", target)
        .replace("INTERFACE", interface)
        .replace("THREADS ", threads)
    )
    if has_topology:
        command = command.replace(
            "-m gunicorn", "-m gunicorn --preload"
        )  # so that the forked processes share memory
    return App(
        command=command,
        packages=(server.package,),
        app=app,
        server=name,
        interface=interface,
        has_topology=has_topology,
    )
