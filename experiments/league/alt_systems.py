"""Declare the alternatives: servers of other projects and of the standard library. See
docs/experiments.md.

HTTP servers are commands, as a user's own service is. Kept connections may be idle for longer than
clients take to start. What else the commands say:

Cheroot, CherryPy's server, has a pool of threads and a selector of kept connections.
Source: cheroot.cherrypy.dev/en/latest/pkg/cheroot.cli/

Granian has one worker. On a free-threaded build the worker is a thread of the server. WSGI uses the
blocking threads, which limit how much Python code runs at once. ASGI uses one event loop (uvloop,
from `granian[uvloop]`) and one blocking thread, the default. Both use one runtime thread and
HTTP/1.1. Granian refuses to run on a free-threaded build whose GIL is on, so there is no 3.14t+gil.
Source: github.com/emmett-framework/granian#workers-and-threads

Gunicorn has one worker of the class gthread, its documented class for threads. --worker-tmp-dir is
in memory, as the FAQ advises.
Source: docs.gunicorn.org/en/stable/settings.html, docs.gunicorn.org/en/stable/faq.html

Uvicorn with `uvicorn[standard]` has one event loop (uvloop) and httptools, which `auto` selects if
they are installed.
Source: uvicorn.dev/settings/

Waitress has one main loop that reads and writes, and threads that run the application.
Source: docs.pylonsproject.org/projects/waitress/en/stable/arguments.html

systems/__init__.py finds SYSTEMS, and core.system.System explains the fields. The names begin with
`alt-`, as the file's name does. The service is what is compared; the client is gilscope's.
"""

from functools import partial
from typing import Any

from core.messages import Message, message
from core.system import FRAMED, System

GRANIAN_NEEDS_NO_GIL = message("Granian refuses to run on a free-threaded build whose GIL is on")

# the module of the applications; a command appends :wsgi_app, :asgi_app or :flask_app
APPS = "experiments.league.http_answer"
CHEROOT = (
    "{python} -m cheroot --bind {host}:{port} --threads {threads} --timeout 75 "
    "--request-queue-size 4096"
)
GRANIAN = (
    "{python} -m granian --host {host} --port {port} --http 1 --no-ws --workers 1 "
    "--log-level error --interface"
)
GUNICORN = (
    "env -u GUNICORN_CMD_ARGS {python} -m gunicorn --bind {host}:{port} --backlog 4096 "
    "--worker-class gthread --workers 1 --threads {threads} --keep-alive 75 --log-level error "
    "--no-control-socket --worker-tmp-dir /dev/shm"
)
UVICORN = (
    "{python} -m uvicorn --host {host} --port {port} --workers 1 --lifespan off --log-level "
    "warning --no-access-log --backlog 4096 --timeout-keep-alive 75"
)
WAITRESS = "{python} -m waitress --listen={host}:{port} --backlog=4096 --threads={threads}"


def _alternative(
    name: str, title: Message, service: str, packages: str, request_cpu_us: int, **how: Any
) -> System:
    """Return a System for a server of another project, which is compared with gilscope's own
    servers.

    service: a class of this folder, or a command, which contains {host}
    packages: name of its file in requirements, or "" if it needs no packages
    """
    is_command = "{host}" in service
    return System(
        name=name,
        title=title,
        group="league",
        service=None if is_command else f"experiments.league.{service}",
        command=service if is_command else "",
        requirements=packages and f"requirements/{packages}.txt",
        request_cpu_us=request_cpu_us,
        **how,
    )


_framed = partial(
    _alternative,
    reads=("TRANSPORT",),
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    supports_hosts=True,
)
_http = partial(
    _alternative, caller="clients.callers:http_caller", message="clients.channel:http_message"
)
_pooled = partial(_http, reads=("NUM_WORKERS_PER_API_SERVICE",))

SPEAK_OUR_FRAMES = (
    _framed(
        "alt-anyio", message("AnyIO on asyncio, one loop"), "anyio_app:AnyioService", "anyio", 150
    ),
    _framed(
        "alt-asyncio-protocol",
        message("asyncio.Protocol, one loop"),
        "asyncio_servers:FramesService",
        "",
        90,
    ),
    _framed(
        "alt-asyncio-streams",
        message("asyncio streams, one loop"),
        "asyncio_servers:StreamsService",
        "",
        110,
    ),
    _framed(
        "alt-socketserver",
        message("socketserver, thread per connection"),
        "thread_servers:SocketserverService",
        "",
        80,
    ),
    _framed(
        "alt-tornado-tcp",
        message("Tornado TCPServer, one loop"),
        "tornado_tcp:TornadoTcpService",
        "tornado",
        150,
    ),
    _framed(  # with a loop factory, as uvloop.readthedocs.io/user recommends
        "alt-uvloop",
        message("asyncio.Protocol on uvloop, one loop"),
        "asyncio_servers:UvloopService",
        "uvloop",
        80,
    ),
)

SPEAK_HTTP = (
    _pooled(
        "alt-cheroot",
        message("Cheroot, numthreads = workers"),
        f"{CHEROOT} {APPS}:wsgi_app",
        "cheroot",
        400,
    ),
    _pooled(
        "alt-flask",
        message("Flask on Waitress, threads = workers"),
        f"{WAITRESS} --call {APPS}:flask_app",
        "flask",
        500,
    ),
    _pooled(
        "alt-flask-gunicorn",
        message("Flask on Gunicorn gthread, threads = workers"),
        f"{GUNICORN} {APPS}:flask_app()",
        "flask",
        500,
    ),
    _http(
        "alt-granian-asgi",
        message("Granian ASGI, one loop"),
        f"{GRANIAN} asgi {APPS}:asgi_app",
        "granian",
        150,
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
    ),
    _pooled(
        "alt-granian-wsgi",
        message("Granian WSGI, blocking threads = workers"),
        f"{GRANIAN} wsgi --blocking-threads {{threads}} {APPS}:wsgi_app",
        "granian",
        150,
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
    ),
    _pooled(
        "alt-gunicorn",
        message("Gunicorn gthread, 1 worker, threads = workers"),
        f"{GUNICORN} {APPS}:wsgi_app",
        "gunicorn",
        350,
    ),
    _http(
        "alt-http-server",
        message("http.server, thread per connection"),
        "{python} -m experiments.league.http_server {host} {port}",
        "",
        300,
    ),
    _http(
        "alt-uvicorn",
        message("Uvicorn with uvloop and httptools, one loop"),
        f"{UVICORN} {APPS}:asgi_app",
        "uvicorn",
        200,
    ),
    _pooled(
        "alt-waitress",
        message("Waitress, threads = workers"),
        f"{WAITRESS} {APPS}:wsgi_app",
        "waitress",
        400,
    ),
)

SYSTEMS = (*SPEAK_OUR_FRAMES, *SPEAK_HTTP)
