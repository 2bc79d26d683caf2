"""How wide the widest interval of the comparisons is, and whether all of them are decided."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.result import CellResult, Run
from reports.facts.comparisons import compare, is_decided, widest
from tests.reports.facts.timed_cells import steady
from tests.reports.sample import MS, run_of


def two_arms(ms: float = 2000, other_ms: float = 1000, blocks: int = 8) -> Run:
    cells = steady("3.14t+gil", ms, blocks=blocks) + steady("3.14t", other_ms, blocks=blocks)
    return run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=blocks)


def wobbling(arm: str, ratios: Sequence[float]) -> list[CellResult]:
    return [
        replace(cell, wall_ns=round(2000 * MS * ratio))
        for cell, ratio in zip(steady(arm, 2000, blocks=len(ratios)), ratios, strict=True)
    ]


def test_the_widest_interval_is_a_share_of_its_ratio() -> None:
    cells = steady("3.14t+gil", 4000) + wobbling("3.14t", (1, 1.1, 0.9, 1, 1, 1.05, 0.95, 1))
    run = run_of(cells, runtimes=["3.14t+gil", "3.14t"])
    (one,) = compare(run)
    assert one.ratio is not None
    assert one.low is not None
    assert one.high is not None
    assert widest(run) == pytest.approx((one.high - one.low) / one.ratio)
    assert 0.01 < widest(run) < 0.3


def test_as_long_as_there_is_no_interval_or_too_few_blocks_or_too_short_a_time_for_a_verdict_it_is_infinite() -> None:
    too_short = two_arms(ms=200, other_ms=100, blocks=9)
    assert {widest(run) for run in (two_arms(blocks=2), two_arms(blocks=7), too_short)} == {float("inf")}
    assert not is_decided(too_short)
    assert widest(two_arms(blocks=8)) == pytest.approx(0, abs=1e-9)


def test_neither_a_a_nor_the_mean_nor_what_is_invalid_nor_idle_cells_count() -> None:
    run = two_arms()
    run.cells += wobbling("3.14t again", (0.5, 1, 2, 0.5, 1, 2, 1, 1))
    run.cells += [
        replace(cell, clients=[], wall_ns=0, params={**cell.params, "NUM_CLIENTS": 0}) for cell in run.cells[:16]
    ]
    assert widest(run) == pytest.approx(0, abs=1e-9)
