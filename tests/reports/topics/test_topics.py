"""Rows of a run that ended by its --until, checks without facts, the cause in a verdict, and what every topic has."""

from typing import Any

import pytest

from reports import topics
from reports.topics import results, validity
from reports.topics.verdict import headline
from reports.view import View
from tests.reports.facts.timed_cells import compared, steady
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def test_a_run_that_ended_by_its_until_lacks_nothing_of_the_blocks_that_it_did_not_need() -> None:
    cells = [measured(cell_of("1", name, SMALL), 1, [MS]) for name in ("3.11", "3.14t")]
    run = run_of(cells, blocks=10_000, runtimes=["3.11", "3.14t"])
    run.plan["until"] = {"verdict": True, "width": 0.0, "seconds": 180.0}
    assert not results.section(View(run)).sentences
    run.cells.pop()
    assert [str(line) for line in results.section(View(run)).sentences] == [
        "1 planned measurement has not been made. Use --resume to make this measurement."
    ]


@pytest.mark.parametrize("facts", [{"compiler": ""}, {"flags": {}}])
def test_builds_that_nothing_is_known_of_are_not_alike(facts: dict[str, Any]) -> None:
    run = run_of([measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)])
    for one in run.runtimes.values():
        one.update(facts)
    (table,) = validity.section(View(run)).tables
    states = {str(what.words): state.state for what, state, _ in table.lines}
    assert states["Compared builds have no unintended differences"] == "state unknown"


def test_a_sentence_names_the_cause_and_both_arms() -> None:
    (one,) = compared(steady("3.15", 2000) + steady("3.15+jit", 2000), ("3.15", "3.15+jit"))
    said = "System 2, enabling the JIT: 3.15+jit and 3.15 have equivalent throughput: 1.00x [1.00, 1.00]."
    assert str(headline(one)) == said


def test_every_topic_has_what_the_protocol_asks() -> None:
    for one in topics.topics():
        assert isinstance(one.PLACE, int), one
        assert hasattr(one, "WANTED") == hasattr(one, "COMMAND"), one
