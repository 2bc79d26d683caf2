"""`topology: cores` in a plan: from one process a core to one process with a thread a core."""

from pathlib import Path

import pytest

from config import load
from config.load import core_topologies, load_plan
from config.plan import Plan
from core.errors import BadInput


def loaded(tmp_path: Path, row: str, head: str = "") -> Plan:
    path = tmp_path / "mine.yaml"
    path.write_text(f"runtimes: ['3.14t']\n{head}\nrows:\n  - {{{row}}}\n", encoding="utf-8")
    return load_plan(path)


def shapes(plan: Plan) -> list[tuple[int, int, int]]:
    """Services, workers and clients of each cell."""
    return [(one.num_api_services, one.num_workers_per_api_service, one.num_clients) for one in plan.cells()]


def test_services_are_halved_from_one_a_core_to_one_and_25_workers_come_last() -> None:
    assert core_topologies(1) == [(1, 1), (1, 25)]
    assert core_topologies(6) == [(6, 1), (3, 2), (1, 6), (1, 25)]
    assert core_topologies(25) == [(25, 1), (12, 2), (6, 4), (3, 8), (1, 25)]


@pytest.mark.parametrize(
    ("cores", "row", "head", "expected"),
    [
        (4, "", "", [(4, 1, 8), (2, 2, 8), (1, 4, 8), (1, 25, 8)]),
        (1, "", "", [(1, 1, 4), (1, 25, 4)]),
        (1, ", NUM_CLIENTS: 3, CALC_TARGET: [0, 10]", "", [(1, 1, 3), (1, 1, 3), (1, 25, 3), (1, 25, 3)]),
        (1, "", "parameters: {NUM_CLIENTS: 3}", [(1, 1, 3), (1, 25, 3)]),
    ],
)
def test_a_row_with_a_topology_is_a_row_for_each_with_two_clients_a_core_but_at_least_four_unless_it_says(
    cores: int,
    row: str,
    head: str,
    expected: list[tuple[int, int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(load, "cores_usable", lambda: cores)
    assert shapes(loaded(tmp_path, f"system: 2, topology: cores{row}", head)) == expected


REFUSED = {
    "system: 2, topology: threads": "topology is threads; it must be cores",
    "system: 2, topology: cores, NUM_API_SERVICES: 3": "the key topology, which already sets NUM_API_SERVICES",
    "system: 2, topology: cores, NUM_WORKERS_PER_API_SERVICE: 3": "which already sets NUM_WORKERS_PER_API_SERVICE",
    "system: 3, topology: cores": "System 3 does not use NUM_WORKERS_PER_API_SERVICE",
}


@pytest.mark.parametrize(("row", "said"), REFUSED.items())
def test_a_topology_that_cannot_be_is_refused(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        loaded(tmp_path, row)
