"""What a ratio is made of: known factors, and what is not known."""

from dataclasses import replace
from math import prod
from typing import Any

import pytest

from record.child_lines import ServiceResult
from record.saved_run import Run
from reports.sections.factors import FACTORS, section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 6
BEFORE, AFTER = "3.14t+gil", "3.14t"
SIZE = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 100}


def two_arms(**changed: Any) -> Run:
    """Twice the throughput: 1.6 times the cores in use, and 1 / 1.25 of the CPU time per request."""
    cells = []
    for block in range(1, BLOCKS + 1):
        cells.append(measured(cell_of("1", BEFORE, SIZE), block, [1999 * MS], cpu_ns=100 * MS))
        cells.append(measured(cell_of("1", AFTER, SIZE), block, [999 * MS], cpu_ns=80 * MS))
    return run_of([replace(cell, **changed) for cell in cells], blocks=BLOCKS)


def test_factors_of_medians_that_do_not_add_up_multiply_to_the_ratio_all_the_same() -> None:
    run = two_arms()
    run.cells = [replace(cell, wall_ns=cell.wall_ns + 70 * MS * cell.block**2 % 911) for cell in run.cells]
    (lock,) = (comparison for comparison in View(run).compared if comparison.step == "lock")
    for factors in (lock.factors, lock.factors["service"], lock.factors["client"]):
        ratios = [factors[name].ratio or 0.0 for name in FACTORS]
        assert prod(ratios) == pytest.approx(lock.ratio)


def test_without_cpu_time_there_are_no_factors() -> None:
    view = View(two_arms(services=[ServiceResult(service_id=0, requests=100)]))
    assert view.compared
    assert all(comparison.factors == {} for comparison in view.compared)
    assert not section(view)
