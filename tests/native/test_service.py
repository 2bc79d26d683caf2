"""Native services: what is theirs alone. tests/contract/test_wire.py has their answers and their bad peers."""

import os
from contextlib import AbstractContextManager, ExitStack
from time import perf_counter_ns
from typing import Any

import pytest

from lab.folders import Sandbox
from tests.contract.dialects import BODY
from tests.contract.peers import CALC, request
from tests.contract.serving import Serving
from tests.native.programs import as_service, native_serving


def calc_service(number: str, sandbox: Sandbox, **params: Any) -> AbstractContextManager[Serving]:
    """A service that stands in for system *number*, with one worker unless *params* say otherwise."""
    return native_serving(
        as_service("calc-service"), sandbox, {"NUM_WORKERS_PER_API_SERVICE": 1, **params}, system=number
    )


def test_an_answer_says_when_the_count_began_if_it_is_asked(sandbox: Sandbox) -> None:
    with calc_service("2", sandbox, TRANSPORT="unix") as service, service.peer() as peer:
        answer = peer.ask(request("/calc", target=7, begun=True))
        assert set(answer) == {"code", "msg", "err", "calc_ns", "begun_ns"}
        assert answer["begun_ns"] > 0


def test_connections_that_stay_are_dealt_out_to_the_threads(sandbox: Sandbox) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    params = {"TRANSPORT": "tcp", "NUM_WORKERS_PER_API_SERVICE": 2}
    with calc_service("2", sandbox, **params) as service, ExitStack() as held:
        for _ in range(10):
            assert held.enter_context(service.peer()).ask(CALC)["msg"] == "7"
        assert service.end()["requests_by_worker"] == [5, 5]


DELAY_US = 200_000
GREETING = (200, "Hello, World!")


def test_delays_of_many_connections_pass_at_the_same_time(sandbox: Sandbox) -> None:
    params = {"TRANSPORT": "unix", "DELAY_US": DELAY_US, "NUM_SERVER_THREADS": 1}
    with native_serving(as_service("axum-server"), sandbox, params) as service, ExitStack() as held:
        peers = [held.enter_context(service.peer()) for _ in range(50)]
        start_ns = perf_counter_ns()
        for peer in peers:
            peer.send(BODY.calc)
        assert [BODY.read(peer, BODY.calc) for peer in peers] == [GREETING] * 50
        assert DELAY_US * 1000 <= perf_counter_ns() - start_ns < 25 * DELAY_US * 1000
        assert service.end()["requests"] == 50
