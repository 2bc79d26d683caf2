"""Declare the alternatives: servers of other projects and of the standard library. See docs/alternatives.md."""

from functools import partial

from clients.native import FRAMED
from core.messages import message
from core.system import System

GRANIAN_NEEDS_NO_GIL = message("Granian refuses to run on a free-threaded build whose GIL is on")

_framed = partial(
    System,
    group="league",
    reads=("TRANSPORT",),
    caller="clients.callers:framed_caller",
    message="clients.channel:framed_message",
    native_client=FRAMED,
    supports_hosts=True,
)
_own_client = partial(System, group="league", message="clients.channel:json_message")
_http = partial(System, group="league", caller="clients.callers:http_caller", message="clients.channel:http_message")

SPEAK_OUR_FRAMES = (
    _framed(
        name="alt-anyio",
        title=message("AnyIO on asyncio, one loop"),
        service="experiments.league.anyio_app:anyio_service",
        requirements="requirements/anyio.txt",
        request_cpu_us=150,
    ),
    _framed(
        name="alt-asyncio-protocol",
        title=message("asyncio protocol, one loop"),
        service="experiments.league.asyncio_servers:asyncio_service",
        request_cpu_us=90,
    ),
    _framed(
        name="alt-asyncio-streams",
        title=message("asyncio streams, one loop"),
        service="experiments.league.asyncio_servers:streams_service",
        request_cpu_us=110,
    ),
    _framed(
        name="alt-mpconnection",
        title=message("multiprocessing.connection, thread per connection"),
        service="experiments.league.thread_servers:connection_service",
        request_cpu_us=80,
    ),
    _framed(
        name="alt-socketserver",
        title=message("socketserver, thread per connection"),
        service="experiments.league.thread_servers:socketserver_service",
        request_cpu_us=80,
    ),
    _framed(
        name="alt-tornado-tcp",
        title=message("Tornado TCPServer, one loop"),
        service="experiments.league.tornado_tcp:tornado_tcp_service",
        requirements="requirements/tornado.txt",
        request_cpu_us=150,
    ),
    _framed(  # with a loop factory, as uvloop.readthedocs.io/user recommends
        name="alt-uvloop",
        title=message("uvloop, protocol, one loop"),
        service="experiments.league.asyncio_servers:uvloop_service",
        requirements="requirements/uvloop.txt",
        request_cpu_us=80,
    ),
)

HAVE_A_CLIENT_OF_THEIR_OWN = (
    _own_client(
        name="alt-grpc",
        title=message("gRPC, max_workers = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
        service="experiments.league.grpc:grpc_service",
        caller="experiments.league.grpc:caller",
        requirements="requirements/grpcio.txt",
        request_cpu_us=500,
    ),
    _own_client(
        name="alt-pyro5-multiplex",
        title=message("Pyro5 multiplex, one thread"),
        reads=("TRANSPORT",),
        service="experiments.league.pyro5:multiplex_service",
        caller="experiments.league.pyro5:caller",
        requirements="requirements/pyro5.txt",
        request_cpu_us=300,
    ),
    _own_client(
        name="alt-pyro5-thread",
        title=message("Pyro5 thread, THREADPOOL_SIZE = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
        service="experiments.league.pyro5:thread_service",
        caller="experiments.league.pyro5:caller",
        requirements="requirements/pyro5.txt",
        request_cpu_us=300,
    ),
    _own_client(  # a ROUTER with worker threads, called by DEALER sockets
        name="alt-pyzmq",
        title=message("ZeroMQ ROUTER, worker threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
        service="experiments.league.pyzmq:zmq_service",
        caller="experiments.league.pyzmq:caller",
        requirements="requirements/pyzmq.txt",
        request_cpu_us=200,
    ),
    _own_client(
        name="alt-rpyc",
        title=message("RPyC ThreadedServer, thread per connection"),
        reads=("TRANSPORT",),
        service="experiments.league.rpyc:threaded_service",
        caller="experiments.league.rpyc:caller",
        requirements="requirements/rpyc.txt",
        supports_hosts=True,
        request_cpu_us=400,
    ),
    _own_client(
        name="alt-rpyc-pool",
        title=message("RPyC ThreadPoolServer, nbThreads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE", "TRANSPORT"),
        service="experiments.league.rpyc:pool_service",
        caller="experiments.league.rpyc:caller",
        requirements="requirements/rpyc.txt",
        supports_hosts=True,
        request_cpu_us=450,
    ),
)

SPEAK_HTTP = (
    _http(
        name="alt-cheroot",
        title=message("Cheroot, numthreads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.http_servers:cheroot_service",
        requirements="requirements/cheroot.txt",
        supports_hosts=True,
        request_cpu_us=400,
    ),
    _http(
        name="alt-flask",
        title=message("Flask on Waitress, threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.http_servers:flask_service",
        requirements="requirements/flask.txt",
        supports_hosts=True,
        request_cpu_us=500,
    ),
    _http(
        name="alt-flask-gunicorn",
        title=message("Flask on Gunicorn gthread, threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.commanded:flask_on_gunicorn",
        requirements="requirements/flask.txt",
        request_cpu_us=500,
    ),
    _http(
        name="alt-granian-asgi",
        title=message("Granian ASGI, one loop"),
        service="experiments.league.commanded:granian_asgi",
        requirements="requirements/granian.txt",
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
        request_cpu_us=150,
    ),
    _http(
        name="alt-granian-wsgi",
        title=message("Granian WSGI, blocking threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.commanded:granian_wsgi",
        requirements="requirements/granian.txt",
        no_forced_gil=GRANIAN_NEEDS_NO_GIL,
        request_cpu_us=150,
    ),
    _http(
        name="alt-gunicorn",
        title=message("Gunicorn gthread, 1 worker, threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.commanded:gunicorn_wsgi",
        requirements="requirements/gunicorn.txt",
        request_cpu_us=350,
    ),
    _http(
        name="alt-http-server",
        title=message("http.server, thread per connection"),
        service="experiments.league.http_servers:http_server_service",
        supports_hosts=True,
        request_cpu_us=300,
    ),
    _http(
        name="alt-uvicorn",
        title=message("Uvicorn with uvloop and httptools, one loop"),
        service="experiments.league.http_servers:uvicorn_service",
        requirements="requirements/uvicorn.txt",
        supports_hosts=True,
        request_cpu_us=200,
    ),
    _http(
        name="alt-waitress",
        title=message("Waitress, threads = workers"),
        reads=("NUM_WORKERS_PER_API_SERVICE",),
        service="experiments.league.http_servers:waitress_service",
        requirements="requirements/waitress.txt",
        supports_hosts=True,
        request_cpu_us=400,
    ),
)

SYSTEMS = (*SPEAK_OUR_FRAMES, *HAVE_A_CLIENT_OF_THEIR_OWN, *SPEAK_HTTP)
