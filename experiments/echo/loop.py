"""An echo server with an asyncio Protocol. It runs in asyncio's own event loop or in uvloop's event
loop.

Source of the form: docs.python.org, asyncio, Transports and Protocols, TCP Echo Server.

echo_systems.py names the two services. services/event_loop.py has the base class and its hooks.
data_received() runs for each message, in the event loop, and counts bytes in `counted`.
"""

import asyncio
import socket
from typing import Any, cast

from core.cell import Cell
from services.event_loop import LoopService
from services.listeners import Reach
from services.service_connection import set_options


class EchoLoop(LoopService):
    """An echo service, which counts bytes in place of requests."""

    def counters(self) -> dict[str, Any]:
        """Return the number of echoed messages: the echoed bytes divided by the message size."""
        return {"requests": self.counted // self._cell.message_bytes, "echoed_bytes": self.counted}

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        loop = asyncio.get_running_loop()
        await (loop.create_unix_server if self._cell.transport == "unix" else loop.create_server)(
            lambda: Echo(self, self._cell), sock=sock
        )


class EchoUvloop(EchoLoop):
    """An echo service in an event loop of uvloop."""

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Create the event loop."""
        from uvloop import new_event_loop

        loop: asyncio.AbstractEventLoop = new_event_loop()
        return loop


class Echo(asyncio.Protocol):
    """A connection that sends all data back. It stops reading while the peer does not read."""

    def __init__(self, service: EchoLoop, cell: Cell) -> None:
        self._service = service
        self._cell = cell

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(
            asyncio.Transport, transport
        )  # uvloop's transport has the same methods but another class
        if not Reach.admits(
            transport.get_extra_info("peername")
        ):  # uvloop does not use PeerSocket.accept()
            self._transport.abort()
            return
        set_options(transport.get_extra_info("socket"), self._cell.nodelay, self._cell.buffer_bytes)

    def data_received(self, data: bytes) -> None:
        self._service.counted += len(data)
        self._transport.write(data)

    def pause_writing(self) -> None:
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()
