"""Comparisons of a run: which way a ratio goes, which cells are a pair, and what time is compared."""

from dataclasses import replace

import pytest

from core.method import Method
from core.result import CellResult
from reports.facts.comparisons import compare
from tests.reports.facts.timed_cells import BLOCKS, FEWEST_P, compared, only, steady, timed
from tests.reports.sample import MS, cell_of, measured, run_of
from tests.reports.sweeps import served


def test_a_ratio_above_one_says_that_the_numerator_is_faster() -> None:
    one = only(steady("3.11", 3000) + steady("3.14", 1500))
    assert (one.denominator, one.numerator, one.step) == ("3.11", "3.14", "version")
    assert [one.ratio, one.low, one.high] == pytest.approx([2, 2, 2])
    assert (one.verdict, one.p, one.blocks) == ("faster", FEWEST_P, BLOCKS)


def test_one_starved_client_of_four_makes_the_arm_slower() -> None:
    """The median client takes 2 s in both; the work was done after 2 s and after 4."""
    fair = [measured(cell_of("2", "3.11"), block, [1999 * MS] * 4) for block in range(1, 9)]
    starved = [measured(cell_of("2", "3.14"), block, [1999 * MS] * 3 + [3999 * MS]) for block in range(1, 9)]
    assert only([*fair, *starved]).ratio == pytest.approx(0.5)


def test_cells_are_compared_within_their_block() -> None:
    """Every block takes twice as long as the one before: only pairs know that the ratio is 2."""
    blocks = range(1, 9)
    slow = [timed("3.11", block, 1000 * 2**block) for block in blocks]
    fast = [timed("3.14", block, 500 * 2**block) for block in blocks if block != 1]
    one = only(slow + fast)
    assert [one.ratio, one.high] == pytest.approx([2, 2])
    assert one.blocks == 7


def test_four_runtimes_have_three_steps_and_the_whole_whose_ratio_is_their_product() -> None:
    ms = {"3.11": 4000, "3.14": 2000, "3.14t+gil": 2500, "3.14t": 1000}
    found = compared([cell for arm, one in ms.items() for cell in steady(arm, one)], list(ms))
    assert {one.step: one.ratio for one in found} == {
        "version": pytest.approx(2),
        "build": pytest.approx(0.8),
        "lock": pytest.approx(2.5),
        "whole": pytest.approx(4),
    }


def test_cells_timed_for_a_duration_are_compared_by_their_time_per_request() -> None:
    """All took two seconds; the one that answered three times as many requests is three times as fast."""
    rates = {"3.11": 1000, "3.14": 3000}
    run = run_of(
        [served(arm, block, rate, {}) for arm, rate in rates.items() for block in range(1, 9)], runtimes=[*rates]
    )
    run.plan["method"] = Method(duration_s=2.0).to_json()
    (one,) = compare(run)
    assert one.ratio == pytest.approx(3)


def idle(arm: str, block: int) -> CellResult:
    """A cell without clients: services that were started, waited and were ended."""
    cell = measured(cell_of("2", arm, {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 0}), block, [MS])
    return replace(cell, wall_ns=0, clients=[], latency={})


def test_idle_cells_have_no_figures_in_any_comparison_and_spoil_none() -> None:
    cells = [idle(arm, block) for arm in ("3.11", "3.14") for block in range(1, 9)]
    found = compared([*cells, *steady("3.11", 3000), *steady("3.14", 1500)])
    assert {(one.verdict, round(one.ratio, 6)) for one in found if one.ratio} == {("faster", 2)}
    assert all("no block measured both arms" not in str(one.why) for one in found)
