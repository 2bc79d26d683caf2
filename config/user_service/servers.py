"""Declare the servers that can run a user's application (--app, --server), each with its command
line.

The command lines use the documented options for threads and workers, without an access log. Threads
are per worker.
"""

from dataclasses import dataclass

from core.errors import BadInput
from core.messages import OR, listed
from core.user_service import App

WSGI, ASGI = "wsgi", "asgi"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server for WSGI or ASGI applications.

    interfaces: the supported interfaces, the default first
    package: the requirement that is installed together with the user's requirements
    source: where the options of the server are documented
    factory: the option for the name of a function that makes the application; "" if the server
        accepts `name()`
    """

    interfaces: tuple[str, ...]
    package: str
    command: str
    source: str
    factory: str = ""


SERVERS = {
    "gunicorn": Server(
        interfaces=(WSGI,),
        package="gunicorn==27.0.1",
        command="{python} -m gunicorn --bind {host}:{port} --worker-class gthread --workers "
        "{workers} --threads {threads} --keep-alive 75 --log-level warning --no-control-socket APP",
        source="https://docs.gunicorn.org/en/stable/design.html#how-many-threads",
    ),
    "granian": Server(
        interfaces=(ASGI, WSGI),
        package="granian[uvloop]==2.8.7",
        command="{python} -m granian --interface INTERFACE --host {host} --port {port} --workers "
        "{workers} THREADS --no-ws --log-level warning APP",
        source="https://github.com/emmett-framework/granian#workers-and-threads",
        factory="--factory",
    ),
    "uvicorn": Server(
        interfaces=(ASGI,),
        package="uvicorn[standard]==0.54.0",
        command="{python} -m uvicorn --host {host} --port {port} --workers {workers} "
        "--no-access-log --log-level warning APP",
        source="https://www.uvicorn.org/deployment/",
        factory="--factory",
    ),
    "waitress": Server(
        interfaces=(WSGI,),
        package="waitress==3.0.2",
        command="{python} -m waitress --listen={host}:{port} --threads={threads} APP",
        source="https://docs.pylonsproject.org/projects/waitress/en/stable/runner.html",
        factory="--call",
    ),
    "hypercorn": Server(
        interfaces=(ASGI,),
        package="hypercorn==0.18.0",
        command="{python} -m hypercorn --bind {host}:{port} --workers {workers} --log-level "
        "warning APP",
        source="https://hypercorn.readthedocs.io/en/latest/how_to_guides/configuring.html",
    ),
}


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
            "{interface}. Use --server {servers}, or start it yourself with --service-command.",
            server=name,
            app=app,
            interface=interface,
            interfaces=listed(server.interfaces, OR),
            servers=listed(
                [other for other, one in SERVERS.items() if interface in one.interfaces], OR
            ),
        )
    interface = interface or server.interfaces[0]
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
