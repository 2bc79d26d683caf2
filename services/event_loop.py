"""A service whose event loop runs on a thread of its own.

tornado_app.py and the servers with event loops of experiments/ are subclasses. They replace
accept(), or _serve() if their library accepts by itself, and count in `counted` before each answer.
LoopService follows the protocol Service (core/system.py).
"""

import asyncio
import socket
import threading

from core.cell import Cell
from core.messages import Json
from services.listeners import listen


class LoopService:
    """A service with one event loop and one listener.

    counted: the number of answered requests. Only the loop's thread counts, just before it sends an
        answer, because the process may be stopped after the answer
    """

    def __init__(self, cell: Cell, service_id: int, folder: str) -> None:
        self.listeners = listen(cell, service_id, folder)
        self._cell = cell
        self.counted = 0

    def start(self) -> None:
        """Start the event loop and wait until it accepts connections."""
        accepting, runner = threading.Event(), asyncio.Runner(loop_factory=self.new_loop)
        threading.Thread(
            target=runner.run, args=(self._serve(accepting),), name="event loop", daemon=True
        ).start()
        accepting.wait()

    def counters(self) -> Json:
        """Return the number of answered requests."""
        return {"requests": self.counted}

    def reset(self) -> None:
        """Set the counter to zero."""
        self.counted = 0

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Create the event loop."""
        return asyncio.new_event_loop()

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        raise NotImplementedError

    async def _serve(self, accepting: threading.Event) -> None:
        sock = self.listeners[0].sock
        sock.setblocking(False)
        await self.accept(sock)
        accepting.set()
        await asyncio.Event().wait()
