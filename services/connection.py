"""A connection as a service sees it: what has come in and what has not gone out yet. Nothing here blocks."""

import socket
from socket import MSG_DONTWAIT

from core.wire import Frames, frame
from core.work import error_answer
from services.listeners import Listener

READ_BYTES = 64 * 1024
SHORT_READ_BYTES = 448  # with its header an object of pymalloc, which costs less than 64 KiB by malloc and realloc


def set_options(sock: socket.socket, nodelay: bool = True, buffer_bytes: int = 0) -> None:
    """TCP_NODELAY where it is TCP, and both buffers; 0 leaves them to the kernel, which may double what it is given."""
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    if buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)


class Connection:
    """One accepted connection. Only the thread that holds it may touch it; unsent is what the peer has not taken;
    until is the deadline (monotonic seconds) of a peer that keeps us waiting, None while none does.
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

    def __repr__(self) -> str:
        return f"Connection(fd {self.fd}, {self.frames!r}, {len(self.unsent)} bytes unsent)"

    def receive(self) -> list[bytes] | None:
        """The requests that have arrived whole, possibly none; None if the peer has gone."""
        try:
            data = self.sock.recv(self._read_bytes, MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        self._read_bytes = SHORT_READ_BYTES if len(data) < SHORT_READ_BYTES else READ_BYTES
        return self.frames.feed(data) if data else None

    def send(self, reply: bytes) -> None:
        """Send *reply*, or as much of it as the peer takes now; the rest stays in unsent."""
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
        """Answer with an error; the caller closes."""
        self.send(frame(error_answer(code, err)))

    def flush(self) -> bool:
        """Send what is unsent; whether all of it went."""
        reply, self.unsent = self.unsent, b""
        self.send(reply)
        return not self.unsent

    def discard(self) -> bool:
        """Read and drop what the peer sends; whether it may send more."""
        try:
            return bool(self.sock.recv(READ_BYTES, MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Close the socket."""
        self.sock.close()
