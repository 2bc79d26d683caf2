"""Echo servers in Python and load generators. test_systems.py has the native echo servers."""

from dataclasses import replace

import pytest

from core.method import Warmup
from core.runtime import NATIVE
from lab.run.bench import Bench
from lab.run.runtimes import Native
from tests.conftest import native_or_skip, runtime_or_skip
from tests.contract.serving import check_ok
from tests.contract.test_systems import measured


@pytest.mark.parametrize(("name", "duration_s"), [("echo-asyncio", 0.0), ("echo-pool", 0.2)])
def test_an_echo_server_is_called_by_the_native_client(native_client: Bench, name: str, duration_s: float) -> None:
    method = replace(native_client.method, warmup=Warmup(share=0.5), duration_s=duration_s)
    sizes = {"MESSAGE_BYTES": 102_400, "NUM_CONNECTIONS_PER_CLIENT": 3, "NUM_REQUESTS_PER_CLIENT": 30}
    bench = replace(native_client, method=method)
    _, result = measured(name, runtime_or_skip("3.14t"), bench, TRANSPORT="unix", **sizes)
    check_ok(result)
    assert result.requests == result.latency["count"] == result.services[0]["requests"]
    assert result.clients[0]["completion_ns"] >= duration_s * 1e9  # in which a busy machine may answer few
    assert duration_s or result.answered == 30
    assert result.client_runtime == NATIVE


@pytest.mark.parametrize("keep_alive", [True, False], ids=["kept", "fresh"])
@pytest.mark.parametrize("name", ["own", "ab", "wrk", "oha", "hey"])
def test_every_load_generator_calls_the_same_server(native_client: Bench, name: str, keep_alive: bool) -> None:
    for program in ("http-echo", "loadgen" if name == "own" else name):
        native_or_skip(program)
    bench = replace(native_client, method=replace(native_client.method, warmup=Warmup(share=0.5)))
    sizes = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 400, "KEEP_ALIVE": keep_alive}
    _, result = measured(f"load-{name}", Native(), bench, **sizes)
    check_ok(result)
    assert result.requests == 400 or name == "wrk"
    assert result.clients[0]["cpu_user_ns"] + result.clients[0]["cpu_system_ns"] > 0
    if name == "own":
        assert result.latency["count"] == 400
    else:
        assert result.clients[0]["said"]["seconds"] > 0
