"""Every system for real, under every runtime, measured as a run measures it; and services that are wrong."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cell import Cell
from core.method import Method, Warmup
from core.result import CellResult
from core.runtime import NATIVE, RuntimeName
from core.system import System
from lab.environments.environment import EnvironmentFailed
from lab.run.measure import Bench, measure
from lab.run.runtimes import Native, Runtime
from systems import find
from tests.conftest import native_or_skip, runtime_or_skip
from tests.contract.serving import command_or_skip, prefixed, small_cell
from tests.lab.extensions import EXTENSION, extension

TWO_CLIENTS = {"NUM_CLIENTS": 2, "NUM_WORKERS_PER_API_SERVICE": 3}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", {"TRANSPORT": "unix"}),
    "1 tcp": ("1", {"TRANSPORT": "tcp"}),
    "2 unix": ("2", {"TRANSPORT": "unix"}),
    "2 tcp": ("2", {"TRANSPORT": "tcp"}),
    "2 fresh unix": ("2", {"REUSE_CLIENT": False}),
    "2 fresh tcp": ("2", {"REUSE_CLIENT": False, "TRANSPORT": "tcp"}),
    "2 poll": ("2", {"SELECTOR": "poll"}),
    "2 select fresh": ("2", {"SELECTOR": "select", "REUSE_CLIENT": False}),
    "2 with room for all": ("2", {"NUM_MAX_CONNS": 2}),
    "3": ("3", {}),
    "4 unix": ("4", {"TRANSPORT": "unix"}),
    "4 tcp": ("4", {"TRANSPORT": "tcp"}),
    "4 one socket": ("4", {"NUM_MULTI_SOCKET": 1}),
    "4 select": ("4", {"SELECTOR": "select"}),
    "4 poll": ("4", {"SELECTOR": "poll"}),
    "4 single": ("4", {"SELECT_MODE": "single"}),
    "4 single poll tcp": ("4", {"SELECT_MODE": "single", "SELECTOR": "poll", "TRANSPORT": "tcp"}),
    "4 single select": ("4", {"SELECT_MODE": "single", "SELECTOR": "select"}),
    "2 leader fresh": ("2", {"DISPATCH": "leader", "REUSE_CLIENT": False}),
    "2 owned": ("2", {"DISPATCH": "owned"}),
    "4 leader select": ("4", {"DISPATCH": "leader", "SELECTOR": "select"}),
    "4 auto pinned": ("4", {"DISPATCH": "auto", "CLIENT_BINDING": "pinned"}),
    "4 single pinned": ("4", {"SELECT_MODE": "single", "CLIENT_BINDING": "pinned"}),
    "4 with room for all": ("4", {"NUM_MAX_CONNS": 4}),
}
PAYLOAD = {"PAYLOAD_BYTES": 110_000, "NUM_REQUESTS_PER_CLIENT": 5}


@pytest.fixture
def native_client(bench: Bench) -> Bench:
    """A bench whose clients are the native load generator."""
    native_or_skip("loadgen")
    method = replace(bench.method, client_runtime=NATIVE)
    return replace(bench, runtimes={**bench.runtimes, NATIVE: Native()}, method=method)


def measured(number: str, runtime: Runtime, bench: Bench, **params: Any) -> tuple[Cell, CellResult]:
    """A small cell, and its result. The test is skipped where the system's packages cannot be had."""
    system = find(number)
    command_or_skip(runtime, system, "service")
    cell = small_cell(system, runtime, **params)
    return cell, measure(cell, system, 1, bench)


def check_all_is_well(result: CellResult, cell: Cell, runtime: Runtime) -> None:
    """Every request was answered rightly, by whom and under which GIL is recorded."""
    assert (result.status, str(result.reason)) == ("ok", "")
    assert (result.requests, result.answered, result.wrong, result.errors) == (cell.requests, cell.requests, 0, {})
    assert result.latency["count"] == cell.requests
    assert sum(service["requests"] for service in result.services) == cell.requests
    assert [service["service_id"] for service in result.services] == list(range(cell.num_api_services))
    assert [client["client_id"] for client in result.clients] == list(range(cell.num_clients))
    for child in (*result.services, *result.clients):
        assert child["gil_enabled_ready"] is child["gil_enabled_end"] is runtime.name.gil_enabled
        assert child["jit_enabled_ready"] is child["jit_enabled_end"] is runtime.name.jit_enabled
        assert child["max_rss_bytes"] > 1_000_000
    assert result.wall_ns >= max(client["completion_ns"] for client in result.clients) > 0
    assert result.overhead_ns > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_system_answers_every_request(runtime: Runtime, bench: Bench, variant: str) -> None:
    number, params = VARIANTS[variant]
    cell, result = measured(number, runtime, bench, **TWO_CLIENTS, **params)
    check_all_is_well(result, cell, runtime)
    fresh = number == "1" or params.get("REUSE_CLIENT") is False
    assert result.connect.get("count", 0) == (cell.requests if fresh else 0)


@pytest.mark.parametrize("variant", ["1 unix", "2 unix", "2 fresh unix", "3", "4 unix", "4 single"])
def test_after_a_warm_up_only_what_is_timed_is_counted(runtime: Runtime, bench: Bench, variant: str) -> None:
    number, params = VARIANTS[variant]
    warm = replace(bench, method=Method(warmup=Warmup(share=1.0)))
    cell, result = measured(number, runtime, warm, **TWO_CLIENTS, **params)
    check_all_is_well(result, cell, runtime)


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_at_a_rate_both_clients_send_no_request_before_it_is_due(
    runtime: Runtime, bench: Bench, native_client: Bench, number: str
) -> None:
    for each in (bench, native_client):
        cell, result = measured(number, runtime, each, RATE=200, NUM_REQUESTS_PER_CLIENT=20)
        assert (result.status, str(result.reason), result.answered) == ("ok", "", cell.requests)
        (client,) = result.clients
        assert client["overdue"] == 0
        assert client["completion_ns"] >= 19 / 200 * 1e9  # when the last one was due


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_a_payload_of_more_than_one_read_arrives(runtime: Runtime, bench: Bench, number: str) -> None:
    cell, result = measured(number, runtime, bench, **PAYLOAD)
    check_all_is_well(result, cell, runtime)


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_more_services_than_threads_are_served_in_turn(any_runtime: Runtime, bench: Bench, number: str) -> None:
    cell, result = measured(
        number, any_runtime, bench, NUM_API_SERVICES=4, NUM_THREADS_PER_CLIENT=1, NUM_REQUESTS_PER_CLIENT=5
    )
    check_all_is_well(result, cell, any_runtime)
    assert [service["requests"] for service in result.services] == [5, 5, 5, 5]


def test_a_pinned_client_uses_its_own_socket_and_no_other(runtime: Runtime, bench: Bench) -> None:
    cell, result = measured("4", runtime, bench, CLIENT_BINDING="pinned", NUM_MULTI_SOCKET=3, NUM_CLIENTS=4)
    check_all_is_well(result, cell, runtime)
    (service,) = result.services
    assert service["requests_by_socket"] == [40, 20, 20]


def test_a_client_that_picks_at_random_uses_every_socket(runtime: Runtime, bench: Bench) -> None:
    cell, result = measured("4", runtime, bench, NUM_MULTI_SOCKET=3, NUM_REQUESTS_PER_CLIENT=60)
    check_all_is_well(result, cell, runtime)
    (service,) = result.services
    assert sum(service["requests_by_socket"]) == 60
    assert min(service["requests_by_socket"]) > 0
    assert sum(service["connections_by_requests"].values()) == 3


@pytest.mark.parametrize("number", ["2", "4"])
def test_a_client_over_the_limit_of_connections_is_refused_and_the_others_are_not(
    runtime: Runtime, bench: Bench, number: str
) -> None:
    _, result = measured(number, runtime, bench, NUM_CLIENTS=2, NUM_MAX_CONNS=1, NUM_MULTI_SOCKET=1)
    assert (result.status, str(result.reason)) == ("failed", "errors: 20 x 503")
    assert (result.answered, result.errors) == (40, {"503": 20})
    assert sorted(client["errors"].get("503", 0) for client in result.clients) == [0, 20]


MISBEHAVIOUR: dict[str, tuple[dict[str, Any], str]] = {
    "wrong": ({"answered": 20, "wrong": 20, "errors": {}}, "20 answers were wrong"),
    "refusing": ({"answered": 20, "wrong": 0, "errors": {"500": 20}}, "errors: 20 x 500"),
    "garbled": ({"answered": 20, "wrong": 0, "errors": {"garbled": 20}}, "errors: 20 x garbled"),
    "twice": (
        {"answered": 0, "wrong": 0, "errors": {"extra": 10}},
        "20 of 20 requests were not answered; errors: 10 x extra",
    ),
    "oversize": (
        {"answered": 0, "wrong": 0, "errors": {"garbled": 10}},
        "20 of 20 requests were not answered; errors: 10 x garbled",
    ),
    "closing": (
        {"answered": 5, "wrong": 0, "errors": {"closed": 10}},
        "15 of 20 requests were not answered; errors: 10 x closed",
    ),
}


def misbehave(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """From now on every service is tests.contract.misbehaving; clients are the system's own."""
    real = Runtime.command

    def command(runtime: Runtime, system: System, role: str) -> list[str]:
        own = real(runtime, system, role)
        return own if role == "client" else [*own[: own.index("-m")], "-m", "tests.contract.misbehaving", mode]

    monkeypatch.setattr(Runtime, "command", command)


@pytest.mark.parametrize("mode", MISBEHAVIOUR)
def test_a_service_that_misbehaves_fails_the_cell_with_what_was_counted(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    misbehave(monkeypatch, mode)
    counts, reason = MISBEHAVIOUR[mode]
    _, result = measured("2", any_runtime, bench)
    assert (result.status, str(result.reason)) == ("failed", reason)
    assert {name: getattr(result, name) for name in counts} == counts
    assert result.requests == 20


def test_a_service_that_dies_fails_the_cell_with_its_status_and_its_last_words(
    runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, "dying")
    _, result = measured("2", runtime, bench)
    assert result.status == "failed"
    assert re.fullmatch(
        rf"Service 1 of 1 \({re.escape(str(runtime.name))}, pid \d+\) exited with status 7 "
        r"(while the clients were calling|at the end of the cell)\. Its last lines: no more answers from me",
        str(result.reason),
    )


def test_answers_that_never_come_are_timeouts(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    misbehave(monkeypatch, "mute")
    impatient = "import clients.drive; clients.drive.CallerClient.run.__defaults__ = (0.5,)"
    patch_children(monkeypatch, "client", impatient)
    _, result = measured("2", any_runtime, bench)
    assert (result.status, result.answered, result.errors) == ("failed", 0, {"timeout": 1})
    assert str(result.reason) == "20 of 20 requests were not answered; errors: 1 x timeout"


def patch_children(monkeypatch: pytest.MonkeyPatch, wanted_role: str, first: str) -> None:
    """From now on these statements are run first in every child of that role."""
    real = Runtime.command

    def command(runtime: Runtime, system: System, role: str) -> list[str]:
        own = real(runtime, system, role)
        return prefixed(own, first) if role == wanted_role else own

    monkeypatch.setattr(Runtime, "command", command)


def test_a_system_whose_packages_cannot_be_had_fails_its_cell_and_says_why(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(runtime: Runtime, *needs: object) -> Path:
        raise EnvironmentFailed("no network, say")

    monkeypatch.setattr(Runtime, "python", fail)
    system = find("3")
    result = measure(small_cell(system, any_runtime), system, 1, bench)
    assert (result.status, str(result.reason)) == ("failed", "no network, say")


# ---- a GIL that is not what the runtime says ------------------------------------------------------------------

AT_THE_END = """
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


@pytest.mark.parametrize("role", ["service", "client"])
def test_an_import_that_turns_the_gil_on_makes_the_cell_invalid_and_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, needs_gil: Path, role: str
) -> None:
    patch_children(monkeypatch, role, f"import sys; sys.path.append({str(needs_gil)!r}); import needs_gil")
    _, result = measured("2", runtime_or_skip("3.14t"), bench)
    assert result.status == "invalid"
    assert re.fullmatch(
        rf"the GIL of {role.capitalize()} 1 of 1 \(3\.14t, pid \d+\) was on when ready and at the end: "
        r"it was enabled to load module 'needs_gil'",
        str(result.reason),
    )
    assert (result.answered, result.wrong, result.errors) == (20, 0, {})


def test_a_gil_that_comes_on_during_the_cell_makes_it_invalid(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, needs_gil: Path
) -> None:
    first = f"import sys; sys.path.append({str(needs_gil)!r})\n{AT_THE_END}"
    patch_children(monkeypatch, "service", first)
    _, result = measured("2", runtime_or_skip("3.14t"), bench)
    assert result.status == "invalid"
    assert "was on at the end: it was enabled to load module 'needs_gil'" in str(result.reason)
    (service,) = result.services
    assert (service["gil_enabled_ready"], service["gil_enabled_end"]) == (False, True)


@pytest.mark.parametrize(("name", "part"), [("3.14t+gil", "GIL"), ("3.14+jit", "JIT"), ("3.15+jit", "JIT")])
def test_what_was_to_be_on_and_is_off_makes_the_cell_invalid(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, part: str
) -> None:
    runtime = runtime_or_skip(name)
    monkeypatch.setattr(RuntimeName, "variables", {})
    _, result = measured("1", runtime, bench)
    assert result.status == "invalid"
    off = rf"the {part} of \w+ 1 of 1 \S+, pid \d+\) was off when ready and at the end"
    assert len(re.findall(off, str(result.reason))) == 2
