"""Connections that must not hold a worker."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from time import monotonic

import pytest

from services import parked as module
from services.connection import Connection
from services.listeners import Listener
from services.parked import ParkedConnections

DEADLINE_S = 10.0
NOTHING_S = 0.1


@pytest.fixture(scope="module")
def parked() -> ParkedConnections:
    """One for all tests: its thread does not end."""
    return ParkedConnections()


class NotedConnection(Connection):
    """A connection that notes when it is closed."""

    __slots__ = ("closed",)

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock, Listener(sock, "127.0.0.1:0"))
        self.closed = threading.Event()

    def close(self) -> None:
        super().close()
        self.closed.set()


class Pair:
    """A connection and its peer. done: the connection, each time that it was given back after it was parked."""

    def __init__(self) -> None:
        sock, self.peer = socket.socketpair()
        self.peer.settimeout(DEADLINE_S)
        self.connection = NotedConnection(sock)
        self.done: SimpleQueue[Connection] = SimpleQueue()

    def received(self) -> bytes:
        """All that the peer gets, to the end."""
        with self.peer.makefile("rb") as file:
            return file.read()

    def is_closed(self) -> bool:
        """Whether the connection is closed altogether."""
        return self.connection.closed.wait(DEADLINE_S)

    def wait_until_done(self) -> None:
        """Until the connection is given back."""
        self.done.get(timeout=DEADLINE_S)

    def close(self) -> None:
        """Close both sides."""
        self.peer.close()
        self.connection.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A pair, closed at the end."""
    pair = Pair()
    yield pair
    pair.close()


def later() -> float:
    """A deadline that does not."""
    return monotonic() + 10 * DEADLINE_S


def test_a_connection_that_stays_silent_is_closed_at_its_deadline(parked: ParkedConnections, pair: Pair) -> None:
    silent, until = Pair(), monotonic() + NOTHING_S
    parked.wait_for_request(pair.connection, later(), pair.done.put)
    parked.wait_for_request(silent.connection, until, silent.done.put)
    assert silent.received() == b""
    assert silent.is_closed()
    assert monotonic() >= until
    assert silent.done.empty()
    silent.close()
    pair.peer.send(b"x")
    pair.wait_until_done()


def test_connections_may_enter_from_many_threads_at_once(parked: ParkedConnections) -> None:
    pairs = [Pair() for _ in range(80)]

    def enter(share: list[Pair]) -> None:
        for one in share:
            one.peer.send(b"x")
            parked.wait_for_request(one.connection, later(), one.done.put)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, [pairs[start::8] for start in range(8)]))
    for one in pairs:
        one.wait_until_done()
        one.close()


def test_what_is_unsent_goes_out_at_the_peers_pace_and_then_the_connection_is_handed_back(
    parked: ParkedConnections, pair: Pair
) -> None:
    text = bytes(range(256)) * 20_000
    pair.connection.send(text)
    assert pair.connection.unsent
    parked.flush(pair.connection, pair.done.put)
    received = b""
    while len(received) < len(text):
        assert pair.done.empty() or pair.connection.unsent == b""
        received += pair.peer.recv(50_000)
    assert received == text
    pair.wait_until_done()
    assert pair.connection.unsent == b""
    assert pair.done.empty()


def test_later_calls_in_the_order_of_time_and_does_not_wait_for_a_longer_deadline(
    parked: ParkedConnections, pair: Pair
) -> None:
    called: SimpleQueue[int] = SimpleQueue()
    parked.wait_for_request(pair.connection, later(), pair.done.put)
    parked.later(2 * NOTHING_S, lambda: called.put(2))
    parked.later(NOTHING_S, lambda: called.put(1))
    assert [called.get(timeout=DEADLINE_S) for _ in range(2)] == [1, 2]
    pair.peer.send(b"x")
    pair.wait_until_done()


@pytest.mark.parametrize("answer", [b"the last answer", b"x" * 5_000_000], ids=len)
def test_the_last_answer_arrives_whole_although_the_peer_has_sent_more_than_was_read(
    parked: ParkedConnections, pair: Pair, answer: bytes
) -> None:
    pair.peer.send(b"not read by anyone")
    pair.connection.send(answer)
    parked.close(pair.connection)
    assert pair.received() == answer
    pair.peer.send(b"nor is this")
    pair.peer.shutdown(socket.SHUT_WR)
    assert pair.is_closed()


def test_a_peer_that_does_not_hang_up_is_hung_up_on(
    parked: ParkedConnections, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_S", NOTHING_S)
    parked.close(pair.connection)
    assert pair.received() == b""
    assert pair.is_closed()
