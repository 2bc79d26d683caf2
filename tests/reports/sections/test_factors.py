"""What a ratio is made of: known factors, and what is not known."""

from dataclasses import replace
from typing import Any

import pytest

from core.languages import ENGLISH
from core.result import CellResult, Run
from reports.sections.factors import factors_of, section
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


def test_the_two_factors_multiply_to_the_ratio_of_throughputs() -> None:
    view = View(two_arms())
    (lock,) = (comparison for comparison in view.compared if comparison.step == "lock" and comparison.params)
    for factors in factors_of(lock, view).values():
        assert factors.cores_used.value == pytest.approx(1.6)
        assert factors.cpu_per_request.value == pytest.approx(1.25)
        assert factors.cores_used.count == BLOCKS


def test_a_step_is_a_sentence_and_a_line_with_both_factors() -> None:
    made = section(View(two_arms()))
    assert "2.00 x = 1.60 x the cores used times 1.25 x less CPU time per request" in str(made.sentences[0])
    (line,) = (line for table in made.tables for group in table.groups for line in group.lines)
    assert [datum.text(ENGLISH) for datum in line[1:]] == ["1.60 [1.60, 1.60]", "1.25 [1.25, 1.25]"] * 3


def test_without_cpu_time_there_are_no_factors() -> None:
    view = View(two_arms(services=[{"service_id": 0, "requests": 100}]))
    assert view.compared
    assert all(factors_of(comparison, view) == {} for comparison in view.compared)
