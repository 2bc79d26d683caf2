"""Raw connections to a service: whatever bytes a test likes. The framing is written out here, not taken from core."""

import json
import re
import socket
import struct
from typing import Any

DEADLINE_S = 30.0  # generous: it is to catch what hangs, and the machine may be busy


def framed(body: bytes) -> bytes:
    """*body* behind its length, as multiprocessing.connection sends it."""
    return struct.pack("!i", len(body)) + body


def request(url: str, method: str = "POST", **params: Any) -> bytes:
    """The body of a request."""
    return json.dumps({"method": method, "url": url, "params": params}).encode()


CALC = request("/calc", target=7)


class Peer:
    """One connection; waits at most deadline_s each time it reads or writes."""

    def __init__(
        self, address: str, *, deadline_s: float = DEADLINE_S, receive_buffer_bytes: int = 0, source: str = ""
    ) -> None:
        host, _, port = address.rpartition(":")
        family, where = (socket.AF_INET, (host, int(port))) if host else (socket.AF_UNIX, address)
        self.sock = socket.socket(family)
        try:
            if host:
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if receive_buffer_bytes:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
            if source:
                self.sock.bind((source, 0))
            self.sock.settimeout(deadline_s)
            self.sock.connect(where)
        except BaseException:
            self.sock.close()
            raise
        self._file = self.sock.makefile("rb")

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self.sock.close()

    def send(self, data: bytes) -> None:
        """Send all of *data*."""
        self.sock.sendall(data)

    def ask(self, body: bytes) -> Any:
        """Send *body* in a frame; the answer."""
        self.send(framed(body))
        return self.answer()

    def answer(self) -> Any:
        """The next frame's JSON. Raises EOFError at the end of the stream, TimeoutError at the deadline."""
        (size,) = struct.unpack("!i", self.take(4))
        return json.loads(self.take(size))

    def response(self) -> tuple[int, bytes]:
        """The next HTTP response: its status, and its body."""
        head = b""
        for line in self._file:
            head += line
            if line == b"\r\n":
                break
        length = re.search(rb"\r\ncontent-length: (\d+)", head, re.I)
        assert length is not None, head
        return int(head.split()[1]), self.take(int(length[1]))

    def is_closed(self) -> bool:
        """Whether the service closes the connection without another byte."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def take(self, count: int) -> bytes:
        """The next *count* bytes. Raises EOFError, TimeoutError."""
        taken = self._file.read(count)
        if len(taken) < count:
            raise EOFError(f"the service closed the connection; not used: {taken[:200]!r}")
        return taken
