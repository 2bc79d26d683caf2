"""Services with HTTP servers that run in the service process. The function of each service imports its library.

http.server has a thread for each connection, and HTTP/1.1 keeps connections open. Its documentation asks for
protocol_version, a Content-Length in every answer and daemon_threads. wfile is buffered and Nagle's algorithm is off,
so that an answer is one packet. Otherwise each answer would wait 40 ms for a delayed ACK.
Source: docs.python.org/3/library/http.server.html

Waitress has one main loop that reads and writes, and NUM_WORKERS_PER_API_SERVICE threads (its setting `threads`) that
run the application. Its warning about requests that wait for a thread is switched off, as its documentation shows,
because a load generator makes requests wait on purpose.
Source: docs.pylonsproject.org/projects/waitress/en/stable/arguments.html

Cheroot, CherryPy's server, has a pool of NUM_WORKERS_PER_API_SERVICE threads (its setting `numthreads`) and a selector
of kept connections. timeout is longer than clients may take to start.
Source: cheroot.cherrypy.dev/en/latest/pkg/cheroot.wsgi/

Uvicorn with `uvicorn[standard]` has one event loop (uvloop) and httptools, which `auto` selects if they are installed.
The calculation runs in the event loop, as in system 3. The access log is off.
Source: uvicorn.dev/settings/
"""

from typing import TYPE_CHECKING, Any

from core.cell import Cell
from experiments.league.hosted import Counts, HostedService, bound
from experiments.league.http_answer import CONTENT_TYPE, IDLE_S, MakeWsgiApp, asgi_app, http_answer, wsgi_app
from services.listeners import BACKLOG, Reach, for_peers, listen_tcp

if TYPE_CHECKING:
    from asyncio import Transport


def http_server_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service of *cell* with http.server, listening."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    listener, counts = listen_tcp(), Counts()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, _, query = self.path.partition("?")
            code, reply = http_answer(self.command, path, query, body)
            counts.add()
            self.send_response(code)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(listener.sock.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener.sock
    return HostedService(listener, server.serve_forever, counts)


def waitress_service(cell: Cell, service_id: int, folder: str, make_app: MakeWsgiApp = wsgi_app) -> HostedService:
    """Return the service of *cell* with Waitress, listening.

    make_app: returns an application that counts its answers
    """
    import logging

    import waitress

    listener, counts = listen_tcp(), Counts()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = waitress.create_server(make_app(counts), sockets=[listener.sock], threads=cell.num_workers_per_api_service)
    return HostedService(listener, server.run, counts)


def flask_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service of *cell* with Waitress and the Flask application."""
    from experiments.league.flask_app import flask_app

    return waitress_service(cell, service_id, folder, flask_app)


def cheroot_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service of *cell* with Cheroot, listening on a free port."""
    from cheroot.wsgi import Server

    counts, threads = Counts(), cell.num_workers_per_api_service
    place = (Reach.address, 0)
    server = Server(place, wsgi_app(counts), numthreads=threads, request_queue_size=BACKLOG, timeout=IDLE_S)
    server.prepare()
    server.socket = for_peers(server.socket)
    return HostedService(bound("", server.bind_addr[1]), server.serve, counts)


def uvicorn_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service of *cell* with Uvicorn, listening."""
    import uvicorn

    listener, counts = listen_tcp(), Counts()
    config = uvicorn.Config(
        asgi_app(counts),
        lifespan="off",
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_S,
    )
    config.load()
    if Reach.peers:
        config.http_protocol_class = _for_peers(config.http_protocol_class)
    config.get_loop_factory()  # import uvloop now, because the GIL is on while an extension is imported
    server = uvicorn.Server(config)
    return HostedService(listener, lambda: server.run(sockets=[listener.sock]), counts)


def _for_peers(protocol: Any) -> type:
    """Return a subclass of the asyncio.Protocol *protocol* that closes connections from other hosts at once."""

    class ForPeers(protocol):  # type: ignore[misc]
        def connection_made(self, transport: "Transport") -> None:
            super().connection_made(transport)
            if not Reach.admits(transport.get_extra_info("peername")):
                transport.abort()

    return ForPeers
