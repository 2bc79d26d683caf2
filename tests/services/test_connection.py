"""A connection as a service sees it. tests/contract/test_wire.py has peers that read slowly, or have gone."""

import select
import socket
from pathlib import Path

import pytest

from core.cell import Cell
from services import service_connection
from services.listeners import Listener, listen
from services.service_connection import Connection, ParkedConnections
from systems import find


def test_a_peer_that_does_not_hang_up_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_connection, "LINGER_S", 0.1)
    sock, peer = socket.socketpair()
    with sock, peer:
        ParkedConnections().close(Connection(sock, Listener(sock, "127.0.0.1:0")))
        assert peer.recv(1) == b""
        closed = select.poll()
        closed.register(peer, 0)  # for the end of both directions alone
        assert closed.poll(10_000)


def test_a_tcp_socket_is_on_loopback_and_answers_without_delay(short_folder: Path) -> None:
    cell = Cell.build(system="2", runtime="3.14", reads=find("2").parameters, values={"TRANSPORT": "tcp"})
    (listener,) = listen(cell, 3, str(short_folder))
    assert listener.address.startswith("127.0.0.1:")
    address = listener.sock.getsockname()
    with listener.sock, socket.create_connection(address), listener.sock.accept()[0] as accepted:
        assert Connection(accepted, listener).sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
