"""Wait for slow connections on a separate thread, so that they do not block a worker.

Such connections send or read slowly, or are being closed. The thread starts with the first of them.

cached.py and threaded.py have one each. While a connection is here, no worker uses it. The
functions `ready`, `done`, `then` and `late` run on the thread of this module, and must not block.
"""

import selectors
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from services.service_connection import Connection

FLUSH_S = 60.0  # for a peer to read its last answer
LINGER_S = 2.0  # for a peer to close, after its last answer was sent
NEVER = float("inf")  # a deadline
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


@dataclass(frozen=True, slots=True, eq=False)
class _Parked:
    """A pending wait for a socket event, with a deadline and the functions to call. Without a
    socket, it is a timer.
    """

    sock: socket.socket | None
    event: int
    until: float
    ready: Callable[[], None]
    late: Callable[[], None]


class ParkedConnections:
    """A thread that waits for many slow connections, each with a deadline. Any thread may call the
    public methods.
    """

    def __init__(self) -> None:
        self._coming: deque[_Parked] = deque()
        self._parked: set[_Parked] = set()
        self._selector = selectors.DefaultSelector()
        self._waker, self._woken = socket.socketpair()
        self._waker.setblocking(False)
        self._selector.register(self._woken, READ)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def wait_for_request(
        self, connection: Connection, until: float, ready: Callable[[Connection], None]
    ) -> None:
        """Call *ready* when the peer sends data. If none comes by *until* (monotonic time), close
        the connection.
        """
        self._park(
            _Parked(connection.sock, READ, until, lambda: ready(connection), connection.close)
        )

    def flush(
        self, connection: Connection, done: Callable[[Connection], None], until: float = NEVER
    ) -> None:
        """Send the unsent bytes when the peer accepts them, then call *done*. Close the connection
        at *until*.
        """

        def on_room() -> None:
            if connection.flush():
                done(connection)
            else:
                self.flush(connection, done, until)

        self._park(_Parked(connection.sock, WRITE, until, on_room, connection.close))

    def later(self, after_s: float, then: Callable[[], None]) -> None:
        """Call the function *then* after *after_s* seconds."""
        self._park(_Parked(None, 0, monotonic() + after_s, then, then))

    def close(self, connection: Connection) -> None:
        """Close the connection in a way that lets the peer receive the last answer.

        All bytes are sent, then data from the peer is read and discarded, because closing with
        unread data would reset the connection and lose the answer. The peer has FLUSH_S to read the
        answer and LINGER_S to close.
        """
        if connection.unsent:
            self.flush(connection, self._hang_up, monotonic() + FLUSH_S)
        else:
            self._hang_up(connection)

    def _hang_up(self, connection: Connection) -> None:
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            connection.close()
        else:
            self._drain(connection, monotonic() + LINGER_S)

    def _drain(self, connection: Connection, until: float) -> None:
        def on_data() -> None:
            if connection.discard():
                self._drain(connection, until)
            else:
                connection.close()

        self._park(_Parked(connection.sock, READ, until, on_data, connection.close))

    def _park(self, parked: _Parked) -> None:
        self._coming.append(parked)
        if threading.current_thread() is not self._thread:
            self._start_once()
            try:
                self._waker.send(b"\0")
            except BlockingIOError:
                pass  # the socket is full, so a wake-up is pending

    def _start_once(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="parked connections", daemon=True
                )
                self._thread.start()

    def _watch(self) -> None:
        while True:
            self._admit()
            for key, _ in self._selector.select(self._timeout_s()):
                if key.data is None:
                    self._woken.recv(4096)
                else:
                    self._release(key.data).ready()
            self._expire()

    def _admit(self) -> None:
        while self._coming:
            parked = self._coming.popleft()
            self._parked.add(parked)
            if parked.sock is not None:
                self._selector.register(parked.sock, parked.event, parked)

    def _release(self, parked: _Parked) -> _Parked:
        self._parked.remove(parked)
        if parked.sock is not None:
            self._selector.unregister(parked.sock)
        return parked

    def _timeout_s(self) -> float | None:
        soonest = min((parked.until for parked in self._parked), default=NEVER)
        return None if soonest == NEVER else max(0.0, soonest - monotonic())

    def _expire(self) -> None:
        now = monotonic()
        for parked in [parked for parked in self._parked if parked.until <= now]:
            self._release(parked).late()
