"""One cell: what its children say becomes a result. The children here are scripts that say what a test wants."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.histogram import Histogram
from core.result import CellResult
from core.runtime import RuntimeName
from core.system import System
from lab import deadlines
from lab import measure as measure_module
from lab.interpreters import Interpreter
from lab.measure import Bench, measure
from lab.runtimes import Runtime
from lab.sandbox import Sandbox
from systems import find
from tests.contract.serving import small_cell

SCRIPT = """
import signal, sys
role, ready, result, complaint = sys.argv[1:]
told = sys.stdin.readline()
if ready:
    print(ready, flush=True)
sys.stderr.write(complaint)
sys.stderr.flush()
if role == "client":
    sys.stdin.readline()
else:
    sys.stdin.read()
if not result:
    signal.pause()
print(result, flush=True)
sys.stdin.read()
"""
GIL_OFF = {"gil_enabled_ready": False, "gil_enabled_end": False}
GIL_ON = {"gil_enabled_ready": True, "gil_enabled_end": True}
USAGE = {"cpu_user_ns": 5, "cpu_system_ns": 6, "max_rss_bytes": 7}


def latency(*values_ns: int) -> dict[str, Any]:
    """A histogram as a client says it."""
    histogram = Histogram()
    for value in values_ns:
        histogram.record(value)
    return histogram.to_json()


def client_says(**other: Any) -> dict[str, Any]:
    """The result of a client that had all of its 20 requests answered, but for *other*."""
    counts = {"requests": 20, "answered": 20, "wrong": 0, "errors": {}, "calc_ns": 100}
    times = {"started_ns": 0, "finished_ns": 10**18, "completion_ns": 1000}
    return {**counts, **times, "latency": latency(*range(1, 21)), **USAGE, **GIL_ON, **other}


def service_says(**other: Any) -> dict[str, Any]:
    """The result of a service, but for *other*."""
    return {"requests": 20, **USAGE, **GIL_ON, **other}


Scripted = Callable[..., CellResult]


@pytest.fixture
def scripted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Measures a cell whose services and clients say these lines; several clients take turns in saying."""
    interpreter = Interpreter(name="3.14", executable=Path(sys.executable), source="given", facts={"version": "3.14.0"})

    def run(
        *,
        service: object = None,
        clients: tuple[object, ...] = (),
        ready: object = None,
        complaint: str = "",
        runtime_name: str = "3.14",
        turns_gil_on: bool = False,
        **params: Any,
    ) -> CellResult:
        said = {"service": [service_says() if service is None else service], "client": [*(clients or [client_says()])]}
        ready_line = _text({"ready": True, "addresses": ["/nowhere"], "runtime": {}} if ready is None else ready)
        started = {"service": 0, "client": 0}

        def command(runtime: Runtime, system: System, role: str) -> list[str]:
            result = said[role][started[role] % len(said[role])]
            started[role] += 1
            text = _text({"result": result} if isinstance(result, dict) else result)
            return [sys.executable, "-c", SCRIPT, role, ready_line, text, complaint if role == "service" else ""]

        monkeypatch.setattr(Runtime, "command", command)
        runtime = Runtime(name=RuntimeName.parse(runtime_name), interpreter=interpreter)
        system = replace(find("2"), turns_gil_on=turns_gil_on)
        cell = small_cell(system, runtime, **params)
        return measure(cell, system, 3, Bench(sandbox=sandbox, runtimes={runtime_name: runtime}))

    return run


def _text(line: object) -> str:
    return line if isinstance(line, str) else json.dumps(line)


# ---- sums ----------------------------------------------------------------------------------------------------------


def test_a_cell_whose_requests_were_all_answered_is_ok(scripted: Scripted) -> None:
    result = scripted()
    assert (result.status, result.reason) == ("ok", "")
    assert (result.system, result.runtime, result.arm, result.block) == ("2", "3.14", "3.14", 3)
    assert re.fullmatch(r"2-3\.14-[0-9a-f]{8}", result.cell_id)
    assert result.params["NUM_REQUESTS_PER_CLIENT"] == 20
    assert (result.requests, result.answered, result.wrong, result.errors) == (20, 20, 0, {})
    assert (result.latency["count"], result.latency["min_ns"], result.latency["max_ns"]) == (20, 1, 20)
    assert result.connect == {}
    (client,), (service,) = result.clients, result.services
    assert (client["client_id"], client["completion_ns"], client["cpu_user_ns"]) == (0, 1000, 5)
    assert "latency" not in client
    assert (service["service_id"], service["requests"], service["max_rss_bytes"]) == (0, 20, 7)


def test_the_wall_time_ends_with_the_last_client(scripted: Scripted) -> None:
    late, early = client_says(finished_ns=10**18 + 5_000), client_says(finished_ns=10**18)
    result = scripted(clients=(late,), NUM_CLIENTS=1)
    assert result.wall_ns > 9 * 10**17
    assert 0 < result.wall_ns + result.overhead_ns < 10**12
    assert early["finished_ns"] < late["finished_ns"]


def test_what_clients_and_services_say_is_added_up(scripted: Scripted) -> None:
    result = scripted(
        service=service_says(requests=1),
        clients=(client_says(latency=latency(1, 2), connect=latency(7), errors={"closed": 1}),),
        NUM_CLIENTS=3,
        NUM_API_SERVICES=2,
    )
    assert (result.requests, result.answered) == (60, 60)
    assert (result.latency["count"], result.latency["mean_ns"]) == (6, 1)
    assert (result.connect["count"], result.connect["max_ns"]) == (3, 7)
    assert result.errors == {"closed": 3}
    assert [client["client_id"] for client in result.clients] == [0, 1, 2]
    assert [service["service_id"] for service in result.services] == [0, 1]


# ---- judgement -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"answered": 13}, "7 of 20 requests were not answered"),
        ({"wrong": 2}, "2 answers were wrong"),
        ({"errors": {"reset": 1, "503": 4}}, "errors: 4 x 503, 1 x reset"),
        (
            {"answered": 19, "wrong": 2, "errors": {"closed": 1}},
            "1 of 20 requests were not answered; 2 answers were wrong; errors: 1 x closed",
        ),
    ],
)
def test_answers_that_are_missing_wrong_or_errors_fail_the_cell_and_stay_counted(
    scripted: Scripted, said: dict[str, Any], reason: str
) -> None:
    result = scripted(clients=(client_says(**said),))
    assert (result.status, result.reason) == ("failed", reason)
    assert {name: getattr(result, name) for name in said} == said


def test_more_answers_than_requests_fail_the_cell(scripted: Scripted) -> None:
    assert scripted(clients=(client_says(answered=21),)).status == "failed"


def test_a_missing_answer_of_one_client_is_not_made_good_by_an_extra_one_of_another(scripted: Scripted) -> None:
    result = scripted(clients=(client_says(answered=19),), NUM_CLIENTS=2)
    assert (result.status, result.reason) == ("failed", "2 of 40 requests were not answered")


@pytest.mark.parametrize(
    ("service", "client", "reason"),
    [
        (GIL_ON, GIL_OFF, r"the GIL of Service 1 of 1 \(3\.14t, pid \d+\) was on when ready and at the end"),
        (GIL_OFF, GIL_ON, r"the GIL of Client 1 of 1 \(3\.14t, pid \d+\) was on when ready and at the end"),
        (GIL_OFF, {**GIL_OFF, "gil_enabled_end": True}, r"the GIL of Client 1 of 1 .* was on at the end"),
        (GIL_ON, GIL_ON, r"the GIL of Service 1 .*; the GIL of Client 1 .*"),
    ],
)
def test_a_gil_that_is_not_what_the_runtime_says_makes_the_cell_invalid(
    scripted: Scripted, service: dict[str, bool], client: dict[str, bool], reason: str
) -> None:
    result = scripted(service=service_says(**service), clients=(client_says(**client),), runtime_name="3.14t")
    assert result.status == "invalid"
    assert re.fullmatch(reason, result.reason)


def test_the_import_that_turned_the_gil_on_is_named(scripted: Scripted) -> None:
    warning = (
        "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to "
        "load module 'hdrh.codec', which has not declared that it can run safely without the GIL.\n"
    )
    off = client_says(**GIL_OFF)
    result = scripted(service=service_says(), clients=(off,), complaint=warning, runtime_name="3.14t")
    assert result.reason.endswith("was on when ready and at the end: it was enabled to load module 'hdrh.codec'")


@pytest.mark.parametrize(
    ("turns_gil_on", "service", "client", "status", "reason"),
    [
        (True, GIL_OFF, GIL_ON, "ok", ""),
        (False, GIL_OFF, GIL_ON, "invalid", "the GIL of Client 1 of 1 .* was on when ready and at the end"),
        (True, GIL_OFF, GIL_OFF, "invalid", "the GIL of Client 1 of 1 .* was off when ready and at the end"),
        (True, GIL_ON, GIL_ON, "invalid", "the GIL of Service 1 of 1 .* was on when ready and at the end"),
    ],
)
def test_a_system_that_is_to_turn_its_clients_gil_on_must_do_so_and_no_other_may(
    scripted: Scripted,
    turns_gil_on: bool,
    service: dict[str, bool],
    client: dict[str, bool],
    status: str,
    reason: str,
) -> None:
    said = {"service": service_says(**service), "clients": (client_says(**client),)}
    result = scripted(**said, runtime_name="3.14t", turns_gil_on=turns_gil_on)
    assert result.status == status
    assert re.fullmatch(reason, result.reason)


def test_a_gil_that_is_off_where_it_was_to_be_on_makes_the_cell_invalid(scripted: Scripted) -> None:
    result = scripted(clients=(client_says(**GIL_OFF),), runtime_name="3.14t+gil")
    assert result.status == "invalid"
    assert "was off when ready and at the end" in result.reason


def test_a_cell_with_wrong_answers_is_failed_even_if_its_gil_is_wrong_too(scripted: Scripted) -> None:
    assert scripted(clients=(client_says(wrong=1),), runtime_name="3.14t").status == "failed"


# ---- children that break the contract: the cell fails, measure() does not ------------------------------------------


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
    assert re.search(r"(Service|Client) 1 of 1 \(3\.14, pid \d+\)", result.reason)
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
    assert "Client 1 of 1" in result.reason
    assert name in result.reason


@pytest.mark.parametrize("name", ["requests", "gil_enabled_ready", "gil_enabled_end"])
def test_a_services_result_without_what_the_contract_wants_fails_the_cell_and_says_what(
    scripted: Scripted, name: str
) -> None:
    result = scripted(service=without(service_says(), name))
    assert result.status == "failed"
    assert "Service 1 of 1" in result.reason
    assert name in result.reason


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
    assert "Client 1 of 1" in result.reason


@pytest.mark.parametrize("line", ["", "17", "[]", '{"ready": true}', '{"result": 17}', '{"result": null}', "nonsense"])
def test_a_last_line_that_is_no_result_fails_the_cell(
    scripted: Scripted, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "FLOOR_S", 0.3)
    result = scripted(clients=(line,))
    assert result.status == "failed"
    assert "Client 1 of 1" in result.reason


def test_a_service_that_does_not_stop_fails_the_cell(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_module, "END_DEADLINE_S", 0.3)
    result = scripted(service="")
    assert result.status == "failed"
    assert re.match(r"Service 1 of 1 \(3\.14, pid \d+\) said nothing for .* at the end of the cell", result.reason)


def test_a_service_that_is_never_ready_fails_the_cell(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "START_DEADLINE_S", 0.3)
    result = scripted(ready="")
    assert result.status == "failed"
    assert re.match(r"Service 1 of 1 .* said nothing for .* before it was ready", result.reason)


def test_a_program_that_is_not_there_fails_the_cell(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, any_runtime: Runtime
) -> None:
    monkeypatch.setattr(Runtime, "command", lambda runtime, system, role: ["/no/such/program"])
    system = find("1")
    bench = Bench(sandbox=sandbox, runtimes={str(any_runtime.name): any_runtime})
    result = measure(small_cell(system, any_runtime), system, 1, bench)
    assert (result.status, result.answered, result.clients) == ("failed", 0, [])
    assert "could not be started: /no/such/program: No such file or directory" in result.reason


def test_nothing_of_a_cell_is_left_in_the_sandbox_but_an_empty_folder(
    scripted: Scripted, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox, "folder", tmp_path)
    scripted()
    (folder,) = tmp_path.iterdir()
    assert list(folder.iterdir()) == []
