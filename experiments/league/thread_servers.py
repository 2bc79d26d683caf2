"""A service with a server of the standard library and a thread for each connection.

`socketserver` with ThreadingMixIn: the thread reads with rfile and answers with wfile, as in "Asynchronous Mixins" of
the documentation. daemon_threads is on, so that an idle connection does not delay the end of the process.
Source: docs.python.org/3/library/socketserver.html
"""

import socket
from socketserver import BaseServer, StreamRequestHandler, TCPServer, ThreadingMixIn, UnixStreamServer

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.hosted import HEADER_BYTES, Counts, HostedService, body_bytes, refusal, refused
from services.listeners import Listener, listen


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
