"""The guess before a run: worked out by hand from its own constants, and growing with what there is to do."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from commands.plan import cell_seconds, plan_seconds
from config.plan import Plan, Row
from core.cell import Cell
from systems import find

SMALL = {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 1000, "CALC_TARGET": 1000}


def cell(system: str = "1", more: Mapping[str, int] = SMALL) -> Cell:
    return Cell.build(system=system, runtime="3.14t", reads=find(system).parameters, values={**SMALL, **more})


def seconds(measured: Cell, cores: int) -> float:
    return cell_seconds(measured, find(measured.system), cores)


def test_a_cells_time_is_its_cpu_time_over_the_cores_and_the_start_of_its_processes() -> None:
    # 4000 requests of 110 us + 1000 turns of 0.025 us, on 2 cores; 0.4 s, and 4 processes of 0.03 s on 2 cores
    assert seconds(cell(), 2) == pytest.approx(4000 * 135e-6 / 2 + 0.4 + 4 * 0.03 / 2)


def test_no_more_cores_count_than_there_are_processes() -> None:
    requests_s = 4000 * 135e-6 / 4
    assert seconds(cell(), 64) == pytest.approx(requests_s + 0.4 + 4 * 0.03 / 64)


def test_a_plan_takes_the_time_of_all_cells_in_all_blocks() -> None:
    rows = tuple(Row(system=find(key), values={name: (one,) for name, one in SMALL.items()}) for key in ("1", "3"))
    plan = Plan(name="p", rows=rows, runtimes=("3.11", "3.14t"), blocks=1)
    both = 2 * (seconds(cell("1"), 2) + seconds(cell("3"), 2))
    assert plan_seconds(plan, 2) == pytest.approx(both)
    assert plan_seconds(replace(plan, blocks=5), 2) == pytest.approx(5 * both)
