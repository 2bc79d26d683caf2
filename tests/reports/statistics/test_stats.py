"""Effects and intervals against figures of textbooks and tables, and properties that must hold."""

from collections.abc import Callable
from math import inf, log, nan

import numpy as np
import pytest
from scipy import stats as scipy_stats

from reports.statistics.stats import (
    Estimate,
    effect,
    log_ratios,
    logs,
    mean_effect,
    mean_over_cells,
    totals,
    unpaired_effect,
    unpaired_total,
)


def test_log_ratio_is_above_0_where_the_numerator_is_faster_in_the_blocks_that_both_have() -> None:
    assert log_ratios({0: 3_000, 1: 1_000, 2: 1}, {0: 1_000, 1: 2_000, 3: 1}) == {0: log(3), 1: -log(2)}


@pytest.mark.parametrize(
    "refused",
    [
        lambda: log_ratios({0: 0}, {0: 1}),
        lambda: log_ratios({0: -5}, {0: 1}),
        lambda: logs([1, 0]),
        lambda: effect([]),
        lambda: Estimate(value=1.0, low=2.0, high=3.0, count=5),
        lambda: Estimate(value=1.0, low=-1.0, high=0.0, count=5),
        lambda: Estimate(value=1.0, low=nan, high=2.0, count=5),
    ],
)
def test_times_of_nothing_no_values_and_an_estimate_outside_its_interval_are_refused(
    refused: Callable[[], object],
) -> None:
    with pytest.raises(ValueError, match=r"took|above 0|at least one|does not hold its value"):
        refused()


def test_mean_over_cells_is_the_log_of_the_geometric_mean_in_blocks_that_every_cell_has() -> None:
    cells = [{0: log(2), 1: log(3), 2: 1.0}, {0: log(8), 1: log(12), 3: 1.0}]
    assert mean_over_cells(cells) == pytest.approx({0: log(4), 1: log(6)})
    assert mean_over_cells([]) == {}


def test_three_to_five_values_have_a_range_and_no_interval() -> None:
    for values in ([0.2, -0.1, 0.0], [16.0, 1.0, 2.0, 8.0, 4.0]):
        seen = effect(values)
        assert (seen.low, seen.high, seen.is_range) == (min(values), max(values), True)
    assert not effect([1.0] * 6).is_range


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


def test_an_effect_and_its_interval_are_those_of_the_textbook() -> None:
    """Hollander and Wolfe (1973), page 39: the depression factor of nine patients before and after."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    seen = effect([one - other for one, other in zip(before, after, strict=True)])
    assert (seen.value, seen.low, seen.high) == pytest.approx((0.46, 0.01, 0.786))


@pytest.mark.parametrize(("count", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52), (25, 89)])
def test_an_interval_ends_where_wilcoxons_table_says(count: int, critical: int) -> None:
    """Critical values of the two-sided signed-rank test at 5 %, Wilcoxon (1947); powers of 2 tell the means apart."""
    values = [2.0**place for place in range(count)]
    means = sorted((one + other) / 2 for place, one in enumerate(values) for other in values[place:])
    assert (effect(values).low, effect(values).high) == (means[critical], means[-1 - critical])


@pytest.mark.parametrize("values", [[0.1], [0.1, 0.3]])
def test_fewer_than_three_blocks_have_an_effect_but_no_interval(values: list[float]) -> None:
    seen = effect(values)
    assert seen.value == pytest.approx(sum(values) / len(values))
    assert (seen.low, seen.high) == (-inf, inf)


def test_unpaired_interval_adds_the_two_intervals_like_the_sides_of_a_right_angle() -> None:
    """Two runs with the same spread: each side is sqrt(2) times that of one (Zou and Donner 2008)."""
    base = [1_000_000 + 100 * number for number in range(7)]
    seen, single = unpaired_effect([2 * time_ns for time_ns in base], base), effect(logs(base))
    reach = float(np.hypot(single.value - single.low, single.high - single.value))
    assert (seen.value, seen.low, seen.high) == pytest.approx((log(2), log(2) - reach, log(2) + reach), rel=1e-6)


def test_unpaired_runs_need_not_have_as_many_blocks() -> None:
    assert unpaired_effect([5] * 8, [5] * 6).count == 6
    assert unpaired_effect([5] * 8, [5] * 5).high == inf
