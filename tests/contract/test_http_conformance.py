"""What HTTP clients count and time, native ones and Python's threads and tasks. test_http_clients.py: bad servers."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from core.method import Method, Warmup
from lab.run.runtimes import Native
from systems import find
from tests.clients.scripted_http import (
    ScriptedHttp,
    response,
    says,
)
from tests.conftest import runtime_or_skip
from tests.contract.serving import command_or_skip, small_cell
from tests.contract.speaking import Spoken, released, spoken
from tests.native.loadgen_peers import nobody_listens
from tests.native.programs import program_or_skip

NATIVE = ("http-beast", "http-reqwest")
PROGRAMS = (*NATIVE, "http-stdlib", "http-aiohttp")


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """Every client in turn."""
    return str(request.param)


def told(addresses: Sequence[str], requests: int, workers: int, **more: Any) -> dict[str, Any]:
    """What a client is told: to send so many requests to each of *addresses* with so many workers."""
    params = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": workers}
    cell = small_cell(find("http-stdlib"), Native(), NUM_API_SERVICES=len(addresses), **params)
    return {**cell.to_json(), "client_id": 0, "addresses": [[address] for address in addresses], "cpus": [], **more}


@contextmanager
def client(program: str, cell: dict[str, Any]) -> Iterator[Spoken]:
    """A client that is ready."""
    if program in NATIVE:
        command, variables = [program_or_skip(program)], {}
    else:
        runtime = runtime_or_skip("3.14")
        command, variables = command_or_skip(runtime, find(program), "client"), runtime.variables
        cell = {**cell, "system": program}
    with spoken(command, cell, variables) as (child, ready):
        assert (ready["ready"], ready["pid"], ready["addresses"]) == (True, child.process.pid, [])
        yield child


def result_of(program: str, cell: dict[str, Any]) -> dict[str, Any]:
    """Run a client from its cell to its end; its result."""
    with client(program, cell) as child:
        return released(child)


def counts(result: dict[str, Any]) -> tuple[int, int, int, dict[str, int]]:
    """Sent, answered, wrong, and errors by code."""
    return result["requests"], result["answered"], result["wrong"], result["errors"]


def test_a_server_that_is_gone_is_given_up_after_ten_requests_of_each_worker(program: str) -> None:
    with nobody_listens() as address:
        result = result_of(program, told([address], 100, 2))
    assert counts(result) == (100, 0, 0, {"connect": 2 * 10})


@pytest.mark.parametrize("program", [*PROGRAMS, "http-beast-held"])  # whose extension holds the GIL
def test_each_worker_keeps_its_connection_and_the_remainder_goes_to_the_first_ones(program: str) -> None:
    with ScriptedHttp(says(response())) as server:
        result = result_of(program, told([server.address], 23, 5))
        assert (server.connections, server.requests) == (5, 23 + 5)  # each opens its connection with a request
    assert counts(result) == (23, 23, 0, {})
    assert [len(requests) for requests in result["timeline"]] == [5, 5, 5, 4, 4]
    assert result["connect"]["count"] == 5


@pytest.mark.parametrize("program", [*NATIVE, "http-stdlib"])  # aiohttp asks again by itself
def test_a_connection_after_an_error_is_counted_by_no_connect(program: str) -> None:
    with ScriptedHttp(lambda server, peer: None if server.requests == 2 else response()) as server:
        result = result_of(program, told([server.address], 3, 1))
        assert server.connections == 2
    assert counts(result) == (3, 2, 0, {"closed": 1})
    assert result["connect"]["count"] == 1


def test_workers_are_divided_among_the_services_and_a_second_client_goes_on_where_the_first_one_ended(
    program: str,
) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(ScriptedHttp(says(response()))) for _ in range(4)]
        result = result_of(program, told([server.address for server in servers], 4, 2, client_id=1))
        assert [server.connections for server in servers] == [0, 0, 1, 1]
        assert sum(server.requests for server in servers) == 2 + 16
    assert counts(result) == (16, 16, 0, {})


def test_a_warm_up_is_answered_by_each_worker_and_not_counted(program: str) -> None:
    method = Method(warmup=Warmup(share=0.5))
    with (
        ScriptedHttp(says(response())) as server,
        client(program, told([server.address], 20, 2, method=method.to_json())) as child,
    ):
        child.tell("warm")
        assert child.line() == {"warm": True}
        assert server.requests == 12
        result = released(child)
        assert server.requests == 32
    assert counts(result) == (20, 20, 0, {})
    assert result["latency"]["count"] == 20
