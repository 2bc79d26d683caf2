"""calc-service: what it counts, and who it closes. tests/contract/test_wire.py has its answers and its bad peers."""

import os
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from lab.folders import Sandbox
from tests.contract.peers import CALC, request
from tests.contract.serving import Serving
from tests.native.programs import native_serving, program_or_skip


def calc_service(number: str, sandbox: Sandbox, **params: Any) -> AbstractContextManager[Serving]:
    """A service that stands in for system *number*, with one worker unless *params* say otherwise."""
    command = [program_or_skip("calc-service"), "--child"]
    return native_serving(command, sandbox, {"NUM_WORKERS_PER_API_SERVICE": 1, **params}, system=number)


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
