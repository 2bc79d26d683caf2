"""Blocks that resemble the ones before them, and blocks that do not."""

import numpy as np

from reports.statistics.dependence import dependence, depends


def p(values: list[float]) -> float | None:
    return dependence(dict(enumerate(values)))


def test_blocks_that_resemble_the_ones_before_them_are_seen() -> None:
    assert depends(p([0.0, 0.01, 0.02, 0.03, 0.3, 0.31, 0.32, 0.33, 0.02, 0.01, 0.0, 0.03]))


def test_independent_blocks_seem_dependent_in_5_percent_of_runs() -> None:
    chance = np.random.default_rng(2)
    seen = sum(depends(p(chance.standard_normal(20).tolist())) for _ in range(200))
    assert 3 <= seen <= 19  # 5 %, give or take three standard errors


def test_blocks_that_are_all_alike_do_not_depend_on_each_other() -> None:
    assert p([0.5] * 10) == 1.0


def test_seven_blocks_are_too_few_to_say() -> None:
    assert p([0.1] * 7) is None
