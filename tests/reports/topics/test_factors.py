"""What a ratio is made of: known factors, and what is not known."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.method import Method
from core.result import CellResult, Run
from reports.topics.factors import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 6
BEFORE, AFTER = "3.14t+gil", "3.14t"
SIZE = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 100}


def pair(block: int) -> list[CellResult]:
    """Twice the throughput: 1.6 times the cores in use, and 1 / 1.25 of the CPU time per request."""
    return [
        measured(cell_of("1", BEFORE, SIZE), block, [1999 * MS], cpu_ns=100 * MS),
        measured(cell_of("1", AFTER, SIZE), block, [999 * MS], cpu_ns=80 * MS),
    ]


def two_arms(**changed: Any) -> Run:
    cells = [replace(cell, **changed) for block in range(1, BLOCKS + 1) for cell in pair(block)]
    return run_of(cells, blocks=BLOCKS, runtimes=[BEFORE, AFTER])


def test_factors_of_medians_that_do_not_add_up_multiply_to_the_ratio_all_the_same() -> None:
    run = two_arms()
    run.cells = [replace(cell, wall_ns=cell.wall_ns + 70 * MS * cell.block**2 % 911) for cell in run.cells]
    run.cells += [cell for block in (7, 8) for cell in pair(block)]
    (lock,) = (comparison for comparison in View(run).compared if comparison.step == "lock")
    for factors in (lock.factors, lock.factors["service"], lock.factors["client"]):
        assert factors["cores_used"]["ratio"] * factors["cpu_per_request"]["ratio"] == pytest.approx(lock.ratio)
        assert all(
            factor["low"] <= factor["ratio"] <= factor["high"] for name, factor in factors.items() if "_" in name
        )


def test_without_cpu_time_there_are_no_factors() -> None:
    view = View(two_arms(services=[{"service_id": 0, "requests": 100}]))
    assert view.compared
    assert all(comparison.factors == {} for comparison in view.compared)
    assert not section(view)


BUSY_MS = {
    BEFORE: 1900,
    AFTER: 3520,
}  # user time beside 100 and 80 ms of system time, in 2 s of one core and 1 s of four


def with_states(run: Run, user_ms: Mapping[str, int] = BUSY_MS) -> Run:
    """On four cores, with the state of each service's GIL and its user time."""
    run.machine["cores_usable"] = 4
    run.cells = [replace(cell, services=[service_of(cell.runtime, user_ms[cell.runtime])]) for cell in run.cells]
    return run


def service_of(runtime: str, user_ms: int) -> Any:
    times = {"cpu_user_ns": user_ms * MS, "cpu_system_ns": (100 if runtime == BEFORE else 80) * MS}
    return {"service_id": 0, "requests": 100, "gil_enabled_end": runtime == BEFORE, **times}


def capacity_of(run: Run) -> dict[str, Any]:
    (lock,) = (comparison for comparison in View(run).compared if comparison.step == "lock")
    return lock.capacity


def test_what_services_could_serve_alone_is_estimated_from_their_cpu_time() -> None:
    # 2 and 3.6 s of CPU time for 100 requests: one core under the GIL, four of 25 worker threads without it
    run = with_states(two_arms())
    known = capacity_of(run)
    assert (known["measured"], known["denominator"]["cores"], known["numerator"]["cores"]) == (False, 1, 4)
    assert known["denominator"]["requests_per_s"] == pytest.approx(50)
    assert known["numerator"]["requests_per_s"] == pytest.approx(400 / 3.6)
    assert known["ratio"] == pytest.approx(8 / 3.6)
    sentences = [str(sentence) for sentence in section(View(run)).sentences]
    assert sentences[0].endswith(
        "111 requests/s on 3.14t and 50 requests/s on 3.14t+gil, a ratio of 2.22 [2.22, 2.22]."
    )
    assert sentences[1].startswith(
        "The throughput that services could reach without clients on their cores is an estimate: the number "
    )


def test_with_native_clients_on_cores_of_their_own_it_is_measured() -> None:
    run = with_states(two_arms(client_runtime="native"))
    run.plan["method"] = Method(pin_services=(0, 1), pin_clients=(2, 3)).to_json()
    known = capacity_of(run)
    assert (known["measured"], known["numerator"]["requests_per_s"]) == (True, pytest.approx(100))
    run.plan["method"] |= {"pin_clients": [1, 2]}
    assert not capacity_of(run)["measured"]
