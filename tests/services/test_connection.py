"""A connection as a service sees it: nothing ever blocks, nothing is lost."""

import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cell import Cell
from services import parked
from services.connection import Connection
from services.listeners import Listener, listen
from systems import find

Pair = tuple[Connection, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A connection and its peer."""
    sock, peer = socket.socketpair()
    with sock, peer:
        peer.settimeout(10.0)
        yield Connection(sock, Listener(sock, "127.0.0.1:0")), peer


def test_what_the_peer_does_not_take_stays_unsent_and_keeps_its_order(pair: Pair) -> None:
    connection, peer = pair
    parts = [bytes([number]) * 300_000 for number in range(5)]
    for part in parts:
        connection.send(part)
    assert connection.unsent
    received = b""
    while len(received) < 1_500_000:
        received += peer.recv(100_000)
        connection.flush()
    assert received == b"".join(parts)
    assert connection.flush()


def test_sending_to_a_peer_that_has_gone_is_no_error(pair: Pair) -> None:
    connection, peer = pair
    peer.close()
    connection.send(b"x")
    connection.refuse(413, "too much")
    assert connection.flush()


def test_a_peer_that_does_not_hang_up_is_hung_up_on(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    connection, peer = pair
    monkeypatch.setattr(parked, "LINGER_S", 0.1)
    parked.ParkedConnections().close(connection)
    assert peer.recv(1) == b""
    closed = select.poll()
    closed.register(peer, 0)  # for the end of both directions alone
    assert closed.poll(10_000)


def test_a_tcp_socket_is_on_loopback_and_answers_without_delay(short_folder: Path) -> None:
    cell = Cell.build(system="4", runtime="3.14", reads=find("4").parameters, values={"TRANSPORT": "tcp"})
    (listener,) = listen(cell, 3, str(short_folder), sockets=1)
    assert listener.address.startswith("127.0.0.1:")
    address = listener.sock.getsockname()
    with listener.sock, socket.create_connection(address), listener.sock.accept()[0] as accepted:
        assert Connection(accepted, listener).sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
