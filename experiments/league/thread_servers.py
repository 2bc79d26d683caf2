"""A service with a server of the standard library and a thread for each connection.

`socketserver` with ThreadingMixIn: the thread reads with rfile and answers with wfile, as in
"Asynchronous Mixins" of the documentation. daemon_threads is on, so that an idle connection does
not delay the end of the process.
Source: docs.python.org/3/library/socketserver.html
"""

import threading
from socketserver import (
    BaseServer,
    StreamRequestHandler,
    TCPServer,
    ThreadingMixIn,
    UnixStreamServer,
)
from typing import Any

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.frame_lengths import HEADER_BYTES, body_bytes, refusal, refused
from services.cached import WorkerCount
from services.listeners import Listener, listen


class _UnixServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


class _TcpServer(ThreadingMixIn, TCPServer):
    daemon_threads = True


class Counts:
    """The number of answered requests, with a counter for each thread. Counters of ended threads
    are kept.
    """

    def __init__(self) -> None:
        self._here = threading.local()
        self._all: list[WorkerCount] = []

    def add(self) -> None:
        """Count an answer before the calling thread sends it, because the process may be stopped
        after the answer.
        """
        try:
            self._here.count.requests += 1
        except AttributeError:
            self._here.count = WorkerCount()
            self._all.append(self._here.count)
            self._here.count.requests = 1

    @property
    def requests(self) -> int:
        """Return the number of requests answered since reset()."""
        return sum(counted.requests for counted in self._all.copy())

    def reset(self) -> None:
        """Set the request counters to zero. Call this method only while no request is
        in progress.
        """
        for counted in self._all.copy():
            counted.requests = 0


class SocketserverService:
    """A service that runs a server of socketserver on a thread.

    listener: open already, so that early connections wait in its backlog
    """

    def __init__(self, listener: Listener) -> None:
        self.listeners = [listener]
        self._counts = Counts()

    def start(self) -> None:
        """Start the server on a thread."""
        server = _server(self.listeners[0], self._counts)
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()

    def counters(self) -> dict[str, Any]:
        """Return the number of answered requests."""
        return {"requests": self._counts.requests}

    def reset(self) -> None:
        """Set the request counters to zero."""
        self._counts.reset()


def _server(listener: Listener, counts: Counts) -> BaseServer:
    """Return a server for a socket that is already listening."""

    class Handler(StreamRequestHandler):
        disable_nagle_algorithm = listener.is_tcp

        def handle(self) -> None:
            read, write = self.rfile.read, self.wfile.write
            while len(header := read(HEADER_BYTES)) == HEADER_BYTES:
                size = body_bytes(header)
                if refused(size):
                    write(refusal(size))
                    return
                if len(body := read(size)) < size:
                    return
                reply = frame(answer(body))
                counts.add()
                write(reply)

    kind: type[_UnixServer] | type[_TcpServer] = _TcpServer if listener.is_tcp else _UnixServer
    server = kind(listener.sock.getsockname(), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener.sock
    return server


def socketserver_service(cell: Cell, service_id: int, folder: str) -> SocketserverService:
    """Return the socketserver service for the measurement *cell*. Its socket is
    already listening.
    """
    return SocketserverService(listen(cell, service_id, folder)[0])
