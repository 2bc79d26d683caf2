"""Make the command that serves a user's application (--app) on a server of servers.yaml.

service_plan.py calls app_on(). It replaces the words APP, INTERFACE and THREADS of a command in
servers.yaml. Placeholders such as {port} remain, and lab/user_service/command.py fills them in when
it starts the service.
"""

from dataclasses import dataclass
from pathlib import Path

from config.text_yaml import read_yaml
from core.messages import OR, BadInput, listed
from core.user_service import App
from record.decode import decoded

WSGI, ASGI = "wsgi", "asgi"


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
