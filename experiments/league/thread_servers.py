"""Services with servers of the standard library and a thread for each connection.

`socketserver` with ThreadingMixIn: the thread reads with rfile and answers with wfile, as in "Asynchronous Mixins" of
the documentation. daemon_threads is on, so that an idle connection does not delay the end of the process.
Source: docs.python.org/3/library/socketserver.html

`multiprocessing.connection`: a Listener, and a thread for each Connection. Its framing is gilscope's, and nothing is
unpickled. recv_bytes closes a connection that announces too large a frame, so there is no answer with 413.
Source: docs.python.org/3/library/multiprocessing.html#module-multiprocessing.connection
"""

import socket
import threading
from contextlib import suppress
from socketserver import BaseServer, StreamRequestHandler, TCPServer, ThreadingMixIn, UnixStreamServer
from typing import TYPE_CHECKING

from core.cell import Cell
from core.wire import MAX_FRAME_BYTES, frame
from core.work import answer
from experiments.league.hosted import (
    HEADER_BYTES,
    Counts,
    HostedService,
    body_bytes,
    bound,
    refusal,
    refused,
    unix_path,
)
from services.listeners import BACKLOG, Listener, Reach, listen

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.connection import Listener as ConnectionListener


class _UnixServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


class _TcpServer(ThreadingMixIn, TCPServer):
    daemon_threads = True


def socketserver_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the socketserver service for the measurement *cell*. Its socket is already listening."""
    listener, counts = listen(cell, service_id, folder)[0], Counts()

    class Handler(StreamRequestHandler):
        disable_nagle_algorithm = listener.sock.family != socket.AF_UNIX

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

    return HostedService(listener, _server(listener, Handler).serve_forever, counts)


def _server(listener: Listener, handler: type[StreamRequestHandler]) -> BaseServer:
    """Return a server for a socket that is already listening."""
    kind: type[_UnixServer] | type[_TcpServer] = _UnixServer
    if listener.sock.family != socket.AF_UNIX:
        kind = _TcpServer
    server = kind(listener.sock.getsockname(), handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener.sock
    return server


def connection_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the multiprocessing.connection service for the measurement *cell*. Its socket is already listening."""
    from multiprocessing.connection import Listener as ConnectionListener

    counts, path = Counts(), unix_path(cell, service_id, folder)
    listener = ConnectionListener(path or (Reach.address, 0), "AF_UNIX" if path else "AF_INET", BACKLOG)
    port = 0 if path else int(listener.address[1])
    return HostedService(bound(path, port), lambda: _accept(listener, counts), counts)


def _accept(listener: "ConnectionListener", counts: Counts) -> None:
    while True:
        connection = listener.accept()
        if Reach.admits(listener.last_accepted):
            threading.Thread(target=_serve, args=(connection, counts), daemon=True).start()
        else:
            connection.close()


def _serve(connection: "Connection", counts: Counts) -> None:
    with connection, suppress(EOFError, OSError):
        while True:
            reply = answer(connection.recv_bytes(MAX_FRAME_BYTES))
            counts.add()
            connection.send_bytes(reply)
