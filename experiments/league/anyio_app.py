"""A service with AnyIO on its default back end (asyncio): a task for each connection, all in one
event loop.

AnyIO's documentation recommends receive_exactly on a BufferedByteReceiveStream to read by length.
Source: anyio.readthedocs.io/en/stable/streams.html

alt_systems.py names AnyioService. services/event_loop.py has the base class and its hooks. As in
all services of the league, frames are those of core/wire.py and answers those of core/work.py.
"""

import socket
import threading

from anyio import BrokenResourceError, EndOfStream, IncompleteRead
from anyio.abc import SocketAttribute, SocketListener, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from core.wire import frame
from core.work import answer
from experiments.league.frame_lengths import HEADER_BYTES, body_bytes, refusal, refused
from services.event_loop import LoopService


class AnyioService(LoopService):
    """A service whose connections are tasks of AnyIO."""

    async def _serve(self, accepting: threading.Event) -> None:
        sock = self.listeners[0].sock
        sock.setblocking(False)
        async with await SocketListener.from_socket(sock) as listener:
            accepting.set()
            await listener.serve(self._answer)

    async def _answer(self, stream: SocketStream) -> None:
        if self.listeners[0].is_tcp:
            stream.extra(SocketAttribute.raw_socket).setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
            )
        reader = BufferedByteReceiveStream(stream)
        async with stream:
            try:
                while not refused(size := body_bytes(await reader.receive_exactly(HEADER_BYTES))):
                    reply = frame(answer(await reader.receive_exactly(size)))
                    self.counted += 1
                    await stream.send(reply)
                await stream.send(refusal(size))
            except (IncompleteRead, EndOfStream, BrokenResourceError):
                pass
