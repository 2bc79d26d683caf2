"""A service with AnyIO on its default back end (asyncio): a task for each connection, all in one event loop.

AnyIO's documentation recommends receive_exactly on a BufferedByteReceiveStream to read by length.
Source: anyio.readthedocs.io/en/stable/streams.html
"""

import socket

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from core.cell import Cell
from core.wire import frame
from core.work import answer
from experiments.league.hosted import HEADER_BYTES, Counts, HostedService, body_bytes, refusal, refused
from services.listeners import listen


def anyio_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell*. Its socket is already listening."""
    listener, counts = listen(cell, service_id, folder)[0], Counts()

    async def serve(stream: SocketStream) -> None:
        if listener.sock.family != socket.AF_UNIX:
            stream.extra(SocketAttribute.raw_socket).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = BufferedByteReceiveStream(stream)
        async with stream:
            try:
                while not refused(size := body_bytes(await reader.receive_exactly(HEADER_BYTES))):
                    reply = frame(answer(await reader.receive_exactly(size)))
                    counts.add()
                    await stream.send(reply)
                await stream.send(refusal(size))
            except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError):
                pass

    async def run() -> None:
        listener.sock.setblocking(False)
        async with await SocketListener.from_socket(listener.sock) as accepting:
            await accepting.serve(serve)

    return HostedService(listener, lambda: anyio.run(run), counts)
