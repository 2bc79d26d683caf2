"""A service with Tornado's TCPServer and IOStream: a coroutine for each connection, all in one event loop.

It follows the example in TCPServer's documentation, with read_bytes for the length and the body.
Source: www.tornadoweb.org/en/stable/tcpserver.html
"""

import asyncio
import socket

from tornado.iostream import IOStream, StreamClosedError
from tornado.tcpserver import TCPServer

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.hosted import HEADER_BYTES, Counts, HostedService, body_bytes, refusal, refused
from services.listeners import listen


class _Server(TCPServer):
    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    async def handle_stream(self, stream: IOStream, address: object) -> None:
        if stream.socket.family != socket.AF_UNIX:
            stream.set_nodelay(True)
        try:
            while not refused(size := body_bytes(await stream.read_bytes(HEADER_BYTES))):
                reply = frame(answer(await stream.read_bytes(size)))
                self._counts.add()
                await stream.write(reply)
            await stream.write(refusal(size))
            stream.close()
        except StreamClosedError:
            pass


def tornado_tcp_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell*. Its socket is already listening."""
    listener, counts = listen(cell, service_id, folder)[0], Counts()

    async def run() -> None:
        listener.sock.setblocking(False)
        _Server(counts).add_socket(listener.sock)
        await asyncio.Event().wait()

    return HostedService(listener, lambda: asyncio.run(run()), counts)
