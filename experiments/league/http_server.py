"""Serve with http.server: `python -m experiments.league.http_server HOST PORT`.

It has a thread for each connection, and HTTP/1.1 keeps connections open. Its documentation asks for
protocol_version, a Content-Length in every answer and daemon_threads. wfile is buffered and Nagle's
algorithm is off, so that an answer is one packet. Otherwise each answer would wait 40 ms for a
delayed ACK.
Source: docs.python.org/3/library/http.server.html

alt_systems.py has the command. It runs under the measured runtime.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from experiments.league.http_answer import CONTENT_TYPE, http_answer
from services.listeners import BACKLOG


class Handler(BaseHTTPRequestHandler):
    """A handler that answers requests with the status and body of http_answer()."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # the default size of a buffer; http.server has 0, which is unbuffered
    wbufsize = -1

    def do_POST(self) -> None:
        """Answer a request; the other methods that requests may have are bound to it below."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        code, reply = http_answer(self.command, path, query, body)
        self.send_response(code)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """An HTTP server with a thread for each connection, and the same listen backlog as gilscope's
    own services.
    """

    request_queue_size = BACKLOG


if __name__ == "__main__":
    host, port = sys.argv[1:]
    Server((host, int(port)), Handler).serve_forever()
