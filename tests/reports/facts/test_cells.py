"""Rows from cells: figures worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.result import CellResult
from reports.facts.cells import Cells
from reports.facts.figures import Figures
from reports.facts.measures import loop_words
from tests.reports.facts.timed_cells import timed
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def figures_of(blocks: Sequence[CellResult]) -> Figures:
    figures = Cells(run_of(blocks, blocks=len(blocks))).rows[0].figures
    assert figures
    return figures


def test_rates_are_medians_over_blocks_of_requests_by_wall_time() -> None:
    cell = cell_of("1", "3.11", SMALL)
    blocks = [measured(cell, block, [wall_ms * MS - MS]) for block, wall_ms in enumerate((500, 1000, 2000), 1)]
    figures = figures_of(blocks)
    assert figures["wall_ns"] == 1000 * MS
    assert figures["requests_per_s"] == pytest.approx(1000)


def test_percentiles_are_those_of_all_requests_of_all_blocks_together() -> None:
    cell = cell_of("1", "3.11", SMALL)
    blocks = [measured(cell, 1, [MS], [10] * 98), measured(cell, 2, [MS], [200, 201])]
    assert (figures_of(blocks)["p50_ns"], figures_of(blocks)["p99_ns"]) == (10, 200)


def test_there_is_no_p99_of_fewer_than_a_hundred_requests() -> None:
    assert figures_of([measured(cell_of("1", "3.11", SMALL), 1, [MS], [10] * 99)])["p99_ns"] is None


def test_ratio_is_above_one_where_the_row_is_faster_than_the_first_runtime() -> None:
    run = run_of(
        [
            measured(cell_of("1", "3.14t", SMALL), 1, [200 * MS]),
            measured(cell_of("1", "3.11", SMALL), 1, [300 * MS]),
        ],
        blocks=1,
    )
    assert [(row.runtime, row.ratio) for row in Cells(run).rows] == [("3.11", 1.0), ("3.14t", pytest.approx(301 / 201))]


def test_requests_that_were_due_and_never_sent_are_named() -> None:
    cell = timed("3.11", 1, 1000, {"RATE": 100})
    (client,) = cell.clients
    late = replace(cell, clients=[{**client, "requests": 100, "overdue": 300}])
    (_, words) = loop_words(Cells(run_of([late], runtimes=["3.11"])).rows)
    assert str(words).startswith("75.0% of the requests that were due were never sent")
