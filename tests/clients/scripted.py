"""Fakes that play a service: scripted bytes in place of a socket, and a listener that plays a script per connection."""

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from core.wire import frame

DEADLINE_S = 10.0
RIGHT = b'{"code": 200, "msg": "1000", "err": "", "calc_ns": 24123}'
WRONG = b'{"code": 200, "msg": "999", "err": "", "calc_ns": 24123}'
FULL = b'{"code": 503, "msg": "", "err": "the cache is full", "calc_ns": 0}'

Script = Callable[[socket.socket], None]


class ScriptedSocket:
    """recv() gives one piece at a time, then end of file; an error among the pieces is raised in its place."""

    def __init__(self, pieces: Iterable[bytes | OSError], send_error: OSError | None = None) -> None:
        self._pieces = list(pieces)
        self._send_error = send_error
        self.sent: list[bytes] = []
        self.closed = False

    def sendall(self, message: bytes) -> None:
        if self._send_error is not None:
            raise self._send_error
        self.sent.append(message)

    def settimeout(self, deadline_s: float) -> None:
        """Its pieces come at once."""

    def recv(self, limit: int) -> bytes:
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, OSError):
            raise piece
        if len(piece) > limit:
            self._pieces.insert(0, piece[limit:])
        return piece[:limit]

    def close(self) -> None:
        self.closed = True


class ScriptedService:
    """Listens on a Unix socket; its n-th connection is played by the n-th script, all further ones by the last.

    requests is what came in, in order, without the frames' lengths.
    """

    def __init__(self, folder: Path, *scripts: Script) -> None:
        self.address = str(folder / f"service-{len(list(folder.iterdir()))}.sock")
        self.connections = 0
        self._scripts = scripts
        self._closing = False
        self._playing: socket.socket | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.address)
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._play, name="scripted service")
        self._thread.start()

    def __enter__(self) -> "ScriptedService":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._closing = True
        if kind is not None and self._playing is not None:
            self._playing.shutdown(socket.SHUT_RDWR)
        with socket.socket(socket.AF_UNIX) as knock:
            knock.connect(self.address)
            self._thread.join(DEADLINE_S)
        self._listener.close()
        assert not self._thread.is_alive(), f"the script of connection {self.connections} does not end"

    def _play(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            with sock:
                if self._closing:
                    return
                sock.settimeout(DEADLINE_S)
                self.connections += 1
                self._playing = sock
                self._scripts[min(self.connections, len(self._scripts)) - 1](sock)
                self._playing = None


def request_from(sock: socket.socket) -> bytes:
    """The body of the next frame; nothing at end of file."""
    header = _exactly(sock, 4)
    return _exactly(sock, int.from_bytes(header)) if header else b""


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            assert not data, "the client stopped in the middle of a frame"
            return b""
        data += more
    return data


def answers(*bodies: bytes) -> Script:
    """Answer one request with each of *bodies*, in turn; take one more and close."""

    def play(sock: socket.socket) -> None:
        for body in bodies:
            if not request_from(sock):
                return
            sock.sendall(frame(body))
        request_from(sock)

    return play


def always(body: bytes) -> Script:
    """Answer every request with *body* until the client closes."""

    def play(sock: socket.socket) -> None:
        while request_from(sock):
            sock.sendall(frame(body))

    return play


def says(stream: bytes) -> Script:
    """Answer the first request with the bytes *stream*, then close."""

    def play(sock: socket.socket) -> None:
        if request_from(sock):
            sock.sendall(stream)

    return play


def closes(sock: socket.socket) -> None:
    """Take one request and close."""
    request_from(sock)
