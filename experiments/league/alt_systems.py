"""Declare the alternatives: servers of other projects and of the standard library. See docs/experiments.md."""

from functools import partial
from typing import Any

from clients.native import FRAMED
from core.messages import Message, message
from core.system import System

GRANIAN_NEEDS_NO_GIL = message("Granian refuses to run on a free-threaded build whose GIL is on")

WORKERS = ("NUM_WORKERS_PER_API_SERVICE",)


def _alternative(name: str, title: Message, service: str, packages: str, request_cpu_us: int, **how: Any) -> System:
    """Return a system of the experiment league: a server of another project.

    packages: name of its file in requirements, or "" if it needs no packages
    """
    return System(
        name=name,
        title=title,
        group="league",
        service=f"experiments.league.{service}",
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
_own_client = partial(_alternative, message="clients.channel:json_message")
_http = partial(_alternative, caller="clients.callers:http_caller", message="clients.channel:http_message")

SPEAK_OUR_FRAMES = (
    _framed("alt-anyio", message("AnyIO on asyncio, one loop"), "anyio_app:anyio_service", "anyio", 150),
    _framed("alt-asyncio-protocol", message("asyncio protocol, one loop"), "asyncio_servers:asyncio_service", "", 90),
    _framed("alt-asyncio-streams", message("asyncio streams, one loop"), "asyncio_servers:streams_service", "", 110),
    _framed(
        "alt-mpconnection",
        message("multiprocessing.connection, thread per connection"),
        "thread_servers:connection_service",
        "",
        80,
    ),
    _framed(
        "alt-socketserver",
        message("socketserver, thread per connection"),
        "thread_servers:socketserver_service",
        "",
        80,
    ),
    _framed(
        "alt-tornado-tcp", message("Tornado TCPServer, one loop"), "tornado_tcp:tornado_tcp_service", "tornado", 150
    ),
    _framed(  # with a loop factory, as uvloop.readthedocs.io/user recommends
        "alt-uvloop", message("uvloop, protocol, one loop"), "asyncio_servers:uvloop_service", "uvloop", 80
    ),
)

HAVE_A_CLIENT_OF_THEIR_OWN = (
    _own_client(
        "alt-grpc",
        message("gRPC, max_workers = workers"),
        "grpc:grpc_service",
        "grpcio",
        500,
        reads=(*WORKERS, "TRANSPORT"),
        caller="experiments.league.grpc:caller",
    ),
    _own_client(
        "alt-pyro5-multiplex",
        message("Pyro5 multiplex, one thread"),
        "pyro5:multiplex_service",
        "pyro5",
        300,
        reads=("TRANSPORT",),
        caller="experiments.league.pyro5:caller",
    ),
    _own_client(
        "alt-pyro5-thread",
        message("Pyro5 thread, THREADPOOL_SIZE = workers"),
        "pyro5:thread_service",
        "pyro5",
        300,
        reads=(*WORKERS, "TRANSPORT"),
        caller="experiments.league.pyro5:caller",
    ),
    _own_client(  # a ROUTER with worker threads, called by DEALER sockets
        "alt-pyzmq",
        message("ZeroMQ ROUTER, worker threads = workers"),
        "pyzmq:zmq_service",
        "pyzmq",
        200,
        reads=(*WORKERS, "TRANSPORT"),
        caller="experiments.league.pyzmq:caller",
    ),
    _own_client(
        "alt-rpyc",
        message("RPyC ThreadedServer, thread per connection"),
        "rpyc:threaded_service",
        "rpyc",
        400,
        reads=("TRANSPORT",),
        caller="experiments.league.rpyc:caller",
        supports_hosts=True,
    ),
    _own_client(
        "alt-rpyc-pool",
        message("RPyC ThreadPoolServer, nbThreads = workers"),
        "rpyc:pool_service",
        "rpyc",
        450,
        reads=(*WORKERS, "TRANSPORT"),
        caller="experiments.league.rpyc:caller",
        supports_hosts=True,
    ),
)

SPEAK_HTTP = (
    _http(
        "alt-cheroot",
        message("Cheroot, numthreads = workers"),
        "http_servers:cheroot_service",
        "cheroot",
        400,
        reads=WORKERS,
        supports_hosts=True,
    ),
    _http(
        "alt-flask",
        message("Flask on Waitress, threads = workers"),
        "http_servers:flask_service",
        "flask",
        500,
        reads=WORKERS,
        supports_hosts=True,
    ),
    _http(
        "alt-flask-gunicorn",
        message("Flask on Gunicorn gthread, threads = workers"),
        "commanded:flask_on_gunicorn",
        "flask",
        500,
        reads=WORKERS,
    ),
    _http(
        "alt-granian-asgi",
        message("Granian ASGI, one loop"),
        "commanded:granian_asgi",
        "granian",
        150,
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
    ),
    _http(
        "alt-granian-wsgi",
        message("Granian WSGI, blocking threads = workers"),
        "commanded:granian_wsgi",
        "granian",
        150,
        reads=WORKERS,
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
    ),
    _http(
        "alt-gunicorn",
        message("Gunicorn gthread, 1 worker, threads = workers"),
        "commanded:gunicorn_wsgi",
        "gunicorn",
        350,
        reads=WORKERS,
    ),
    _http(
        "alt-http-server",
        message("http.server, thread per connection"),
        "http_servers:http_server_service",
        "",
        300,
        supports_hosts=True,
    ),
    _http(
        "alt-uvicorn",
        message("Uvicorn with uvloop and httptools, one loop"),
        "http_servers:uvicorn_service",
        "uvicorn",
        200,
        supports_hosts=True,
    ),
    _http(
        "alt-waitress",
        message("Waitress, threads = workers"),
        "http_servers:waitress_service",
        "waitress",
        400,
        reads=WORKERS,
        supports_hosts=True,
    ),
)

SYSTEMS = (*SPEAK_OUR_FRAMES, *HAVE_A_CLIENT_OF_THEIR_OWN, *SPEAK_HTTP)
