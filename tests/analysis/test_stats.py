"""Effects and intervals against figures of textbooks and tables, and properties that must hold."""

from math import hypot, inf, log

import numpy as np
import pytest
from scipy import stats as scipy_stats

from analysis.stats import (
    difference,
    effect,
    log_ratios,
    logs,
    mean_effect,
    share,
    totals,
    unpaired_effect,
    unpaired_total,
)
from tests.tables import each_row


@each_row
def test_up_to_five_blocks_have_a_median_and_from_three_on_a_range(line: str) -> None:
    values, seen = ([*map(float, words.split())] for words in line.split("->"))
    found = effect(values)
    assert [found.value, found.low, found.high] == pytest.approx(seen)
    assert found.is_range


def test_the_median_hides_one_slow_process_in_five_and_the_ratio_of_totals_does_not() -> None:
    """Four of five take as long, one twice as long: the total is 1.2 times as much."""
    before = dict.fromkeys(range(20), 100.0)
    after = {block: 200.0 if block % 5 == 0 else 100.0 for block in range(20)}
    assert effect([*log_ratios(before, after).values()]).value == 0
    total = mean_effect([*totals(before, after).values()])
    assert total.value == pytest.approx(-log(1.2))
    error = scipy_stats.tstd([*after.values()]) / 120 / 20**0.5
    assert total.half_width == pytest.approx(scipy_stats.t.ppf(0.975, 19) * error)
    unpaired = unpaired_total([*before.values()], [*after.values()])
    assert (unpaired.value, unpaired.half_width) == pytest.approx((total.value, total.half_width))


DEPRESSION = """
1.83 0.50 1.62 2.48 1.68 1.88 1.55 3.06 1.30
0.878 0.647 0.598 2.05 1.06 1.29 1.06 3.14 1.29
"""


def test_an_effect_and_its_interval_are_those_of_the_textbook() -> None:
    """Hollander and Wolfe (1973), page 39: the depression factor of nine patients before and after."""
    before, after = np.array(DEPRESSION.split(), dtype=float).reshape(2, 9)
    seen = effect(before - after)
    assert (seen.value, seen.low, seen.high) == pytest.approx((0.46, 0.01, 0.786))


@each_row
def test_an_interval_ends_where_wilcoxons_table_says(known: str) -> None:
    """Powers of 2 tell the means apart."""
    count, critical = map(int, known.split())
    values = [2.0**place for place in range(count)]
    means = sorted((one + other) / 2 for place, one in enumerate(values) for other in values[place:])
    assert (effect(values).low, effect(values).high) == (means[critical], means[-1 - critical])


def test_unpaired_interval_adds_the_two_intervals_like_the_sides_of_a_right_angle() -> None:
    """Two runs with the same spread: each side is sqrt(2) times that of one (Zou and Donner 2008)."""
    base = [1_000_000 + 100 * number for number in range(7)]
    seen, single = unpaired_effect([2 * time_ns for time_ns in base], base), effect(logs(base))
    side = hypot(single.value - single.low, single.high - single.value)
    assert (seen.value, seen.low, seen.high) == pytest.approx((log(2), log(2) - side, log(2) + side), rel=1e-6)


def test_a_share_is_of_all_samples_and_its_interval_is_that_of_a_ratio_by_hand() -> None:
    """Counts 0 and 4 of 10, four times each: 20 %; residuals are 2, so s2 = 8 * 4 * 8/7 / 80**2, t(7) = 2.3646."""
    estimate = share([0, 4] * 4, [10] * 8)
    assert estimate.value == pytest.approx(0.2)
    assert estimate.high - estimate.value == pytest.approx(2.3646 * (8 * 4 * 8 / 7 / 6400) ** 0.5, rel=1e-4)
    assert share([0, 4] * 4, [10] * 8, tests=40).high > estimate.high, "it is wider if it is one of many"


def test_from_few_batches_there_is_no_interval() -> None:
    assert share([], []).high == share([1, 1], [2, 2]).high == share([0] * 9, [0] * 9).high == inf


def test_a_difference_of_two_alike_is_rarely_shown() -> None:
    """500 pairs of arms with the same share, 20 batches each: one in 40 is above 0."""
    pairs = np.random.default_rng(7).binomial(50, 0.1, (500, 2, 20)).tolist()
    shown = sum(difference(one, [50] * 20, other, [50] * 20).low > 0 for one, other in pairs)
    assert 3 <= shown <= 25
