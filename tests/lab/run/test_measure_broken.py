"""Children that break the contract: the cell fails, measure() does not."""

import re
from typing import Any

import pytest

from lab.run import deadlines
from lab.run import measure as measure_module
from lab.run.measure import Bench, measure
from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.contract.serving import small_cell
from tests.lab.scripted_children import Scripted, client_says, latency, service_says


@pytest.mark.parametrize(
    "ready",
    [
        {"ready": True},
        {"ready": True, "runtime": {}},
        {"addresses": ["/nowhere"], "runtime": {}},
        {"ready": True, "addresses": ["/nowhere"]},
        {"ready": True, "addresses": ["/nowhere"], "runtime": "3.14"},
        "hello",
    ],
    ids=str,
)
def test_a_first_line_that_is_not_what_the_contract_wants_fails_the_cell(scripted: Scripted, ready: object) -> None:
    result = scripted(ready=ready)
    assert result.status == "failed"
    assert re.search(r"(Service|Client) 1 of 1 \(3\.14, pid \d+\)", str(result.reason))
    assert result.overhead_ns > 0


def without(said: dict[str, Any], name: str) -> dict[str, Any]:
    """*said* without one key."""
    return {key: value for key, value in said.items() if key != name}


@pytest.mark.parametrize(
    "name",
    ["finished_ns", "requests", "answered", "wrong", "errors", "latency", "gil_enabled_ready", "gil_enabled_end"],
)
def test_a_clients_result_without_what_the_contract_wants_fails_the_cell_and_says_what(
    scripted: Scripted, name: str
) -> None:
    result = scripted(clients=(without(client_says(), name),))
    assert result.status == "failed"
    assert "Client 1 of 1" in str(result.reason)
    assert name in str(result.reason)


@pytest.mark.parametrize("name", ["requests", "gil_enabled_ready", "gil_enabled_end"])
def test_a_services_result_without_what_the_contract_wants_fails_the_cell_and_says_what(
    scripted: Scripted, name: str
) -> None:
    result = scripted(service=without(service_says(), name))
    assert result.status == "failed"
    assert "Service 1 of 1" in str(result.reason)
    assert name in str(result.reason)


@pytest.mark.parametrize(
    "wrong",
    [
        {"answered": "twenty"},
        {"answered": None},
        {"errors": ["closed"]},
        {"errors": {"closed": "once"}},
        {"finished_ns": "now"},
        {"latency": {}},
        {"latency": {"count": 1}},
        {"latency": {**latency(5), "histogram": {"sub_bits": 99, "total_ns": 5, "counts": {"5": 1}}}},
        {"latency": {**latency(5), "histogram": {"sub_bits": 7, "total_ns": 5, "counts": {"five": 1}}}},
        {"latency": {**latency(5), "histogram": {"sub_bits": 7, "total_ns": 5, "counts": {"99999999": 1}}}},
    ],
    ids=str,
)
def test_a_clients_result_of_the_wrong_kind_fails_the_cell(scripted: Scripted, wrong: dict[str, Any]) -> None:
    result = scripted(clients=(client_says(**wrong),))
    assert result.status == "failed"
    assert "Client 1 of 1" in str(result.reason)


@pytest.mark.parametrize("line", ["", "17", "[]", '{"ready": true}', '{"result": 17}', '{"result": null}', "nonsense"])
def test_a_last_line_that_is_no_result_fails_the_cell(
    scripted: Scripted, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "FLOOR_S", 0.3)
    result = scripted(clients=(line,))
    assert result.status == "failed"
    assert "Client 1 of 1" in str(result.reason)


def test_a_service_that_does_not_stop_fails_the_cell(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_module, "END_DEADLINE_S", 0.3)
    result = scripted(service="")
    assert result.status == "failed"
    assert re.match(r"Service 1 of 1 \(3\.14, pid \d+\) said nothing for .* at the end of the cell", str(result.reason))


def test_a_service_that_is_never_ready_fails_the_cell(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "START_DEADLINE_S", 0.3)
    result = scripted(ready="")
    assert result.status == "failed"
    assert re.match(r"Service 1 of 1 .* said nothing for .* before it was ready", str(result.reason))


def test_a_program_that_is_not_there_fails_the_cell(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, any_runtime: Runtime
) -> None:
    monkeypatch.setattr(Runtime, "command", lambda runtime, system, role: ["/no/such/program"])
    system = find("1")
    bench = Bench(sandbox=sandbox, runtimes={str(any_runtime.name): any_runtime})
    result = measure(small_cell(system, any_runtime), system, 1, bench)
    assert (result.status, result.answered, result.clients) == ("failed", 0, [])
    assert "could not be started: /no/such/program: No such file or directory" in str(result.reason)
