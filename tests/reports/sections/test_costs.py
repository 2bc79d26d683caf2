"""Where the time of a request goes, with figures that one can divide in one's head."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from analysis.gates import saturation
from record.child_lines import ServiceResult
from record.saved_run import CellResult
from reports.sections.costs import MORE, TIMES
from tests.reports.sample import MS, cell_of, client_of, measured

CELL = cell_of("2", "3.14t", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 500})
USAGE: dict[str, Any] = {"cpu_user_ns": 20 * MS, "cpu_system_ns": 10 * MS}


def result(*clients: Mapping[str, Any]) -> CellResult:
    """1000 requests of two clients to one service within a second."""
    service = ServiceResult(service_id=0, requests=1000, **USAGE)
    counted = [client_of(**USAGE, **one) for one in clients]
    return replace(measured(CELL, 1, [999 * MS]), services=[service], clients=counted)


def test_what_a_cell_does_not_say_is_unknown_and_not_zero() -> None:
    cell = result(*[{"run_queue_ns": 5 * MS}] * 2)
    costs = {cost.metric: cost.of([cell]) for cost in (*TIMES, *MORE)}
    assert [costs[key] for key in ("calc_ns", "waiting_mean_ns", "service_run_queue_ns")] == [None] * 3
    assert (costs["service_cpu_user_ns"], costs["client_run_queue_ns"]) == (20.0, 10.0)


# ---- saturation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clients", "cores", "share"),
    [
        ([{}, {}], 8, 0.03),  # under a GIL they could use a core each
        ([{"gil_enabled_end": False}] * 2, 4, 0.015),  # without it all
        ([{}, {}], 1, 0.06),
    ],
)
def test_saturation_is_cpu_time_over_that_of_the_cores_the_clients_could_use(
    clients: list[dict[str, Any]], cores: int, share: float
) -> None:
    cell = result(*clients)
    assert saturation(cell, cores) == pytest.approx(share)
