"""Every system and load generator for real, under every runtime, measured as a run measures it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.metrics import cpu_ns
from core.cell import Cell
from core.method import Method, Warmup
from core.runtime import NATIVE, RuntimeName
from core.system import System
from lab.run.cell_processes import Bench
from lab.run.measure import measure
from lab.run.measured_runtimes import Native, Runtime
from record.saved_run import CellResult
from systems import find
from tests.conftest import native_or_skip, runtime_or_skip
from tests.contract.kinds import SERVICES, TABLES, more_kinds, params_of
from tests.contract.serving import check_ok, command_or_skip, prefixed, small_cell
from tests.lab.extensions import EXTENSION, extension
from tests.native.programs import USAGE
from tests.tables import each_row

THREE_WORKERS = {"NUM_WORKERS_PER_API_SERVICE": 3}
VARIANTS = {**SERVICES, **TABLES["variants"]}


def runtime_of(name: str) -> Runtime | Native:
    """That runtime, which may be `native`. May skip the test."""
    return Native() if name == NATIVE else runtime_or_skip(name)


def measured(number: str, runtime: Runtime | Native, bench: Bench, **params: Any) -> tuple[Cell, CellResult]:
    """A small cell, and its result. The test is skipped where the system's packages cannot be had."""
    system = find(number)
    command_or_skip(runtime, system, "service")
    cell = small_cell(system, runtime, **params)
    return cell, measure(cell, system, 1, bench)


def check_all_is_well(result: CellResult, cell: Cell, runtime: Runtime | Native, by_native: bool = False) -> None:
    """Every request was answered rightly; by whom, under which GIL and at what cost is recorded."""
    check_ok(result)
    assert result.requests == result.latency.count == cell.requests
    counted = all(service.counted for service in result.services)  # a server's own command counts none
    assert sum(service.requests for service in result.services) == counted * cell.requests
    programs = [*result.clients] if by_native else []
    children: list[Any] = [*result.services, *result.clients]
    assert (cpu_ns(children) or 0) > 0  # one alone may take no tick
    for child in children:
        name = RuntimeName(NATIVE) if child in programs else runtime.name
        assert child.gil_enabled_ready is child.gil_enabled_end is name.gil_enabled
        if str(name) != NATIVE:
            assert child.jit_enabled_ready is child.jit_enabled_end is name.jit_enabled
        assert child.max_rss_bytes > 500_000
        assert {type(getattr(child, key)) for key in USAGE} == {int}
    assert 0 < result.latency.min_ns <= result.latency.max_ns <= result.wall_ns
    assert result.wall_ns >= max(client.completion_ns for client in result.clients) > 0
    assert result.overhead_ns > 0


@pytest.mark.parametrize(("name", "variant"), more_kinds("cells"))
def test_a_system_answers_every_request_and_counts_none_of_its_warm_up(
    native_client: Bench, bench: Bench, name: str, variant: str
) -> None:
    number, params = VARIANTS[variant]["system"], params_of(VARIANTS[variant])
    runtime = runtime_of(name)
    both = replace(native_client if name == NATIVE else bench, method=Method(warmup=Warmup(share=1.0)))
    cell, result = measured(number, runtime, both, **THREE_WORKERS, **params)
    check_all_is_well(result, cell, runtime)
    assert (result.runtime, result.client_runtime) == (name, name)
    fresh = number == "1" or params.get("REUSE_CLIENT") is False
    assert result.connect.count == (cell.requests if fresh else 0)


@pytest.mark.parametrize("number", "1234")
def test_a_python_service_is_called_by_the_native_client(native_client: Bench, number: str) -> None:
    runtime = runtime_or_skip("3.14t")
    cell, result = measured(number, runtime, native_client, NUM_CLIENTS=2, NUM_REQUESTS_PER_CLIENT=65)
    check_all_is_well(result, cell, runtime, by_native=True)
    assert result.waiting.count == 2 * 2  # of each client, its requests 0 and 64
    assert (result.runtime, result.client_runtime) == ("3.14t", NATIVE)
    slow = result.slow["p99"]
    assert slow.threshold_ns == result.latency.percentile("p99")
    assert (slow.requests > 0) is (result.latency.max_ns > slow.threshold_ns)


@pytest.mark.parametrize("name", ["3.14t", NATIVE])
def test_a_pinned_client_uses_its_own_socket_and_one_that_picks_at_random_every_one(
    name: str, bench: Bench, native_client: Bench
) -> None:
    runtime, both = runtime_of(name), native_client if name == NATIVE else bench
    pinned = {"CLIENT_BINDING": "pinned", "NUM_MULTI_SOCKET": 3, "NUM_CLIENTS": 4}
    services = []
    for params in (pinned, {"NUM_MULTI_SOCKET": 3, "NUM_REQUESTS_PER_CLIENT": 60}):
        cell, result = measured("4", runtime, both, **params)
        check_all_is_well(result, cell, runtime)
        services += result.services
    assert services[0].requests_by_socket == [40, 20, 20]
    assert sum(services[1].requests_by_socket) == 60
    assert min(services[1].requests_by_socket) > 0
    assert name == NATIVE or sum(services[1].connections_by_requests.values()) == 3


@each_row
def test_an_echo_server_is_called_by_the_native_client(native_client: Bench, name: str, duration_s: float) -> None:
    method = replace(native_client.method, warmup=Warmup(share=0.5), duration_s=duration_s)
    sizes = {"MESSAGE_BYTES": 102_400, "NUM_CONNECTIONS_PER_CLIENT": 3, "NUM_REQUESTS_PER_CLIENT": 30}
    bench = replace(native_client, method=method)
    _, result = measured(name, runtime_or_skip("3.14t"), bench, TRANSPORT="unix", **sizes)
    check_ok(result)
    assert result.requests == result.latency.count == result.services[0].requests
    assert result.clients[0].completion_ns >= duration_s * 1e9  # in which a busy machine may answer few
    assert duration_s or result.answered == 30
    assert result.client_runtime == NATIVE


@each_row
@pytest.mark.parametrize("name", ["own", "ab", "wrk", "oha"])
def test_every_load_generator_calls_the_same_server(native_client: Bench, name: str, keep_alive: bool) -> None:
    for program in ("http-echo", "loadgen" if name == "own" else name):
        native_or_skip(program)
    bench = replace(native_client, method=replace(native_client.method, warmup=Warmup(share=0.5)))
    sizes = {"NUM_CONNECTIONS_PER_CLIENT": 4, "NUM_REQUESTS_PER_CLIENT": 400, "KEEP_ALIVE": keep_alive}
    _, result = measured(f"load-{name}", Native(), bench, **sizes)
    check_ok(result)
    assert result.requests == 400 or name == "wrk"
    assert (cpu_ns(result.clients) or 0) > 0
    if name == "own":
        assert result.latency.count == 400
    else:
        assert (result.clients[0].said or {})["seconds"] > 0


def patch_children(monkeypatch: pytest.MonkeyPatch, wanted_role: str, first: str) -> None:
    """From now on these statements are run first in every child of that role."""
    real = Runtime.command

    def command(runtime: Runtime, system: System, role: str) -> list[str]:
        own = real(runtime, system, role)
        return prefixed(own, first) if role == wanted_role else own

    monkeypatch.setattr(Runtime, "command", command)


# ---- a GIL that is not what the runtime says ------------------------------------------------------------------

LOADING = "import needs_gil"
LOADING_LATE = """
import core.child
to_json = core.child.Usage.to_json
def late(usage):
    import needs_gil
    return to_json(usage)
core.child.Usage.to_json = late
"""


@pytest.fixture(scope="module")
def needs_gil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an extension module for 3.14t, needs_gil, that does not declare that it can do without the GIL."""
    folder = tmp_path_factory.mktemp("extension")
    built = extension(runtime_or_skip("3.14t").interpreter, folder, "needs_gil", EXTENSION)
    (folder / "needs_gil.so").write_bytes(built)
    return folder


@each_row
def test_an_import_that_turns_the_gil_on_makes_the_cell_invalid_and_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, needs_gil: Path, role: str, late: bool
) -> None:
    loading = LOADING_LATE if late else LOADING
    patch_children(monkeypatch, role, f"import sys; sys.path.append({str(needs_gil)!r})\n{loading}")
    _, result = measured("2", runtime_or_skip("3.14t"), bench)
    assert result.status == "invalid"
    assert re.match(rf"in {role.capitalize()} 1 of 1 .*, Python's GIL was on .* 'needs_gil'$", str(result.reason))
    (child,) = result.services if role == "service" else result.clients
    assert (child.gil_enabled_ready, child.gil_enabled_end) == (not late, True)
    assert (result.answered, result.wrong, result.errors) == (20, 0, {})
