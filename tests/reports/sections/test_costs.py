"""How busy the clients were, with figures that one can divide in one's head."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.gates import saturation
from tests.reports.sample import MS, cell_of, client_of, measured

CELL = cell_of("2", "3.14t", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 500})


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
    """The clients used 60 ms of CPU time within a second."""
    counted = [client_of(cpu_user_ns=20 * MS, cpu_system_ns=10 * MS, **one) for one in clients]
    cell = replace(measured(CELL, 1, [999 * MS]), clients=counted)
    assert saturation(cell, cores) == pytest.approx(share)
