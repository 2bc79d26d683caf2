"""Rows of a run that ended by its --until, checks without facts, latencies of blocks, and the times of the seed."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from core.runtime import Flags
from reports.document import Table
from reports.parts import answer
from reports.sections import results, seed, validity
from reports.view import View
from tests.analysis.timed_cells import steady
from tests.reports.contestants import lines_of
from tests.reports.sample import MS, SMALL, TITLES, cell_of, measured, run_of, set_plan


def test_a_run_that_ended_by_its_until_lacks_nothing_of_the_blocks_that_it_did_not_need() -> None:
    cells = [measured(cell_of("1", name, SMALL), 1, [MS]) for name in ("3.11", "3.14t")]
    run = run_of(cells, blocks=10_000)
    set_plan(run, until={"verdict": True, "seconds": 180.0})
    assert not results.section(View(run)).sentences
    run.cells.pop()
    assert [str(line) for line in results.section(View(run)).sentences] == [
        "1 planned measurement has not been made. Use --resume to make this measurement."
    ]


@pytest.mark.parametrize("facts", [{"compiler": ""}, {"flags": Flags()}])
def test_builds_that_nothing_is_known_of_are_not_alike(facts: dict[str, Any]) -> None:
    run = run_of(steady("3.11", 2000) + steady("3.14t", 2000))
    run.runtimes = {name: replace(one, **facts) for name, one in run.runtimes.items()}
    (table,) = validity.section(View(run)).tables
    states = {str(what.words): state.state for what, state, _ in table.lines}
    assert states["Compared builds have no unintended differences"] == "state unknown"


def answered(view: View) -> str:
    """The text of the notes in the last table of the answer."""
    *_, notes = answer.answer(view)
    assert isinstance(notes, Table)
    return " ".join(chain(*lines_of(notes)))


def timed_run(usual_ns: Mapping[str, int], requests: int) -> View:
    """Twelve blocks of each arm with so many requests, which take longer from block to block."""
    cells = [
        measured(cell_of("2", arm, SMALL), block, [1999 * MS], [ns + 8 * block] * requests)
        for arm, ns in usual_ns.items()
        for block in range(1, 13)
    ]
    return View(run_of(cells, blocks=12))


def test_the_latencies_that_are_printed_are_those_of_the_table_and_have_their_verdict() -> None:
    """p50 is the median of the blocks; p99 needs more than 40 requests in a block and all together."""
    assert "p50 300 → 200 us (faster)." in answered(timed_run({"3.11": 300_000, "3.14": 200_000}, 40))


def test_a_percentile_of_all_blocks_together_is_marked() -> None:
    """900 requests a block are too few for its p99; of all 10,800 there is one."""
    view = timed_run({"3.11": MS, "3.14": MS}, 900)
    assert "1,000*" in lines_of(results.table(view))[0]
    assert ["*" in " ".join(map(str, results.section(one).notes)) for one in (view, timed_run({"3.11": MS}, 40))] == [
        True, False,
    ]  # fmt: skip
    said = "p50 1,000 → 1,000 us (equivalent), p99 1,000 → 1,000 us (p99 pooled over the blocks)."
    assert said in answered(view)


def test_at_a_fixed_rate_the_table_says_the_rate_of_all_clients_and_no_ratio() -> None:
    """The table said that more requests/s are better, and that their ratio is 1.00."""
    cells = [
        measured(cell_of("2", arm, {**SMALL, "NUM_CLIENTS": 2, "RATE": 40}), 1, [1999 * MS] * 2)
        for arm in ("3.11", "3.14")
    ]
    view = View(run_of(cells))
    planned = "They follow the planned rate, which is the number of clients x the rate of each: 2 x 40."
    for is_brief in (False, True):
        table = results.table(view, is_brief=is_brief)
        assert planned in str(table.caption)
        assert "More is better" not in str(table.caption)
        assert "Ratio" not in {str(column.head) for column in table.columns}
    assert not any("Ratio: " in str(note) for note in results.section(view).notes)


def test_of_several_cells_that_fit_the_one_nearest_to_the_seed_is_shown() -> None:
    cells = [measured(cell_of("3", "3.11", {"CALC_TARGET": target}), 1, [target * MS]) for target in (10, 1000, 5000)]
    times, _ = seed.section(View(run_of(cells, blocks=1, runtimes=["3.11"]), TITLES)).parts
    assert lines_of(times.tables[0])[0][:2] == ["Tornado", "1.000 (1.000)"]
