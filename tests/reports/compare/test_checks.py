"""What --fail-if-slower says of each cell: slower, passed, or that nothing could be said."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np

from core.request_plan import Request
from record.saved_run import CellResult
from reports.compare import members, obstacles
from reports.compare.compared_runs import sentence
from reports.view import View
from tests.reports.compare.test_runs import BEFORE_MS, compared, run
from tests.reports.compare.test_runs import cells as that_took
from tests.reports.sample import SMALL, cell_of, faulty, with_load, with_service
from tests.tables import each_row

CELL = cell_of("1", "3.14t", SMALL)


def cells(factor: float = 1.0, blocks: int = 10, spread: float = 1.0, bad: str = "") -> list[CellResult]:
    """One cell whose client took *factor* times as long as before; *spread* widens the differences.

    bad: the status of one more block
    """
    measured = that_took([factor * (2000 + spread * (time_ms - 2000)) for time_ms in BEFORE_MS[:blocks]])
    return [*measured, faulty(CELL, blocks + 1, bad, "why")] if bad else measured  # type: ignore[arg-type]


@each_row
def test_a_cell_is_slower_passes_or_is_open(line: str) -> None:
    runs, outcome, says = re.fullmatch("(.*) -> ([a-z]+): (.*)", line).groups()  # type: ignore[union-attr]
    a, b = (run(cells(**json.loads(values))) for values in runs.split(" | "))
    (one,) = compared(a, b, share=0.05).cells
    assert (str(one.name), one.outcome) == ("System 1 (3.14t)", outcome)
    assert says in str(sentence(one))


def test_a_cell_that_was_timed_too_briefly_has_neither_verdict_nor_ratio() -> None:
    """As docs/evidence.md says, unlike a comparison within a run."""
    (one,) = compared(run(cells()), run(cells(factor=0.09))).cells
    assert (one.comparison.verdict, one.comparison.ratio, one.comparison.low) == ("invalid", None, None)


def noisy(factor: float, seed: int) -> list[CellResult]:
    return that_took(2000 * factor * np.exp(np.random.default_rng(seed).normal(0, 0.15, 10)))


def test_a_run_that_is_15_percent_slower_rarely_passes_however_noisy_it_is() -> None:
    """It passed in 81 % of pairs of runs, because an inconclusive verdict passed."""
    found = [compared(run(noisy(1, seed)), run(noisy(1.15, 100 + seed)), share=0.05).cells[0] for seed in range(20)]
    assert sum(one.comparison.verdict == "inconclusive" for one in found) >= 10
    passed = [one.comparison.verdict for one in found if one.outcome == "passed"]
    assert passed == ["slower"] * 4  # but not by more than 5 % for certain


@each_row
def test_other_processes_during_one_run_do_not_make_it_slower(shares: tuple[float, float], outcome: str) -> None:
    before, after = shares
    a = [with_load(cell, before) for cell in cells()]
    b = [with_load(cell, after) for cell in cells(1.15)]
    (one,) = compared(run(a), run(b), share=0.05).cells
    assert one.outcome == outcome
    assert ("other processes used" in str(sentence(one))) == (outcome == "open")


@each_row
def test_runs_with_other_requests_are_not_compared(changed: dict[str, Any], is_refused: bool) -> None:
    first = Request(path="/items", body_file="/here/photo.bin")
    views = [View(with_service(run(cells()), request)) for request in (first, replace(first, **changed))]
    found = obstacles(members(views, "AB"))
    assert [str(one).partition(":")[0] for one in found] == ["the requests"] * is_refused
