"""A service with a server of the standard library and a thread for each connection.

`socketserver` with ThreadingMixIn: the thread reads with rfile and answers with wfile, as in
"Asynchronous Mixins" of the documentation. daemon_threads is on, so that an idle connection does
not delay the end of the process.
Source: docs.python.org/3/library/socketserver.html

alt_systems.py names SocketserverService, which follows the protocol Service
(core/system.py). Each connection has a counter of its own, so threads share none.
"""

import threading
from socketserver import BaseServer, StreamRequestHandler, ThreadingTCPServer
from typing import Any

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.frame_lengths import HEADER_BYTES, body_bytes, refusal, refused
from services.listeners import Listener, listen
from services.threaded import WorkerCount


class _Server(ThreadingTCPServer):
    daemon_threads = True


class SocketserverService:
    """A service that runs a server of socketserver on a thread. Early connections wait in the
    backlog of its listener.
    """

    def __init__(self, cell: Cell, service_id: int, folder: str) -> None:
        self.listeners = listen(cell, service_id, folder)
        self._counts: list[WorkerCount] = []  # one for each connection, also for those that ended

    def start(self) -> None:
        """Start the server on a thread."""
        server = _server(self.listeners[0], self._counts)
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()

    def counters(self) -> dict[str, Any]:
        """Return the number of answered requests."""
        return {"requests": sum(counted.requests for counted in self._counts.copy())}

    def reset(self) -> None:
        """Set the request counters to zero."""
        for counted in self._counts.copy():
            counted.requests = 0


def _server(listener: Listener, counts: list[WorkerCount]) -> BaseServer:
    """Return a server for a socket that is already listening."""

    class Handler(StreamRequestHandler):
        disable_nagle_algorithm = listener.is_tcp

        def handle(self) -> None:
            read, write, counted = self.rfile.read, self.wfile.write, WorkerCount()
            counts.append(counted)
            while len(header := read(HEADER_BYTES)) == HEADER_BYTES:
                size = body_bytes(header)
                if refused(size):
                    write(refusal(size))
                    return
                if len(body := read(size)) < size:
                    return
                reply = frame(answer(body))
                counted.requests += 1  # before sending: this process may end after its last answer
                write(reply)

    server = _Server(("", 0), Handler, bind_and_activate=False)
    # socketserver always makes a socket; the one that already listens, also at a path, replaces it
    server.socket.close()
    server.socket = listener.sock
    return server
