"""`http.server`: ThreadingHTTPServer, a thread for each connection, HTTP/1.1 so that connections are kept.

protocol_version, a Content-Length in every answer and daemon_threads are what its documentation asks for. wfile is
buffered and Nagle is off, so that an answer is one packet: without, each waits 40 ms for a delayed ACK.
Source: docs.python.org/3/library/http.server.html
"""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from core.cell import Cell
from experiments.league.hosted import Counts, HostedService
from experiments.league.http_answer import CONTENT_TYPE, http_answer
from services.listeners import listen_tcp


def http_server_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """The service of *cell*, listening."""
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
            """Nothing is logged per request."""

    server = ThreadingHTTPServer(listener.sock.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener.sock
    return HostedService(listener, server.serve_forever, counts)
