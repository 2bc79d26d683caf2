"""Rows from cells: figures worked out by hand."""

from dataclasses import replace

from reports.facts.cells import Cells
from reports.facts.measures import loop_words
from tests.reports.facts.timed_cells import timed
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def test_there_is_no_p99_of_fewer_than_a_hundred_requests() -> None:
    row, _ = Cells(run_of([measured(cell_of("1", "3.11", SMALL), 1, [MS], [10] * 99)], blocks=1)).rows
    assert row.figures
    assert row.figures["p99_ns"] is None


def test_requests_that_were_due_and_never_sent_are_named() -> None:
    cell = timed("3.11", 1, 1000, {"RATE": 100})
    (client,) = cell.clients
    late = replace(cell, clients=[{**client, "requests": 100, "overdue": 300}])
    (_, words) = loop_words(Cells(run_of([late], runtimes=["3.11"])).rows)
    assert str(words).startswith("75.0% of the due requests were never sent")
