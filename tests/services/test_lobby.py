"""Where connections wait that must not hold a worker."""

import socket
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from time import monotonic

import pytest

from services import lobby as lobby_module
from services.connection import Connection
from services.listeners import Listener
from services.lobby import Lobby

DEADLINE_S = 10.0
NOTHING_S = 0.1


@pytest.fixture(scope="module")
def lobby() -> Lobby:
    """One lobby for all tests: its thread does not end."""
    return Lobby()


class NotedConnection(Connection):
    """A connection that notes when it is closed."""

    __slots__ = ("closed",)

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock, Listener(sock, "127.0.0.1:0"))
        self.closed = threading.Event()

    def close(self) -> None:
        super().close()
        self.closed.set()


class Visitor:
    """A connection and its peer, and what the lobby did with it. A test ends when the lobby has let it go."""

    def __init__(self) -> None:
        sock, self.peer = socket.socketpair()
        self.peer.settimeout(DEADLINE_S)
        self.connection = NotedConnection(sock)
        self._done: SimpleQueue[Connection] = SimpleQueue()

    def done(self, connection: Connection) -> None:
        """What the lobby is to call."""
        self._done.put(connection)

    def wait_until_done(self) -> Connection:
        """Until the lobby has called done()."""
        return self._done.get(timeout=DEADLINE_S)

    @property
    def is_done(self) -> bool:
        """Whether the lobby has called done(), once more than was waited for."""
        return not self._done.empty()

    def received(self) -> bytes:
        """All that the peer gets, to the end."""
        data = b""
        while more := self.peer.recv(1 << 20):
            data += more
        return data

    def is_closed(self) -> bool:
        """Whether the lobby closes the connection altogether."""
        return self.connection.closed.wait(DEADLINE_S)

    def close(self) -> None:
        """Close both sides."""
        self.peer.close()
        self.connection.close()


@pytest.fixture
def visitors() -> Iterator[list[Visitor]]:
    """Visitors, closed at the end."""
    visitors = [Visitor() for _ in range(3)]
    yield visitors
    for visitor in visitors:
        visitor.close()


@pytest.fixture
def visitor(visitors: list[Visitor]) -> Visitor:
    """One of them."""
    return visitors[0]


def soon() -> float:
    """A deadline that passes while a test waits."""
    return monotonic() + NOTHING_S


def later() -> float:
    """A deadline that does not."""
    return monotonic() + 10 * DEADLINE_S


def test_a_connection_is_handed_back_when_its_peer_has_sent_something(lobby: Lobby, visitor: Visitor) -> None:
    lobby.wait_for_request(visitor.connection, later(), visitor.done)
    visitor.peer.send(b"request")
    assert visitor.wait_until_done() is visitor.connection
    assert visitor.connection.sock.recv(100) == b"request"


def test_a_connection_whose_peer_goes_away_is_handed_back_too(lobby: Lobby, visitor: Visitor) -> None:
    lobby.wait_for_request(visitor.connection, later(), visitor.done)
    visitor.peer.close()
    visitor.wait_until_done()
    assert visitor.connection.receive() is None


def test_a_connection_that_stays_silent_is_closed_at_its_deadline(lobby: Lobby, visitors: list[Visitor]) -> None:
    patient, silent, _ = visitors
    lobby.wait_for_request(patient.connection, later(), patient.done)
    until = soon()
    lobby.wait_for_request(silent.connection, until, silent.done)
    assert silent.received() == b""
    assert silent.is_closed()
    assert monotonic() >= until
    assert not silent.is_done
    patient.peer.send(b"x")
    patient.wait_until_done()


def test_a_deadline_that_has_passed_already_closes_at_once(lobby: Lobby, visitor: Visitor) -> None:
    lobby.wait_for_request(visitor.connection, monotonic() - 1, visitor.done)
    assert visitor.received() == b""
    assert visitor.is_closed()


def test_hundreds_that_wait_do_not_keep_one_waiting_who_speaks(lobby: Lobby) -> None:
    crowd = [Visitor() for _ in range(200)]
    for one in crowd:
        lobby.wait_for_request(one.connection, later(), one.done)
    for one in reversed(crowd):
        one.peer.send(b"x")
        one.wait_until_done()
        one.close()


def test_connections_may_enter_from_many_threads_at_once(lobby: Lobby) -> None:
    crowd = [Visitor() for _ in range(80)]

    def enter(some: list[Visitor]) -> None:
        for one in some:
            one.peer.send(b"x")
            lobby.wait_for_request(one.connection, later(), one.done)

    threads = [threading.Thread(target=enter, args=(crowd[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in crowd:
        one.wait_until_done()
        one.close()


def test_what_is_unsent_goes_out_at_the_peers_pace_and_then_the_connection_is_handed_back(
    lobby: Lobby, visitor: Visitor
) -> None:
    text = bytes(range(256)) * 20_000
    visitor.connection.send(text)
    assert visitor.connection.unsent
    lobby.flush(visitor.connection, visitor.done)
    received = b""
    while len(received) < len(text):
        assert not visitor.is_done or visitor.connection.unsent == b""
        received += visitor.peer.recv(50_000)
    assert received == text
    visitor.wait_until_done()
    assert visitor.connection.unsent == b""
    assert not visitor.is_done


def test_a_peer_that_goes_away_without_reading_gives_its_connection_back(lobby: Lobby, visitor: Visitor) -> None:
    visitor.connection.send(b"x" * 5_000_000)
    lobby.flush(visitor.connection, visitor.done)
    visitor.peer.close()
    visitor.wait_until_done()
    assert visitor.connection.receive() is None


def test_later_is_not_before_its_time(lobby: Lobby, visitor: Visitor) -> None:
    start = monotonic()
    lobby.later(NOTHING_S, lambda: visitor.done(visitor.connection))
    visitor.wait_until_done()
    assert NOTHING_S <= monotonic() - start < DEADLINE_S


def test_later_does_not_wait_for_a_longer_deadline(lobby: Lobby, visitors: list[Visitor]) -> None:
    first, second, third = visitors
    lobby.wait_for_request(third.connection, later(), third.done)
    lobby.later(2 * NOTHING_S, lambda: second.done(second.connection))
    lobby.later(NOTHING_S, lambda: first.done(first.connection))
    first.wait_until_done()
    assert not second.is_done
    second.wait_until_done()
    third.peer.send(b"x")
    third.wait_until_done()


def test_the_last_answer_arrives_although_the_peer_has_sent_more_than_was_read(lobby: Lobby, visitor: Visitor) -> None:
    visitor.peer.send(b"not read by anyone")
    visitor.connection.send(b"the last answer")
    lobby.close(visitor.connection)
    assert visitor.received() == b"the last answer"
    visitor.peer.send(b"nor is this")
    visitor.peer.shutdown(socket.SHUT_WR)
    assert visitor.is_closed()


def test_a_large_last_answer_arrives_whole(lobby: Lobby, visitor: Visitor) -> None:
    visitor.connection.send(b"x" * 5_000_000)
    lobby.close(visitor.connection)
    assert len(visitor.received()) == 5_000_000
    visitor.peer.close()
    assert visitor.is_closed()


def test_a_peer_that_does_not_hang_up_is_hung_up_on(
    lobby: Lobby, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby_module, "LINGER_S", NOTHING_S)
    lobby.close(visitor.connection)
    assert visitor.received() == b""
    assert visitor.is_closed()


def test_a_peer_that_has_gone_already_is_let_go(lobby: Lobby, visitor: Visitor) -> None:
    visitor.peer.shutdown(socket.SHUT_RDWR)
    lobby.close(visitor.connection)
    assert visitor.is_closed()
