"""Native services: what is theirs alone. tests/contract/test_wire.py has their answers and their bad peers."""

import os
from contextlib import ExitStack
from time import perf_counter_ns

import pytest

from core.runtime import NATIVE
from lab.folders import Sandbox
from tests.contract.dialects import BODY
from tests.contract.kinds import Kind
from tests.contract.peers import request


def test_connections_that_stay_are_dealt_out_to_the_threads_and_answers_say_when_the_count_began(
    sandbox: Sandbox,
) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    kind = Kind(runtime=NATIVE, name="2 tcp")
    with kind.serving(sandbox, NUM_WORKERS_PER_API_SERVICE=2) as service, ExitStack() as held:
        for _ in range(10):
            answer = held.enter_context(service.peer()).ask(request("/calc", target=7, begun=True))
            assert set(answer) == {"code", "msg", "err", "calc_ns", "begun_ns"}
            assert (answer["msg"], answer["begun_ns"] > 0) == ("7", True)
        assert service.end()["requests_by_worker"] == [5, 5]


DELAY_US = 200_000
GREETING = (200, "Hello, World!")


def test_delays_of_many_connections_pass_at_the_same_time(sandbox: Sandbox) -> None:
    kind = Kind(runtime=NATIVE, name="axum-server unix")
    with kind.serving(sandbox, DELAY_US=DELAY_US) as service, ExitStack() as held:
        peers = [held.enter_context(service.peer()) for _ in range(50)]
        start_ns = perf_counter_ns()
        for peer in peers:
            peer.send(BODY.calc)
        assert [BODY.read(peer, BODY.calc) for peer in peers] == [GREETING] * 50
        assert DELAY_US * 1000 <= perf_counter_ns() - start_ns < 25 * DELAY_US * 1000
        assert service.end()["requests"] == 50
