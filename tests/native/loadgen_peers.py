"""Scripted servers for loadgen, in threads of the test: they answer late, wrong, in halves, not at all, or die."""

import json
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.contract.peers import framed
from tests.native.programs import program_or_skip

DEADLINE_S = 60.0
HELLO = b"HTTP/1.1 200 OK\r\nServer: scripted/1\r\nContent-Length: 5\r\n\r\nhello"
CLOSING = HELLO.replace(b"Server", b"Connection: close\r\nServer")
Read = Callable[[socket.socket], bytes]


class Scripted:
    """A server that answers as its script says.

    script: told the server, a connection and its request; whether the connection is kept
    asked: all requests that have come; connections: how many were accepted
    stopped: set at the end; waiting for it is how a script stalls
    """

    def __init__(self, read: Read, script: "Script", folder: Path | None = None) -> None:
        self._read = read
        self._script = script
        self.asked: list[bytes] = []
        self.connections = 0
        self.stopped = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX if folder else socket.AF_INET)
        self._listener.bind(str(folder / "scripted") if folder else ("127.0.0.1", 0))
        self._listener.listen(256)
        name = self._listener.getsockname()
        self.address = name if folder else f"127.0.0.1:{name[1]}"
        self.url = f"unix:{name}:/a" if folder else f"http://{self.address}/a"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def requests(self) -> int:
        """How many requests have come."""
        return len(self.asked)

    @property
    def still_open(self) -> int:
        """How many connections neither side has closed."""
        return sum(connection.fileno() >= 0 for connection in self._open)

    def stall(self, wait_s: float) -> None:
        """Do nothing for a while, unless it ends before."""
        self.stopped.wait(wait_s)

    def die(self) -> None:
        """Close all connections, and accept no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def wait_for_closes(self) -> None:
        """Wait until the script has closed all connections."""
        for thread in self._threads[1:]:
            thread.join(DEADLINE_S)
        assert self.still_open == 0

    def stop(self) -> None:
        """End, and wait for all threads."""
        self.stopped.set()
        self.die()
        for thread in self._threads:
            thread.join(DEADLINE_S)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, EOFError):
            if connection.family == socket.AF_INET:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                request = self._read(connection)
                self.asked.append(request)
                if not self._script(self, connection, request):
                    return


Script = Callable[[Scripted, socket.socket, bytes], bool]


@contextmanager
def scripted(script: Script, read: Read, folder: Path | None = None) -> Iterator[Scripted]:
    """A scripted server on loopback TCP, or on a Unix socket in *folder*."""
    server = Scripted(read, script, folder)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def nobody_listens() -> Iterator[str]:
    """An address on loopback that refuses connections: it is bound to, so that nobody else can listen there."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


# ---- reading requests -----------------------------------------------------------------------------------------


def exactly(connection: socket.socket, size_bytes: int) -> bytes:
    """The next bytes. Raises EOFError."""
    data = connection.recv(size_bytes, socket.MSG_WAITALL)
    if len(data) < size_bytes:
        raise EOFError
    return data


def read_http(connection: socket.socket) -> bytes:
    """A request with its body; there is never more than one under way."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            raise EOFError
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            data += exactly(connection, int(line[15:]) - len(body))
    return data


def read_frame(connection: socket.socket) -> bytes:
    """The body of a frame."""
    (size_bytes,) = struct.unpack("!i", exactly(connection, 4))
    return exactly(connection, size_bytes)


def read_message(connection: socket.socket) -> bytes:
    """An echo message of 100 bytes."""
    return exactly(connection, 100)


# ---- answers ----------------------------------------------------------------------------------------------------


def response(status: int = 200, body: bytes = b"Hello, World!", lines: str = "") -> bytes:
    """A whole HTTP/1.1 response."""
    return f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def says(answer: bytes, *, keep: bool = True) -> Script:
    """A script that always gives this answer."""

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(answer)
        return keep

    return script


def on_each_connection(answers: int, then: Script, answer: bytes = response()) -> Script:
    """Answer so many requests on each connection; *then* is what comes next."""
    counts: dict[socket.socket, int] = {}

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        counts[connection] = counts.get(connection, 0) + 1
        if counts[connection] > answers:
            return then(server, connection, request)
        connection.sendall(answer)
        return True

    return play


def barrier(parties: int) -> Script:
    """Answers only when *parties* requests wait at once on connections that are still open."""
    waiting: list[socket.socket] = []
    turn = threading.Lock()

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        with turn:
            waiting.append(connection)
            still = [one for one in waiting if one.fileno() >= 0]
            if len(still) == parties:
                waiting.clear()
                for one in still:
                    one.sendall(response())
        return True

    return play


def drips(pause_s: float) -> Script:
    """A right answer, byte by byte: each within any deadline for one wait, all together in none for the answer."""

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        for byte in response():
            server.stall(pause_s)
            connection.sendall(bytes([byte]))
        return True

    return play


def echo(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """A script that gives the bytes back as they came, in halves."""
    connection.sendall(request[:50])
    connection.sendall(request[50:])
    return True


def counted(code: int, msg: str) -> bytes:
    """An answer to /calc as a frame."""
    return framed(json.dumps({"code": code, "msg": msg, "err": "", "calc_ns": 5}).encode())


def reset(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """A script that resets the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def closes_when_idle(answer: Callable[[bytes], bytes], idle_s: float = 0.3) -> Script:
    """Answers, and closes a connection on which no request follows in time."""

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.settimeout(idle_s)
        connection.sendall(answer(request))
        return True

    return play


def silent(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """A script that never answers."""
    server.stall(DEADLINE_S)
    return False


# ---- loadgen ----------------------------------------------------------------------------------------------------


def loadgen(*flags: str | int) -> subprocess.CompletedProcess[str]:
    """loadgen with these flags, run to its end."""
    command = [program_or_skip("loadgen"), *map(str, flags)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def reported(*flags: str | int, status: int) -> dict[str, Any]:
    """Its JSON report. Its exit status is as expected, and it has complained of nothing."""
    done = loadgen("--report", "json", *flags)
    assert (done.stderr, done.returncode) == ("", status)
    report: dict[str, Any] = json.loads(done.stdout)
    return report
