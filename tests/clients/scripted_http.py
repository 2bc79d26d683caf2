"""An HTTP server that plays a script: what is said to each request, and when. One thread, any number of connections."""

import selectors
import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType

DEADLINE_S = 10.0
HEAD_END = b"\r\n\r\n"
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
        self._partial = b""

    def feed(self, data: bytes) -> bool:
        """Whether these bytes end a request; clients send the next one only after its answer."""
        self._partial += data
        if not self._partial.endswith(HEAD_END):
            return False
        assert self._partial.startswith(b"GET / HTTP/1.1\r\n"), self._partial
        self._partial = b""
        self.requests += 1
        return True


HALF = response()[:-6]
Script = Callable[["ScriptedHttp", Peer], bytes | None]


class ScriptedHttp:
    """Listens on loopback. script(server, peer) is asked at each request: bytes to send, or None to close.

    peers: the connections that are open. connections, requests: how many there have been.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._knock, self._door = socket.socketpair()
        self.address = "{}:{}".format(*self._listener.getsockname())
        self.peers: dict[socket.socket, Peer] = {}
        self.connections = self.requests = 0
        self._thread = threading.Thread(target=self._play, name="scripted http")

    def __enter__(self) -> "ScriptedHttp":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close all connections and listen no more."""
        self._knock.close()
        self._thread.join(DEADLINE_S)
        for sock in (*self.peers, self._listener, self._door):
            sock.close()
        self._selector.close()
        assert not self._thread.is_alive(), "the script does not end"

    def _play(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._door, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._door:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._read(self.peers[key.fileobj])

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(DEADLINE_S)
        self.connections += 1
        self.peers[sock] = Peer(sock)
        self._selector.register(sock, selectors.EVENT_READ)

    def _read(self, peer: Peer) -> None:
        try:
            data = peer.sock.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            self._close(peer)
        elif peer.feed(data):
            self.requests += 1
            answer = self._script(self, peer)
            if answer is None:
                self._close(peer)
            elif answer:
                peer.sock.sendall(answer)

    def _close(self, peer: Peer) -> None:
        self._selector.unregister(peer.sock)
        del self.peers[peer.sock]
        peer.sock.close()


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
