"""An HTTP server that plays a script: what is said to each request, and when."""

import socket
import struct
import threading
from collections.abc import Callable

from tests.native.loadgen_peers import Scripted, read_http

BODY = b"Hello, World!"


def response(status: str = "200 OK", body: bytes = BODY) -> bytes:
    """A whole HTTP/1.1 response."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Peer:
    """One connection of a client. requests: how many have come on it, this one included."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.requests = 0
        self.is_waiting = False


HALF = response()[:-6]
Script = Callable[["ScriptedHttp", Peer], bytes | None]


class ScriptedHttp(Scripted):
    """script(server, peer) is asked at each request: bytes to send, or None to close. peers: open connections."""

    def __init__(self, script: Script) -> None:
        self.peers: dict[socket.socket, Peer] = {}
        self._answer = script
        self._turn = threading.Lock()
        super().__init__(self._request, self._play)

    def __enter__(self) -> "ScriptedHttp":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _request(self, connection: socket.socket) -> bytes:
        try:
            return read_http(connection)
        except (OSError, EOFError):
            with self._turn:
                self.peers.pop(connection, None)
            raise

    def _play(self, server: Scripted, connection: socket.socket, request: bytes) -> bool:
        assert request.startswith(b"GET / HTTP/1.1\r\n"), request
        with self._turn:
            peer = self.peers.setdefault(connection, Peer(connection))
            peer.requests += 1
            answer = self._answer(self, peer)
            if answer is None:
                del self.peers[connection]
        connection.sendall(answer or b"")
        return answer is not None


def says(answer: bytes | None) -> Script:
    """Say *answer* to every request: bytes, b"" for nothing at all, or None to close."""
    return lambda server, peer: answer


def first_right_then(script: Script) -> Script:
    """A right answer to the first request of each connection, which opens it; then *script*."""
    return lambda server, peer: response() if peer.requests == 1 else script(server, peer)


def barrier(parties: int) -> Script:
    """Answers only when *parties* requests wait at once on connections that are still open."""

    def play(server: ScriptedHttp, peer: Peer) -> bytes:
        peer.is_waiting = True
        waiting = [one for one in server.peers.values() if one.is_waiting]
        if len(waiting) == parties:
            for one in waiting:
                one.is_waiting = False
                one.sock.sendall(response())
        return b""

    return play


def half_then_close(server: ScriptedHttp, peer: Peer) -> None:
    """Send the head and half of the body, then close."""
    peer.sock.sendall(HALF)


def resetting(server: ScriptedHttp, peer: Peer) -> None:
    """Say nothing, and reset the connection."""
    peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drip(pause_s: float, ended: threading.Event) -> Script:
    """A right answer, byte by byte: each within any deadline for one wait, all together in none for the answer."""

    def play(server: ScriptedHttp, peer: Peer) -> bytes | None:
        for byte in response():
            if ended.wait(pause_s):
                return None
            try:
                peer.sock.send(bytes([byte]))
            except OSError:
                return None
        return b""

    return play
