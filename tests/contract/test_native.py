"""Native programs in one part of a system or in both, measured as a run measures it."""

from dataclasses import replace
from typing import Any

import pytest

from core.cell import Cell
from core.histogram import bucket_of
from core.method import Method, Warmup
from core.result import CellResult
from core.runtime import NATIVE
from lab.run.measure import Bench, measure
from lab.run.runtimes import Native, Runtime
from systems import built_in, find
from tests.conftest import native_or_skip
from tests.contract.serving import SMALL, command_or_skip

LIMITS: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", {"TRANSPORT": "unix"}),
    "1 tcp": ("1", {"TRANSPORT": "tcp"}),
    "2 unix": ("2", {"TRANSPORT": "unix"}),
    "2 tcp": ("2", {"TRANSPORT": "tcp"}),
    "2 fresh": ("2", {"REUSE_CLIENT": False}),
    "2 payload": ("2", {"PAYLOAD_BYTES": 110_000}),
    "4 unix": ("4", {"TRANSPORT": "unix"}),
    "4 tcp": ("4", {"TRANSPORT": "tcp", "NUM_WORKERS_PER_API_SERVICE": 2}),
    "4 pinned": ("4", {"CLIENT_BINDING": "pinned", "NUM_MULTI_SOCKET": 3}),
}
MEASURED = {"voluntary_switches", "involuntary_switches", "run_queue_ns", "max_rss_bytes", "pss_bytes"}
TWO_BY_TWO = {"NUM_CLIENTS": 2, "NUM_API_SERVICES": 2}
ECHO = [system.name for system in built_in() if system.group == "echo" and system.runs_under(NATIVE)]


@pytest.fixture
def native_bench(bench: Bench) -> Bench:
    """A bench that knows the runtime `native` too, with a warm-up."""
    native_or_skip("loadgen")
    runtimes = {**bench.runtimes, NATIVE: Native()}
    return replace(bench, runtimes=runtimes, method=Method(warmup=Warmup(share=0.5)))


def cell_of(number: str, runtime: str, **params: Any) -> Cell:
    """A small cell."""
    system = find(number)
    return Cell.build(system=system.key, runtime=runtime, reads=system.parameters, values={**SMALL, **params})


def check_all_is_well(result: CellResult, cell: Cell) -> None:
    """Every request was answered rightly; both sides say what they have cost."""
    assert (result.status, str(result.reason)) == ("ok", "")
    assert (result.requests, result.answered, result.wrong, result.errors) == (cell.requests, cell.requests, 0, {})
    assert result.latency["count"] == cell.requests
    assert 0 < result.latency["min_ns"] <= result.latency["max_ns"] <= result.wall_ns
    assert sum(service["requests"] for service in result.services) == cell.requests
    for child in (*result.services, *result.clients):
        assert child["cpu_user_ns"] + child["cpu_system_ns"] > 0
        assert {type(child[name]) for name in MEASURED} == {int}


@pytest.mark.parametrize("variant", LIMITS)
def test_both_parts_of_a_system_are_native_under_the_runtime_native(native_bench: Bench, variant: str) -> None:
    native_or_skip("calc-service")
    number, params = LIMITS[variant]
    cell = cell_of(number, NATIVE, **TWO_BY_TWO, **params)
    result = measure(cell, find(number), 1, native_bench)
    check_all_is_well(result, cell)
    assert (result.runtime, result.client_runtime) == (NATIVE, NATIVE)
    states = {child[f"gil_enabled_{when}"] for child in result.services for when in ("ready", "end")}
    assert states == {False}
    fresh = number == "1" or params.get("REUSE_CLIENT") is False
    assert result.connect.get("count", 0) == (cell.requests if fresh else 0)


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_a_python_service_is_called_by_the_native_client(native_bench: Bench, runtime: Runtime, number: str) -> None:
    system, name = find(number), str(runtime.name)
    command_or_skip(runtime, system, "service")
    bench = replace(native_bench, method=replace(native_bench.method, client_runtime=NATIVE))
    cell = cell_of(number, name, NUM_CLIENTS=2, NUM_REQUESTS_PER_CLIENT=60)
    result = measure(cell, system, 1, bench)
    check_all_is_well(result, cell)
    slow = result.slow["p99"]
    assert slow["threshold_ns"] == result.latency["p99_ns"]  # the middle of a bucket: requests lie on both sides
    counts = {int(place): number for place, number in result.latency["histogram"]["counts"].items()}
    bucket = bucket_of(slow["threshold_ns"])
    above = sum(number for place, number in counts.items() if place > bucket)
    assert above <= cell.requests // 100
    assert above <= slow["requests"] <= above + counts[bucket]
    assert (slow["requests"] > 0) is (result.latency["max_ns"] > slow["threshold_ns"])
    assert (result.runtime, result.client_runtime) == (name, NATIVE)
    assert {service["gil_enabled_end"] for service in result.services} == {runtime.name.gil_enabled}
    assert {client["gil_enabled_end"] for client in result.clients} == {False}


@pytest.mark.parametrize("duration_s", [0.0, 0.2])
@pytest.mark.parametrize("name", ECHO)
def test_an_echo_server_is_called_by_the_native_client(native_bench: Bench, name: str, duration_s: float) -> None:
    native_or_skip(name)
    bench = replace(native_bench, method=replace(native_bench.method, duration_s=duration_s))
    cell = cell_of(name, NATIVE, TRANSPORT="tcp", NUM_CONNECTIONS_PER_CLIENT=3, NUM_REQUESTS_PER_CLIENT=30)
    result = measure(cell, find(name), 1, bench)
    assert (result.status, str(result.reason), result.wrong) == ("ok", "", 0)
    assert result.answered == result.requests == result.latency["count"] == result.services[0]["requests"]
    assert result.clients[0]["completion_ns"] >= duration_s * 1e9  # in which a busy machine may answer few
    assert duration_s or result.answered == 30


@pytest.mark.parametrize("name", ["echo-asyncio", "echo-pool"])
def test_an_echo_server_in_python_is_called_by_the_native_client(
    native_bench: Bench, any_runtime: Runtime, name: str
) -> None:
    cell = cell_of(name, str(any_runtime.name), TRANSPORT="unix", MESSAGE_BYTES=102_400, NUM_CONNECTIONS_PER_CLIENT=3)
    result = measure(cell, find(name), 1, native_bench)
    check_all_is_well(result, cell)
    assert result.client_runtime == NATIVE


@pytest.mark.parametrize("keep_alive", [True, False], ids=["kept", "fresh"])
@pytest.mark.parametrize("name", ["own", "ab", "wrk", "oha", "hey"])
def test_every_load_generator_calls_the_same_server(native_bench: Bench, name: str, keep_alive: bool) -> None:
    for program in ("http-echo", "loadgen" if name == "own" else name):
        native_or_skip(program)
    cell = cell_of(
        f"load-{name}", NATIVE, NUM_CONNECTIONS_PER_CLIENT=4, NUM_REQUESTS_PER_CLIENT=400, KEEP_ALIVE=keep_alive
    )
    result = measure(cell, find(cell.system), 1, native_bench)
    assert (result.status, str(result.reason), result.wrong, result.errors) == ("ok", "", 0, {})
    assert result.answered == result.requests
    assert result.requests == 400 or name == "wrk"
    assert result.clients[0]["cpu_user_ns"] + result.clients[0]["cpu_system_ns"] > 0
    if name == "own":
        assert result.latency["count"] == 400
    else:
        said = result.clients[0]["said"]
        assert said["seconds"] > 0
        assert set(said["percentiles_ms"]) == {"p50", "p99"}
