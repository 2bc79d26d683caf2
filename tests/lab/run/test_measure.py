"""One cell: what its children say becomes a result."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.run_plan import Entry
from core.messages import BadInput
from core.processtree import tree
from lab.folders import Sandbox
from lab.run.cell_processes import Bench
from lab.run.cell_results import LIKE_WEBSOCKET
from lab.run.measure import measure_together
from lab.run.measured_runtimes import Runtime
from systems import find
from tests.contract.serving import small_cell
from tests.lab.scripted_children import GIL_OFF, GIL_ON, Scripted, client_says, latency, scripted, service_says
from tests.tables import each_row

__all__ = ["scripted"]

BOTH_TIMES = "after the process had started and at the end of the measurement"


def test_what_clients_and_services_say_is_added_up_and_nothing_stays_in_the_sandbox(
    scripted: Scripted, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox, "folder", tmp_path)
    result = scripted(
        service=service_says(requests=30),
        clients=(client_says(latency=latency(1, 2), connect=latency(7), errors={"closed": 1}),),
        NUM_CLIENTS=3,
        NUM_API_SERVICES=2,
    )
    assert (result.requests, result.answered, result.wrong, result.errors) == (60, 60, 0, {"closed": 3})
    latencies = result.latency
    assert (latencies.count, latencies.min_ns, latencies.max_ns, latencies.mean_ns) == (6, 1, 2, 1)
    assert (result.connect.count, result.connect.max_ns) == (3, 7)
    assert [client.client_id for client in result.clients] == [0, 1, 2]
    assert [service.service_id for service in result.services] == [0, 1]
    assert result.services[0].requests == 30
    ends_ns = [client.finished_ns for client in result.clients]
    assert max(ends_ns) - result.wall_ns < min(ends_ns)  # the release, before any client's end
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has an idle class")
def test_the_cores_are_held_awake_for_a_cell_that_says_so(scripted: Scripted) -> None:
    seen: list[bool] = []

    @contextmanager
    def watch(_: int) -> Iterator[None]:
        yield
        seen.append(any(b"wakeups.py" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in tree(os.getpid())))

    for is_awake in (False, True):
        assert scripted(KEEP_AWAKE=is_awake, watch=watch).status == "ok"
    assert seen == [False, True]


FAULTS = f"""\
{{"answered": 13}} -> 7 of 20 requests were not answered
{{"answered": 0, "errors": {{"login": 20}}}} -> 20 of 20 requests failed, because their logins failed
{{"answered": 17, "errors": {{"login": 1, "reset": 2}}}} -> 2 of 20 requests were not answered; 1 of 20 requests \
failed, because its login failed; errors: 2 x reset
{{"errors": {{"reset": 1, "503": 4}}}} -> errors: 4 x 503, 1 x reset
{{"answered": 19, "wrong": 2, "errors": {{"closed": 1}}}} -> 1 of 20 requests was not answered; 2 answers were wrong; \
errors: 1 x closed
{{"wrong": 20, "first_wrong": {{"request": "GET /ws", "got": "status 404", "expected": "101"}}}} -> 20 answers were \
wrong; the first wrong answer to GET /ws was status 404, expected 101; {LIKE_WEBSOCKET}
{{"answered": 19, "errors": {{"closed": 1}}, "first_wrong": {{"request": "POST /upload", "got": "no answer, because \
the service closed a kept connection", "expected": "an answer"}}}} -> 1 of 20 requests was not answered; errors: \
1 x closed; the first failed request, POST /upload, got no answer, because the service closed a kept connection"""


@pytest.mark.parametrize("line", FAULTS.splitlines())
def test_answers_that_are_missing_wrong_or_errors_fail_the_cell_and_stay_counted(scripted: Scripted, line: str) -> None:
    """Also where the GIL is on that should be off."""
    said, reason = line.split(" -> ")
    counts = json.loads(said)
    result = scripted(clients=(client_says(**counts),), runtime_name="3.14t")
    assert (result.status, str(result.reason)) == ("failed", reason)
    counts.pop("first_wrong", None)
    assert {name: getattr(result, name) for name in counts} == counts


@each_row
def test_a_gil_that_is_not_what_the_system_says_makes_the_cell_invalid(scripted: Scripted, line: str) -> None:
    """A system may have a client that is to turn it on. tests/contract/test_systems.py has real ones, of each role."""
    states = {"on": GIL_ON, "off": GIL_OFF}
    given, _, named = line.partition(" ->")
    task, service, client = given.split()
    said = {"service": service_says(**states[service]), "clients": (client_says(**states[client]),)}
    result = scripted(**said, runtime_name="3.14t", turns_gil_on=task == "turn")
    assert result.status == ("invalid" if named else "ok")
    is_on = "off" if line == "turn off off -> Client" else "on"
    reason = "; ".join(f"in {role} 1 of 1 .*" for role in named.split())
    assert re.fullmatch(f"{reason}, Python's GIL was {is_on} {BOTH_TIMES}" if named else "", str(result.reason))


# ---- children that break the contract: the cell fails, measure() does not -------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            {"ready": {"ready": True, "addresses": ["/same"], "runtime": {}}, "NUM_API_SERVICES": 2},
            r"^Service 2 of 2 .* listens at /same, but Service 1 of 2 ",
        ),
        ({"clients": (client_says(latency=latency(*[10**9] * 20)),)}, "sent 20000000000 as latency.histogram.total_ns"),
    ],
)
def test_a_line_that_is_not_what_the_contract_wants_fails_the_cell(
    scripted: Scripted, said: dict[str, Any], reason: str
) -> None:
    """test_contract.py and test_children.py have all that is refused."""
    result = scripted(**said)
    assert result.status == "failed"
    assert re.search(reason, str(result.reason))
    assert result.overhead_ns > 0


def test_arms_whose_limits_the_kernel_refuses_fail_with_its_reason(
    sandbox: Sandbox, any_runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of the first one, which says whether the second one fits, is that of no process."""

    def refused(*_: object) -> None:
        raise BadInput("no control groups here")

    monkeypatch.setattr("lab.run.cell_processes.service_group", refused)
    system, name = find("2"), str(any_runtime.name)
    bench = Bench(sandbox=sandbox, runtimes={name: any_runtime})
    entries = [Entry(arm=arm, cell=small_cell(system, any_runtime), system=system) for arm in (name, f"{name} again")]
    results = measure_together(entries, 1, bench, 0)
    assert [(one.status, str(one.reason)) for one in results] == [("failed", "no control groups here")] * 2


@each_row
def test_a_service_that_is_never_ready_or_does_not_stop_fails_the_cell(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, deadline: str, said: dict[str, str], when: str
) -> None:
    monkeypatch.setattr(deadline, 0.3)
    result = scripted(**said)
    assert result.status == "failed"
    assert re.match(rf"Service 1 of 1 .* wrote no line to stdout for .* {when}", str(result.reason))
