"""Handle the service's side of a connection: received frames and unsent bytes. No function blocks.

receive() and send() run for each request, on the thread of a worker. ParkedConnections waits for
slow connections on a thread of its own, so that they do not block a worker: for those that send or
read slowly, or are being closed. The thread starts with the first of them. While a connection is
parked, no worker uses it. The functions `ready`, `done`, `then` and `late` run on that thread, and
must not block.

threaded.py uses both, and the servers of experiments/ some of it.
"""

import selectors
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from socket import MSG_DONTWAIT
from time import monotonic
from typing import NamedTuple

from core.wire import Frames, frame
from core.work import error_answer
from services.listeners import Listener

READ_BYTES = 64 * 1024
# small enough for pymalloc, which is faster than malloc and realloc of 64 KiB
SHORT_READ_BYTES = 448


def set_options(sock: socket.socket, nodelay: bool = True, buffer_bytes: int = 0) -> None:
    """Set TCP_NODELAY (for TCP) and the buffer sizes of a socket. The kernel may double them; 0
    keeps its defaults.
    """
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    if buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)


def peer_of(fd: int) -> int:
    """Return the id of the process at the other end of a Unix socket; 0 if unknown. Source:
    unix(7), SO_PEERCRED.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    try:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
        try:
            pid: int = struct.unpack(
                "3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            )[0]
            return pid
        finally:
            sock.detach()
    except OSError:  # the socket was closed meanwhile
        return 0


class Connection:
    """An accepted connection. Only the thread that is serving the connection may use it.

    unsent: bytes that the peer has not accepted yet
    until: deadline (monotonic seconds) for a slow peer, or None
    """

    __slots__ = ("_read_bytes", "fd", "frames", "listener", "requests", "sock", "unsent", "until")

    def __init__(self, sock: socket.socket, listener: Listener) -> None:
        if listener.is_tcp:
            set_options(sock)
        self.sock = sock
        self.fd = sock.fileno()
        self.listener = listener
        self.frames = Frames()
        self._read_bytes = READ_BYTES
        self.unsent = b""
        self.requests = 0
        self.until: float | None = None

    def receive(self) -> list[bytes] | None:
        """Return the complete requests that have arrived (maybe an empty list), or None if the peer
        has hung up.
        """
        try:
            data = self.sock.recv(self._read_bytes, MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        self._read_bytes = SHORT_READ_BYTES if len(data) < SHORT_READ_BYTES else READ_BYTES
        return self.frames.feed(data) if data else None

    def send(self, reply: bytes) -> None:
        """Send as much of *reply* as the peer accepts now, and keep the remaining bytes in
        `unsent`.
        """
        if self.unsent:
            self.unsent += reply
            return
        try:
            sent = self.sock.send(reply, MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
        except OSError:
            return
        if sent < len(reply):
            self.unsent = reply[sent:]

    def refuse(self, code: int, err: str) -> None:
        """Send an error answer with status *code* to the peer. The caller must then close the
        connection.
        """
        self.send(frame(error_answer(code, err)))

    def refuse_frame(self) -> None:
        """Send the error answer to a frame whose announced length is not accepted."""
        self.refuse(413, f"a frame of {self.frames.refused_bytes} bytes is not accepted")

    def flush(self) -> bool:
        """Send as many of the unsent bytes as the peer accepts now. Return whether all unsent bytes
        were sent.
        """
        reply, self.unsent = self.unsent, b""
        self.send(reply)
        return not self.unsent

    def discard(self) -> bool:
        """Read and discard data from the peer. Return whether the peer may send more."""
        try:
            return bool(self.sock.recv(READ_BYTES, MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Close the socket of this connection."""
        self.sock.close()


# ---- slow connections ----------------------------------------------------------------------------

FLUSH_S = 60.0  # for a peer to read its last answer
LINGER_S = 2.0  # for a peer to close, after its last answer was sent
NEVER = float("inf")  # a deadline
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class _Parked(NamedTuple):
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
