"""What is said of latency, where clients wait for answers and where they send at a rate."""

from dataclasses import replace

from reports.facts.cells import rows
from reports.facts.loops import loop_words
from tests.reports.facts.timed_cells import timed
from tests.reports.sample import run_of


def test_requests_that_were_due_and_never_sent_are_named() -> None:
    cell = timed("3.11", 1, 1000, {"RATE": 100})
    (client,) = cell.clients
    late = replace(cell, clients=[{**client, "requests": 100, "overdue": 300}])
    (_, words) = loop_words(rows(run_of([late], runtimes=["3.11"])))
    assert str(words).startswith("75.0% of the requests that were due were never sent")
