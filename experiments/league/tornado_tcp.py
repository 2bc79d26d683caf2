"""A service with Tornado's TCPServer and IOStream: a coroutine for each connection, all in one
event loop.

It follows the example in TCPServer's documentation, with read_bytes for the length and the body.
Source: www.tornadoweb.org/en/stable/tcpserver.html

alt_systems.py names TornadoTcpService. services/event_loop.py has the base class and its hooks.
"""

import socket

from tornado.iostream import IOStream, StreamClosedError
from tornado.tcpserver import TCPServer

from core.wire import frame
from core.work import answer
from experiments.league.frame_lengths import HEADER_BYTES, body_bytes, refusal, refused
from services.event_loop import LoopService


class _Server(TCPServer):
    def __init__(self, service: LoopService) -> None:
        super().__init__()
        self._service = service

    async def handle_stream(self, stream: IOStream, address: object) -> None:
        if stream.socket.family != socket.AF_UNIX:
            stream.set_nodelay(True)
        try:
            while not refused(size := body_bytes(await stream.read_bytes(HEADER_BYTES))):
                reply = frame(answer(await stream.read_bytes(size)))
                self._service.counted += 1
                await stream.write(reply)
            await stream.write(refusal(size))
            stream.close()
        except StreamClosedError:
            pass


class TornadoTcpService(LoopService):
    """A service with one Tornado TCPServer."""

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        _Server(self).add_socket(sock)
