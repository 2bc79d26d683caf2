"""Servers that can run a user's application (--app, --server): the command line of each, once.

Each is what the project documents for threads or workers, with its access log off. Threads are per worker.
"""

from dataclasses import dataclass

from core.errors import BadInput

WSGI, ASGI = "wsgi", "asgi"


@dataclass(frozen=True, kw_only=True)
class Server:
    """interfaces: what it serves, the first is what is meant where nothing is said.

    package: what is installed beside the user's requirements. source: where the options are documented.
    """

    name: str
    interfaces: tuple[str, ...]
    package: str
    command: str
    source: str


SERVERS: dict[str, Server] = {
    one.name: one
    for one in (
        Server(
            name="gunicorn",
            interfaces=(WSGI,),
            package="gunicorn==27.0.1",
            command="{python} -m gunicorn --bind {host}:{port} --worker-class gthread --workers {workers} "
            "--threads {threads} --keep-alive 75 --log-level warning --no-control-socket APP",
            source="https://docs.gunicorn.org/en/stable/design.html#how-many-threads",
        ),
        Server(
            name="granian",
            interfaces=(ASGI, WSGI),
            package="granian[uvloop]==2.8.7",
            command="{python} -m granian --interface INTERFACE --host {host} --port {port} --workers {workers} "
            "THREADS --no-ws --log-level warning APP",
            source="https://github.com/emmett-framework/granian#workers-and-threads",
        ),
        Server(
            name="uvicorn",
            interfaces=(ASGI,),
            package="uvicorn[standard]==0.54.0",
            command="{python} -m uvicorn --host {host} --port {port} --workers {workers} --no-access-log "
            "--log-level warning APP",
            source="https://www.uvicorn.org/deployment/",
        ),
        Server(
            name="waitress",
            interfaces=(WSGI,),
            package="waitress==3.0.2",
            command="{python} -m waitress --listen={host}:{port} --threads={threads} APP",
            source="https://docs.pylonsproject.org/projects/waitress/en/stable/runner.html",
        ),
        Server(
            name="hypercorn",
            interfaces=(ASGI,),
            package="hypercorn==0.18.0",
            command="{python} -m hypercorn --bind {host}:{port} --workers {workers} --log-level warning APP",
            source="https://hypercorn.readthedocs.io/en/latest/how_to_guides/configuring.html",
        ),
    )
}


def server(name: str, interface: str = "") -> tuple[Server, str]:
    """The server of that name, and the interface that it is to serve. Raises BadInput."""
    if name not in SERVERS:
        raise BadInput(f"--server is {name}; it must be one of {', '.join(SERVERS)}.")
    found = SERVERS[name]
    if interface and interface not in found.interfaces:
        raise BadInput(f"--interface is {interface}; {name} serves {' or '.join(found.interfaces)}.")
    return found, interface or found.interfaces[0]


def command(name: str, app: str, interface: str = "") -> str:
    """The command line of *app* (module:name) on a server. Raises BadInput."""
    found, chosen = server(name, interface)
    threads = "--blocking-threads {threads} " if chosen == WSGI else ""  # an ASGI worker of Granian is one loop
    return found.command.replace("APP", app).replace("INTERFACE", chosen).replace("THREADS ", threads)
