"""calc-service: what it counts, and who it closes. tests/contract/test_wire.py has its answers and its bad peers."""

import os
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.contract.peers import CALC, Peer, request
from tests.contract.serving import Serving, command_or_skip, small_cell
from tests.contract.speaking import released, spoken
from tests.native.programs import native_serving, program_or_skip


def calc_service(number: str, sandbox: Sandbox, **params: Any) -> AbstractContextManager[Serving]:
    """A service that stands in for system *number*, with one worker unless *params* say otherwise."""
    command = [program_or_skip("calc-service"), "--child"]
    return native_serving(command, sandbox, {"NUM_WORKERS_PER_API_SERVICE": 1, **params}, system=number)


def test_an_answer_says_when_the_count_began_if_it_is_asked_and_ten_times_as_many_take_longer(sandbox: Sandbox) -> None:
    with calc_service("2", sandbox, TRANSPORT="unix") as service, service.peer() as peer:
        answer = peer.ask(request("/calc", target=7, begun=True))
        assert set(answer) == {"code", "msg", "err", "calc_ns", "begun_ns"}
        assert answer["begun_ns"] > 0
        few, many = (
            min(peer.ask(request("/calc", target=target))["calc_ns"] for _ in range(20))
            for target in (100_000, 1_000_000)
        )
    assert 5 * few < many  # a loop that the compiler left out would take no time at either


def test_requests_are_counted_by_socket_and_by_worker(sandbox: Sandbox) -> None:
    params = {"TRANSPORT": "unix", "NUM_MULTI_SOCKET": 3, "NUM_WORKERS_PER_API_SERVICE": 25}
    with calc_service("4", sandbox, **params) as service:
        assert len(service.addresses) == 3
        for address, times in zip(service.addresses, (3, 1, 2), strict=True):
            with Peer(address) as peer:
                assert [peer.ask(CALC)["msg"] for _ in range(times)] == ["7"] * times
        result = service.end()
    assert result["requests_by_socket"] == [3, 1, 2]
    assert sum(result["requests_by_worker"]) == result["requests"] == 6
    assert len(result["requests_by_worker"]) <= len(os.sched_getaffinity(0))


def test_connections_that_stay_are_dealt_out_to_the_threads(sandbox: Sandbox) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    params = {"TRANSPORT": "tcp", "NUM_WORKERS_PER_API_SERVICE": 2}
    with calc_service("2", sandbox, **params) as service, ExitStack() as held:
        for _ in range(10):
            assert held.enter_context(service.peer()).ask(CALC)["msg"] == "7"
        assert service.end()["requests_by_worker"] == [5, 5]


@pytest.mark.parametrize("key", ["1", "2", "4"])
def test_a_python_client_is_answered_rightly(key: str, any_runtime: Runtime, sandbox: Sandbox) -> None:
    system = find(key)
    cell = small_cell(system, any_runtime).to_json()
    command = command_or_skip(any_runtime, system, "client")
    with calc_service(key, sandbox, **cell["params"]) as service:
        told = {**cell, "client_id": 0, "addresses": [service.addresses]}
        with spoken(command, told, any_runtime.variables) as (client, _):
            result = released(client)
        assert service.end()["requests"] == 20
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})
    assert result["waiting"]["count"] == 1
