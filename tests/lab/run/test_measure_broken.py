"""Children that break the contract: the cell fails, measure() does not."""

import re

import pytest

from lab.run import deadlines
from lab.run.measure import Bench, measure
from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.contract.serving import small_cell
from tests.lab.scripted_children import Scripted


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


@pytest.mark.parametrize("line", ["", "17", "[]", '{"ready": true}', '{"result": 17}', '{"result": null}', "nonsense"])
def test_a_last_line_that_is_no_result_fails_the_cell(
    scripted: Scripted, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "FLOOR_S", 0.3)
    result = scripted(clients=(line,))
    assert result.status == "failed"
    assert "Client 1 of 1" in str(result.reason)


@pytest.mark.parametrize(
    ("deadline", "said", "when"),
    [
        ("lab.run.deadlines.START_DEADLINE_S", {"ready": ""}, "before it was ready"),
        ("lab.run.measure.END_DEADLINE_S", {"service": ""}, "at the end of the cell"),
    ],
)
def test_a_service_that_is_never_ready_or_does_not_stop_fails_the_cell(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, deadline: str, said: dict[str, str], when: str
) -> None:
    monkeypatch.setattr(deadline, 0.3)
    result = scripted(**said)
    assert result.status == "failed"
    assert re.match(rf"Service 1 of 1 .* said nothing for .* {when}", str(result.reason))


def test_a_program_that_is_not_there_fails_the_cell(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, any_runtime: Runtime
) -> None:
    monkeypatch.setattr(Runtime, "command", lambda runtime, system, role: ["/no/such/program"])
    system = find("1")
    bench = Bench(sandbox=sandbox, runtimes={str(any_runtime.name): any_runtime})
    result = measure(small_cell(system, any_runtime), system, 1, bench)
    assert (result.status, result.answered, result.clients) == ("failed", 0, [])
    assert "/no/such/program" in str(result.reason)
