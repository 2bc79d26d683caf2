"""http-echo and axum-server: what is theirs alone. tests/contract/test_wire.py has the bad peers of http-echo."""

from contextlib import ExitStack
from time import perf_counter_ns

import pytest

from lab.folders import Sandbox
from tests.contract.dialects import BODY, http
from tests.native.programs import as_service, native_serving

DELAY_US = 200_000
GREETING = (200, "Hello, World!")


@pytest.mark.alone
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


def test_http_echo_closes_a_connection_as_it_is_asked_to(sandbox: Sandbox) -> None:
    asked = http("GET", "/", b"", "Connection: close")
    with native_serving(as_service("http-echo"), sandbox, {"TRANSPORT": "unix"}) as service, service.peer() as peer:
        assert BODY.ask(peer, asked) == GREETING
        assert peer.is_closed()
