"""Echo servers in Python: an asyncio Protocol in asyncio's or uvloop's event loop, and gilscope's
own connection cache with a worker pool (services/threaded.py).

Source of the Protocol: docs.python.org, asyncio, Transports and Protocols, TCP Echo Server.

echo_systems.py names EchoLoop, EchoUvloop and EchoPool. services/event_loop.py has the base class
of EchoLoop and its hooks. Echo.data_received() runs for each message, in the event loop, and counts
bytes in `counted`. CachedService calls EchoPool._connection() for each new connection and _server()
for each worker; the function that _server() returns runs for each message.
"""

import asyncio
import socket
from collections.abc import Callable
from socket import MSG_DONTWAIT
from typing import Any, cast

from core.cell import Cell
from services.event_loop import LoopService
from services.listeners import Listener, Reach
from services.service_connection import READ_BYTES, Connection, set_options
from services.threaded import CachedService, WorkerCount


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


class EchoPool(CachedService):
    """A service in which one worker at a time sends back all data that has arrived on
    a connection.
    """

    def counters(self) -> dict[str, Any]:
        """Return the number of echoed messages, in total and by worker, computed from the echoed
        bytes.
        """
        counted = super().counters()
        echoed_bytes = counted["requests"]
        by_worker = [number // self._cell.message_bytes for number in counted["requests_by_worker"]]
        return {
            "requests": echoed_bytes // self._cell.message_bytes,
            "echoed_bytes": echoed_bytes,
            "requests_by_worker": by_worker,
        }

    def _connection(self, sock: socket.socket, listener: Listener) -> Connection:
        connection = Connection(sock, listener)
        set_options(sock, self._cell.nodelay, self._cell.buffer_bytes)
        return connection

    def _server(self, worker: WorkerCount) -> Callable[[Connection], bool]:
        def serve(connection: Connection) -> bool:
            data = self._arrived(connection)
            if data is None:
                return self._drop(connection)
            worker.requests += len(
                data
            )  # in bytes, see counters(); before sending, because a reset may follow
            connection.send(data)
            return not connection.unsent or self._flush(connection)

        return serve

    def _arrived(self, connection: Connection) -> bytes | None:
        try:
            return connection.sock.recv(READ_BYTES, MSG_DONTWAIT) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None
