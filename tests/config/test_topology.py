"""`topology: cores` in a plan: from one process a core to one process with a thread a core."""

from pathlib import Path

import pytest

from config import load
from config.load import core_topologies, load_plan


def test_services_are_halved_from_one_a_core_to_one_and_25_workers_come_last() -> None:
    assert core_topologies(1) == [(1, 1), (1, 25)]
    assert core_topologies(6) == [(6, 1), (3, 2), (1, 6), (1, 25)]
    assert core_topologies(25) == [(25, 1), (12, 2), (6, 4), (3, 8), (1, 25)]


# Cores, what else the row says, what the plan says, and services x workers x clients of each cell.
ROWS = """\
4 | | -> 4x1x8 2x2x8 1x4x8 1x25x8
1 | | -> 1x1x4 1x25x4
1 | , NUM_CLIENTS: 3, CALC_TARGET: [0, 10] | -> 1x1x3 1x1x3 1x25x3 1x25x3
1 | | parameters: {NUM_CLIENTS: 3} -> 1x1x3 1x25x3"""


@pytest.mark.parametrize("line", ROWS.splitlines())
def test_a_row_with_a_topology_is_a_row_for_each_with_two_clients_a_core_but_at_least_four_unless_it_says(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, _, shapes = line.partition(" -> ")
    cores, row, head = given.split("|")
    monkeypatch.setattr(load, "cores_usable", lambda: int(cores))
    path = tmp_path / "mine.yaml"
    path.write_text(f"runtimes: ['3.14t']\n{head.strip()}\nrows:\n  - {{system: 2, topology: cores{row}}}\n")
    cells = load_plan(path).cells()
    found = [f"{one.num_api_services}x{one.num_workers_per_api_service}x{one.num_clients}" for one in cells]
    assert " ".join(found) == shapes
