"""Shares from batches: by hand, and against what the interval promises."""

import random

import pytest

from reports.statistics.shares import difference, share


def test_a_share_is_of_all_samples_and_its_interval_is_that_of_a_ratio_by_hand() -> None:
    """Counts 0 and 4 of 10, four times each: 20 %; residuals are 2, so s2 = 8 * 4 * 8/7 / 80**2, t(7) = 2.3646."""
    estimate = share([0, 4] * 4, [10] * 8)
    assert estimate.value == pytest.approx(0.2)
    assert estimate.high - estimate.value == pytest.approx(2.3646 * (8 * 4 * 8 / 7 / 6400) ** 0.5, rel=1e-4)


def test_of_more_lines_together_the_interval_is_wider() -> None:
    assert share([0, 4] * 4, [10] * 8, tests=40).high > share([0, 4] * 4, [10] * 8).high


@pytest.mark.parametrize(("counts", "totals"), [([], []), ([1, 1], [2, 2]), ([0] * 9, [0] * 9)])
def test_from_few_batches_there_is_no_interval(counts: list[int], totals: list[int]) -> None:
    assert share(counts, totals).high == float("inf")


def test_a_difference_of_two_alike_is_rarely_shown() -> None:
    """500 pairs of arms with the same share, 20 batches each: one in 40 is above 0."""
    generator = random.Random(7)

    def counts() -> list[int]:
        return [sum(generator.random() < 0.1 for _ in range(50)) for _ in range(20)]

    shown = sum(difference(counts(), [50] * 20, counts(), [50] * 20).low > 0 for _ in range(500))
    assert 3 <= shown <= 25
