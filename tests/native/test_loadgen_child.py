"""loadgen as a client of the child contract: what its cell says. tests/contract calls every system by it."""

import socket
from typing import Any

import pytest

from core.method import Method
from tests.clients.driving import cached, client, services
from tests.contract.speaking import released, spoken
from tests.native.loadgen_peers import Scripted, counted, read_frame, says, scripted
from tests.native.programs import program_or_skip, told_client
from tests.tables import each_row

RIGHT = says(counted(200, "50"))


def asked(cell: dict[str, Any]) -> dict[str, Any]:
    """The result of a client that speaks frames and does not warm up."""
    command = [program_or_skip("loadgen"), "--report", "child", "--protocol", "framed"]
    with spoken(command, cell) as (client, _):
        return released(client)


@pytest.mark.parametrize("is_native", [True, False])
@each_row
def test_each_client_begins_with_another_service(client_id: int, first: int, *, is_native: bool) -> None:
    """The Python client does, too."""
    order: list[list[str]] = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        order.append([server.address])
        return RIGHT(server, connection, request)

    sizes: Any = {"NUM_THREADS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 5, "CALC_TARGET": 50}
    with services(noting, noting, noting) as addresses:
        if is_native:
            asked({**told_client(addresses, **sizes), "client_id": client_id})
        else:
            with client(cached, addresses, client_id, **sizes) as one:
                one.run()
    assert len(order) == 15
    assert order[::5] == order[4::5] == [*addresses[first:], *addresses[:first]]


def test_a_duration_is_kept_and_divided_among_services_that_have_to_wait() -> None:
    with scripted(RIGHT, read_frame) as first, scripted(RIGHT, read_frame) as second:
        cell = told_client([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1, method=Method(duration_s=1.0))
        result = asked(cell)
    assert result["requests"] == result["answered"] == first.requests + second.requests
    assert min(first.requests, second.requests) > 10
    assert 1.0e9 <= result["completion_ns"] < 2.0e9  # each in turn for the whole duration would be 2 s
