"""Echo servers and load generators, measured as a run measures them."""

from dataclasses import replace
from typing import Any

import pytest

from core.method import Warmup
from core.runtime import NATIVE
from lab.run.bench import Bench
from lab.run.runtimes import Native
from systems import built_in
from tests.conftest import native_or_skip
from tests.contract.kinds import TCP
from tests.contract.serving import check_ok
from tests.contract.test_systems import measured, runtime_of

LARGE = {"TRANSPORT": "unix", "MESSAGE_BYTES": 102_400}
ECHO = [system.name for system in built_in() if system.group == "echo" and system.runs_under(NATIVE)]


@pytest.fixture
def native_bench(native_client: Bench) -> Bench:
    """A bench whose clients are native, with a warm-up."""
    return replace(native_client, method=replace(native_client.method, warmup=Warmup(share=0.5)))


@pytest.mark.parametrize(
    ("runtime", "name", "params", "duration_s"),
    [
        *((NATIVE, name, TCP, 0.0) for name in ECHO),
        ("3.14t", "echo-asyncio", LARGE, 0.0),
        ("3.14t", "echo-pool", LARGE, 0.2),
    ],
)
def test_an_echo_server_is_called_by_the_native_client(
    native_bench: Bench, runtime: str, name: str, params: dict[str, Any], duration_s: float
) -> None:
    bench = replace(native_bench, method=replace(native_bench.method, duration_s=duration_s))
    sizes = {"NUM_CONNECTIONS_PER_CLIENT": 3, "NUM_REQUESTS_PER_CLIENT": 30}
    _, result = measured(name, runtime_of(runtime), bench, **params, **sizes)
    check_ok(result)
    assert result.requests == result.latency["count"] == result.services[0]["requests"]
    assert result.clients[0]["completion_ns"] >= duration_s * 1e9  # in which a busy machine may answer few
    assert duration_s or result.answered == 30
    assert result.client_runtime == NATIVE


@pytest.mark.parametrize("keep_alive", [True, False], ids=["kept", "fresh"])
@pytest.mark.parametrize("name", ["own", "ab", "wrk", "oha", "hey"])
def test_every_load_generator_calls_the_same_server(native_bench: Bench, name: str, keep_alive: bool) -> None:
    for program in ("http-echo", "loadgen" if name == "own" else name):
        native_or_skip(program)
    sizes = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 400, "KEEP_ALIVE": keep_alive}
    _, result = measured(f"load-{name}", Native(), native_bench, **sizes)
    check_ok(result)
    assert result.requests == 400 or name == "wrk"
    assert result.clients[0]["cpu_user_ns"] + result.clients[0]["cpu_system_ns"] > 0
    if name == "own":
        assert result.latency["count"] == 400
    else:
        assert result.clients[0]["said"]["seconds"] > 0
