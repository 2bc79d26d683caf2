"""loadgen as a client of the child contract: what its cell says. tests/contract calls every system by it."""

import socket
from typing import Any

from core.method import Method
from tests.contract.speaking import released, spoken
from tests.native.loadgen_peers import Scripted, counted, read_frame, says, scripted
from tests.native.programs import program_or_skip, told_client

RIGHT = says(counted(200, "50"))


def asked(cell: dict[str, Any]) -> dict[str, Any]:
    """The result of a client that speaks frames and does not warm up."""
    command = [program_or_skip("loadgen"), "--report", "child", "--protocol", "framed"]
    with spoken(command, cell) as (client, _):
        return released(client)


def test_each_service_is_asked_beginning_with_the_clients_own() -> None:
    order = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        order.append(server.address)
        connection.sendall(counted(200, "50"))
        return True

    with scripted(noting, read_frame) as first, scripted(noting, read_frame) as second:
        cell = told_client([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1)
        result = asked({**cell, "client_id": 3})
    assert (result["requests"], result["answered"]) == (40, 40)
    assert order == [second.address] * 20 + [first.address] * 20


def test_a_duration_is_kept_and_divided_among_services_that_have_to_wait() -> None:
    with scripted(RIGHT, read_frame) as first, scripted(RIGHT, read_frame) as second:
        cell = told_client([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1, method=Method(duration_s=1.0))
        result = asked(cell)
    assert result["requests"] == result["answered"] == first.requests + second.requests
    assert min(first.requests, second.requests) > 10
    assert 1.0e9 <= result["completion_ns"] < 2.0e9  # each in turn for the whole duration would be 2 s
