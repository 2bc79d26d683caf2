"""Services with asyncio. All connections and the calculation run in one event loop. Both services set TCP_NODELAY.

Streams: a coroutine for each connection, as "TCP echo server using streams" in the documentation, with readexactly for
the length and the body. Source: docs.python.org/3/library/asyncio-stream.html

Protocols: callbacks for received data, which is asyncio's faster, low-level interface for libraries. The event loop is
asyncio's or uvloop's. Source: docs.python.org/3/library/asyncio-protocol.html
"""

import asyncio
from collections.abc import Callable

from core.cell import Cell
from core.wire import Frames, frame
from core.work import answer
from experiments.league.hosted import HEADER_BYTES, Counts, HostedService, body_bytes, refusal, refused
from services.listeners import Listener, Reach, listen


class FramesProtocol(asyncio.Protocol):
    """A connection that answers frames."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._frames = Frames()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport) or hasattr(transport, "write")
        self._transport: asyncio.WriteTransport = transport  # type: ignore[assignment]
        if not Reach.admits(transport.get_extra_info("peername")):  # uvloop does not use PeerSocket.accept()
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            reply = frame(answer(body))
            self._counts.add()
            self._transport.write(reply)
        if self._frames.refused_bytes is not None:
            self._transport.write(refusal(self._frames.refused_bytes))
            self._transport.close()


def asyncio_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell* in asyncio's own event loop."""
    return _service(listen(cell, service_id, folder)[0], asyncio.new_event_loop)


def uvloop_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return the service for the measurement *cell*, with a loop factory as uvloop's documentation recommends."""
    from uvloop import new_event_loop

    return _service(listen(cell, service_id, folder)[0], new_event_loop)


def _service(listener: Listener, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> HostedService:
    counts = Counts()

    async def run() -> None:
        listener.sock.setblocking(False)
        loop = asyncio.get_running_loop()
        async with await loop.create_server(lambda: FramesProtocol(counts), sock=listener.sock) as server:
            await server.serve_forever()

    def serve() -> None:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(run())

    return HostedService(listener, serve, counts)


def streams_service(cell: Cell, service_id: int, folder: str) -> HostedService:
    """Return a service that uses asyncio streams, for the measurement *cell*. The service's socket already listens."""
    listener, counts = listen(cell, service_id, folder)[0], Counts()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not refused(size := body_bytes(await reader.readexactly(HEADER_BYTES))):
                reply = frame(answer(await reader.readexactly(size)))
                counts.add()
                writer.write(reply)
                await writer.drain()
            writer.write(refusal(size))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def run() -> None:
        listener.sock.setblocking(False)
        async with await asyncio.start_server(serve, sock=listener.sock) as server:
            await server.serve_forever()

    return HostedService(listener, lambda: asyncio.run(run()), counts)
