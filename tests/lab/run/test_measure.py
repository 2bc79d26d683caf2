"""One cell: what its children say becomes a result."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from core.processtree import tree
from core.result import CellResult
from lab.run.sandbox import Sandbox
from tests.lab.scripted_children import GIL_OFF, GIL_ON, Scripted, client_says, latency, service_says


def test_a_cell_whose_requests_were_all_answered_is_ok(scripted: Scripted) -> None:
    result = scripted()
    assert (result.status, str(result.reason)) == ("ok", "")
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


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has an idle class")
@pytest.mark.parametrize("is_awake", [False, True])
def test_the_cores_are_held_awake_for_a_cell_that_says_so(scripted: Scripted, is_awake: bool) -> None:
    keepers: list[int] = []

    def listening(pid: int) -> None:
        keepers.extend(pid for pid in tree(os.getpid()) if b"awake.py" in Path(f"/proc/{pid}/cmdline").read_bytes())

    result = scripted(KEEP_AWAKE=is_awake, listening=listening)
    assert (result.status, result.params["KEEP_AWAKE"]) == ("ok", is_awake)
    assert len(keepers) == (1 + len(os.sched_getaffinity(0)) if is_awake else 0)
    assert not any(Path(f"/proc/{pid}").exists() for pid in keepers)


def test_the_wall_time_ends_with_the_last_client(scripted: Scripted) -> None:
    result = scripted(NUM_CLIENTS=2, service=service_says(requests=40))
    assert result.status == "ok"
    assert result.wall_ns == max(client["finished_ns"] for client in result.clients) - _released_ns(result)
    assert 0 < result.wall_ns + result.overhead_ns < 10**12


def _released_ns(result: CellResult) -> int:
    """The last client's end less the wall time; before any client's end."""
    ends_ns = [client["finished_ns"] for client in result.clients]
    released_ns: int = max(ends_ns) - result.wall_ns
    assert released_ns < min(ends_ns)
    return released_ns


@pytest.mark.parametrize("wrong", [{"finished_ns": 1}, {"finished_ns": 10**18}, {"completion_ns": 10**18}])
def test_a_time_outside_the_window_fails_the_cell(scripted: Scripted, wrong: dict[str, int]) -> None:
    result = scripted(clients=(client_says(**wrong),))
    ((key, value),) = wrong.items()
    assert result.status == "failed"
    assert f"sent {value} as {key}; the child contract requires a whole number from " in str(result.reason)


def test_requests_that_took_longer_together_than_the_workers_had_fail_the_cell(scripted: Scripted) -> None:
    slow = latency(*[10**9] * 20)
    result = scripted(clients=(client_says(latency=slow),))
    assert "sent 20000000000 as latency.histogram.total_ns; the child contract requires at most" in str(result.reason)


def test_two_services_at_one_address_fail_the_cell(scripted: Scripted) -> None:
    same = {"ready": True, "addresses": ["/same"], "runtime": {}}
    result = scripted(ready=same, NUM_API_SERVICES=2)
    assert re.fullmatch(
        r"Service 2 of 2 \(3\.14, pid \d+\) listens at /same, as Service 1 of 2 \(3\.14, pid \d+\) does\.",
        str(result.reason),
    )


def test_a_service_that_miscounts_fails_the_cell(scripted: Scripted) -> None:
    reason = "Services say that they answered 19 requests; clients say that they had 20 answers. One of them miscounts."
    result = scripted(service=service_says(requests=19))
    assert (result.status, str(result.reason)) == ("failed", reason)


def test_what_clients_and_services_say_is_added_up(scripted: Scripted) -> None:
    result = scripted(
        service=service_says(requests=30),
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


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"answered": 13}, "7 of 20 requests were not answered"),
        ({"wrong": 2}, "2 answers were wrong"),
        ({"errors": {"reset": 1, "503": 4}}, "errors: 4 x 503, 1 x reset"),
        (
            {"answered": 19, "wrong": 2, "errors": {"closed": 1}},
            "1 of 20 requests was not answered; 2 answers were wrong; errors: 1 x closed",
        ),
    ],
)
def test_answers_that_are_missing_wrong_or_errors_fail_the_cell_and_stay_counted(
    scripted: Scripted, said: dict[str, Any], reason: str
) -> None:
    result = scripted(clients=(client_says(**said),))
    assert (result.status, str(result.reason)) == ("failed", reason)
    assert {name: getattr(result, name) for name in said} == said


def test_more_answers_than_requests_fail_the_cell(scripted: Scripted) -> None:
    result = scripted(clients=(client_says(answered=21), client_says(answered=19)), NUM_CLIENTS=2)
    assert result.status == "failed"
    assert "sent 21 as answered; the child contract requires at most its 20 requests" in str(result.reason)


def test_a_missing_answer_of_one_client_is_not_made_good_by_an_extra_one_of_another(scripted: Scripted) -> None:
    result = scripted(clients=(client_says(answered=19),), NUM_CLIENTS=2)
    assert (result.status, str(result.reason)) == ("failed", "2 of 40 requests were not answered")


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
    assert re.fullmatch(reason, str(result.reason))


def test_the_import_that_turned_the_gil_on_is_named(scripted: Scripted) -> None:
    warning = (
        "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to "
        "load module 'hdrh.codec', which has not declared that it can run safely without the GIL.\n"
    )
    off = client_says(**GIL_OFF)
    result = scripted(service=service_says(), clients=(off,), complaint=warning, runtime_name="3.14t")
    assert str(result.reason).endswith("was on when ready and at the end: it was enabled to load module 'hdrh.codec'")


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
    assert re.fullmatch(reason, str(result.reason))


def test_a_gil_that_is_off_where_it_was_to_be_on_makes_the_cell_invalid(scripted: Scripted) -> None:
    result = scripted(clients=(client_says(**GIL_OFF),), runtime_name="3.14t+gil")
    assert result.status == "invalid"
    assert "was off when ready and at the end" in str(result.reason)


def test_a_cell_with_wrong_answers_is_failed_even_if_its_gil_is_wrong_too(scripted: Scripted) -> None:
    assert scripted(clients=(client_says(wrong=1),), runtime_name="3.14t").status == "failed"


def test_nothing_of_a_cell_is_left_in_the_sandbox(
    scripted: Scripted, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox, "folder", tmp_path)
    scripted()
    assert list(tmp_path.iterdir()) == []


def test_a_service_that_nobody_asked_fails_the_cell_for_another_answers_in_its_place(scripted: Scripted) -> None:
    params = {"NUM_CLIENTS": 2, "NUM_API_SERVICES": 2}
    result = scripted(service=service_says(requests=0), clients=(client_says(),), **params)
    assert result.status == "failed"
    assert re.fullmatch(
        r"Service 1 of 2 \(3\.14, pid \d+\) got none of the 40 requests that were answered: "
        r"another process answers at its address\.",
        str(result.reason),
    )
    uncounted = scripted(service=service_says(requests=0, counted=False), clients=(client_says(),), **params)
    assert uncounted.status == "ok"
