"""Handle the service's side of a connection: received frames and unsent bytes. No
function blocks.

cached.py, threaded.py and parked.py use it. receive() and send() run for each request, on the
thread of a worker.
"""

import socket
import struct
from socket import MSG_DONTWAIT

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
