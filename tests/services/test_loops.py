"""Each worker waits for sockets of its own, and one that is held up loses its others to one that is not."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic

import pytest

from services import loops
from services.loops import Loops
from services.service_connection import peer_of
from services.watch import make_watch
from tests.services.test_watch import SELECTORS

DEADLINE_S = 60.0
WORKERS = 4
KINDS = [(selector, mode, active) for selector in SELECTORS for mode in ("all", "single") for active in (1, 2, WORKERS)]


class Server:
    """Workers that read a byte and answer it; after b only when they are let go."""

    def __init__(self, selector: str, mode: str, active: int) -> None:
        watches = [make_watch(selector, mode, shared=False) for _ in range(WORKERS)]
        self.loops = Loops(watches, active)
        self.go_on = threading.Event()
        self.held: SimpleQueue[int] = SimpleQueue()
        self._sockets: dict[int, socket.socket] = {}
        self._peers: list[socket.socket] = []
        for number in range(WORKERS):
            threading.Thread(target=self.loops.run, args=(number, self._serve), daemon=True).start()

    def peer(self) -> socket.socket:
        """A new connection's other end."""
        ours, theirs = socket.socketpair()
        theirs.settimeout(DEADLINE_S)
        self._sockets[ours.fileno()] = ours
        self._peers.append(theirs)
        self.loops.add(ours.fileno())
        return theirs

    def close(self) -> None:
        """Let all go; peers close first, so that the workers close their ends."""
        self.go_on.set()
        for peer in self._peers:
            peer.close()

    def _serve(self, fd: int) -> bool:
        sock = self._sockets[fd]
        with suppress(OSError):  # the peer has gone
            word = sock.recv(1, socket.MSG_DONTWAIT)
            if word == b"b":
                self.held.put(fd)
                self.go_on.wait()
            if word:
                sock.send(word)
                return True
        self.loops.forget(fd)
        sock.close()
        return False


@pytest.fixture(params=KINDS, ids=str)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of every selector and select mode, with one, some or all of its loops in use."""
    server = Server(*request.param)
    yield server
    server.close()


def asks(peer: socket.socket) -> bytes:
    peer.send(b"x")
    return peer.recv(1)


def test_a_handler_that_blocks_stops_no_other_connection_and_all_are_answered_again_and_again(server: Server) -> None:
    peers = [server.peer() for _ in range(2 * WORKERS)]
    for blocked in peers[: WORKERS - 1]:
        blocked.send(b"b")
        server.held.get(timeout=DEADLINE_S)
    assert [asks(peer) for peer in peers[WORKERS - 1 :]] == [b"x"] * (WORKERS + 1)
    server.go_on.set()
    assert [peer.recv(1) for peer in peers[: WORKERS - 1]] == [b"b"] * (WORKERS - 1)
    assert [asks(peer) for _ in range(20) for peer in peers] == [b"x"] * (40 * WORKERS)


def test_the_connections_of_one_client_come_to_one_loop_each_client_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    fds: list[int] = []  # until it has the connections, the balancer knows no peer
    monkeypatch.setattr(loops, "peer_of", lambda fd: 1 + fds.index(fd) // 3 if fd in fds else 0)
    server = Server("auto", "all", WORKERS)
    peers = [server.peer() for _ in range(3 * WORKERS)]
    fds += server.loops._home
    until, found = monotonic() + DEADLINE_S, 0
    while found != WORKERS:
        assert monotonic() < until
        assert [asks(peer) for peer in peers] == [b"x"] * len(peers)
        homes = [server.loops._home[fd] for fd in fds]
        found = len(set(homes)) if homes[::3] == homes[1::3] == homes[2::3] else 0
    server.close()


def test_the_process_at_the_other_end_is_known_of_a_unix_socket_and_of_no_other() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as listening:
        assert (peer_of(ours.fileno()), peer_of(listening.fileno())) == (os.getpid(), 0)
        closed = listening.fileno()
    assert peer_of(closed) == 0


def test_the_balancer_sleeps_while_nothing_is_served_and_wakes_for_a_blocked_handler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, slept = Server("auto", "all", 1), threading.Event()
    acquire: Callable[..., bool] = server.loops._wake.acquire

    def acquire_and_tell(*, timeout: float | None = None) -> bool:
        if timeout is None:
            slept.set()
        return acquire(timeout=timeout)

    monkeypatch.setattr(server.loops._wake, "acquire", acquire_and_tell)
    peers = [server.peer(), server.peer()]
    assert asks(peers[0]) == b"x"
    assert slept.wait(DEADLINE_S)
    peers[0].send(b"b")
    assert asks(peers[1]) == b"x"
    server.close()
