"""loadgen as a client of the child contract: what its cell says. tests/contract calls every system by it."""

import socket
from typing import Any

from core.method import Method
from tests.contract.speaking import released, spoken
from tests.native.loadgen_peers import (
    HELLO,
    Scripted,
    counted,
    read_frame,
    read_http,
    says,
    scripted,
)
from tests.native.programs import program_or_skip, told_client

RIGHT = says(counted(200, "50"))
FRAMED = ("--protocol", "framed")


def asked(cell: dict[str, Any], *flags: str) -> dict[str, Any]:
    """The result of a client that does not warm up."""
    with spoken([program_or_skip("loadgen"), "--report", "child", *flags], cell) as (client, _):
        return released(client)


def test_each_service_is_asked_beginning_with_the_clients_own() -> None:
    order = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        order.append(server.address)
        connection.sendall(counted(200, "50"))
        return True

    with scripted(noting, read_frame) as first, scripted(noting, read_frame) as second:
        cell = told_client([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1)
        result = asked({**cell, "client_id": 3}, *FRAMED)
    assert (result["requests"], result["answered"]) == (40, 40)
    assert order == [second.address] * 20 + [first.address] * 20


def test_a_duration_is_kept_and_divided_among_services_that_have_to_wait() -> None:
    with scripted(RIGHT, read_frame) as first, scripted(RIGHT, read_frame) as second:
        cell = told_client([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1, method=Method(duration_s=2.0))
        result = asked(cell, *FRAMED)
    assert result["requests"] == result["answered"] == first.requests + second.requests
    assert min(first.requests, second.requests) > 10
    assert 2.0e9 <= result["completion_ns"] < 4.0e9  # each in turn for the whole duration would be 4 s


def test_a_path_is_asked_for_with_get_and_without_keep_alive_each_time_anew() -> None:
    with scripted(says(HELLO), read_http) as server:
        cell = told_client([[server.address]], KEEP_ALIVE=False)
        result = asked(cell, "--protocol", "http", "--path", "/x")
    assert (result["answered"], result["connect"]["count"], server.connections) == (20, 20, 20)
