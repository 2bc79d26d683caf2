"""Services with asyncio. All connections and the calculation run in one event loop. Both services
set TCP_NODELAY.

Streams: a coroutine for each connection, as "TCP echo server using streams" in the documentation,
    with readexactly for the length and the body.
    Source: docs.python.org/3/library/asyncio-stream.html

Protocols: callbacks for received data, which is asyncio's faster, low-level interface for
    libraries. The event loop is asyncio's or uvloop's.
    Source: docs.python.org/3/library/asyncio-protocol.html

alt_systems.py names the three services. services/event_loop.py has the base class and its hooks.
"""

import asyncio
import socket
from typing import cast

from core.wire import Frames, frame
from core.work import answer
from experiments.league.frame_lengths import HEADER_BYTES, body_bytes, refusal, refused
from services.event_loop import LoopService
from services.listeners import Reach


class FramesProtocol(asyncio.Protocol):
    """A connection that answers frames."""

    def __init__(self, service: LoopService) -> None:
        self._service = service
        self._frames = Frames()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        if not Reach.admits(
            transport.get_extra_info("peername")
        ):  # uvloop does not use PeerSocket.accept()
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            reply = frame(answer(body))
            self._service.counted += 1
            self._transport.write(reply)
        if self._frames.refused_bytes is not None:
            self._transport.write(refusal(self._frames.refused_bytes))
            self._transport.close()


class FramesService(LoopService):
    """A service whose connections are protocols."""

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        await asyncio.get_running_loop().create_server(lambda: FramesProtocol(self), sock=sock)


class UvloopService(FramesService):
    """The same in an event loop of uvloop, with a loop factory as its documentation recommends."""

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Create the event loop."""
        from uvloop import new_event_loop

        loop: asyncio.AbstractEventLoop = new_event_loop()
        return loop


class StreamsService(LoopService):
    """A service whose connections are coroutines with streams."""

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        await asyncio.start_server(self._answer, sock=sock)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not refused(size := body_bytes(await reader.readexactly(HEADER_BYTES))):
                reply = frame(answer(await reader.readexactly(size)))
                self.counted += 1
                writer.write(reply)
                await writer.drain()
            writer.write(refusal(size))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
