"""Blocks that depend on each other in one way, and blocks that do not."""

import numpy as np

from reports.statistics.dependence import dependence, depends


def by_block(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def ways(values: list[float], last: list[bool]) -> list[str]:
    return [str(way) for way in depends(dependence(by_block(values), dict(enumerate(last))))]


def test_blocks_that_resemble_the_ones_before_them_are_seen() -> None:
    halves = [0.0, 0.01, 0.02, 0.03, 0.3, 0.31, 0.32, 0.33, 0.02, 0.01, 0.0, 0.03]
    assert ways(halves, [True, False] * 6) == ["blocks resemble the ones before them"]


def test_a_drift_of_the_ratio_is_seen() -> None:
    rising = [0.0, 0.02, 0.01, 0.03, 0.05, 0.04, 0.06, 0.08, 0.07, 0.09]
    assert "the ratio drifts from the first block to the last" in ways(rising, [True, False] * 5)


def test_what_the_order_within_a_block_does_is_seen() -> None:
    """Six and six blocks: 2 of the 924 ways to choose six are as far apart."""
    chance = np.random.default_rng(1)
    values = [0.1 * (block % 2) + float(chance.uniform(0, 0.05)) for block in range(12)]
    assert ways(values, [True, False] * 6) == ["the ratio depends on which arm ran first"]


def test_independent_blocks_seem_dependent_in_7_percent_of_runs() -> None:
    chance = np.random.default_rng(2)
    last = [True, False] * 10
    seen = sum(bool(ways(chance.standard_normal(20).tolist(), last)) for _ in range(200))
    assert 4 <= seen <= 26


def test_blocks_that_are_all_alike_do_not_depend_on_each_other() -> None:
    assert set(dependence(by_block([0.5] * 10), {}).values()) == {1.0}


def test_seven_blocks_are_too_few_to_say() -> None:
    assert dependence(by_block([0.1] * 7), {}) == {}
