"""What is said of latency, where clients wait for answers and where they send at a rate."""

from dataclasses import replace

from reports.rows.loops import CLOSED, OPEN, loop_words
from reports.rows.summary import rows
from tests.reports.rows.timed_cells import only, timed
from tests.reports.sample import run_of


def test_a_closed_loop_says_so_and_an_open_one_what_its_latency_is() -> None:
    closed, opened = timed("3.11", 1, 1000), timed("3.11", 1, 1000, {"RATE": 100})
    assert loop_words(rows(run_of([closed], runtimes=["3.11"]))) == [CLOSED]
    assert loop_words(rows(run_of([opened], runtimes=["3.11"]))) == [OPEN]
    assert loop_words(rows(run_of([closed, opened], runtimes=["3.11"]))) == [CLOSED, OPEN]


def test_requests_that_were_due_and_never_sent_are_named() -> None:
    cell = timed("3.11", 1, 1000, {"RATE": 100})
    (client,) = cell.clients
    late = replace(cell, clients=[{**client, "requests": 100, "overdue": 300}])
    (_, words) = loop_words(rows(run_of([late], runtimes=["3.11"])))
    assert str(words).startswith("75.0% of the requests that were due were never sent")


def test_a_comparison_at_a_rate_says_what_its_throughput_is_worth() -> None:
    cells = [timed(arm, block, 1000, {"RATE": 100}) for arm in ("3.11", "3.14") for block in range(1, 9)]
    assert any("compare latency" in str(note) for note in only(cells).notes)
