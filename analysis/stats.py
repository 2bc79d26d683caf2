"""Estimates of effects and shares, with 95 % intervals.

A log-ratio is ln(time of the denominator / time of the numerator): above 0, the numerator is
faster. Methods, sources and limits are in docs/statistics.md. benchmarks/method_simulated.py
simulates the methods' error rates.

The functions are pure and know nothing of a run. Their values are of blocks (repetitions), or of
batches of samples. Verdicts (analysis/judging.py) and sections of reports/ use them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log
from operator import itemgetter
from statistics import fmean
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
# values with which minimum and maximum are given, values with which there is an interval, and
# batches with which the share of samples has an interval
FEWEST_FOR_RANGE, FEWEST_FOR_INTERVAL, FEWEST_BATCHES = 3, 6, 8


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its 95 % interval.

    count: the number of blocks or points from which it was estimated

    low, high: the ends of the interval; minimum and maximum for 3 to 5 blocks; infinite for fewer
        blocks
    """

    value: float
    low: float
    high: float
    count: int

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"the interval {self.low} to {self.high} does not hold its value {self.value}"
            )

    @property
    def is_range(self) -> bool:
        """Whether *low* and *high* are minimum and maximum, because there are too few values for an
        interval.
        """
        return self.count < FEWEST_FOR_INTERVAL

    @property
    def ratio(self) -> "Estimate":
        """The estimate of a log-ratio, converted to a ratio."""
        return Estimate(
            value=exp(self.value), low=exp(self.low), high=exp(self.high), count=self.count
        )

    @property
    def half_width(self) -> float:
        """Half the width of the interval, in the unit of the value."""
        return (self.high - self.low) / 2


def floats(values: Sequence[float] | Floats) -> Floats:
    """Return *values* as an array."""
    return np.asarray(values, dtype=np.float64)


def log_ratios(
    denominator_ns: Mapping[int, float], numerator_ns: Mapping[int, float]
) -> dict[int, float]:
    """Return ln(denominator's time / numerator's time) by block, for the blocks that both arms
    have.

    denominator_ns, numerator_ns: block -> time in ns, above 0
    """
    both = sorted(denominator_ns.keys() & numerator_ns.keys())
    return {block: log(denominator_ns[block] / numerator_ns[block]) for block in both}


def mean_over_cells(cells: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Return the mean log-ratio of all settings for each block: the log of the geometric mean of
    their ratios.

    cells: one mapping block -> log-ratio for each setting
    The result is one log-ratio per block. effect() and sign_flip_p() take it like that of a single
    setting.
    """
    every = list(cells)
    common = sorted(set.intersection(*map(set, every))) if every else []
    return {block: fmean(map(itemgetter(block), every)) for block in common}


def effect(per_block: Sequence[float] | Floats) -> Estimate:
    """Return the typical log-ratio with its 95 % interval (Hodges-Lehmann estimate).

    per_block: log-ratios, shape (blocks,); raises ValueError if there is none
    The estimate is the median of the means of all pairs, including each value with itself. The
    interval holds the values that Wilcoxon's signed-rank test does not reject; it is exact if
    values are distributed symmetrically. Fewer than 6 blocks give the median, and 3 to 5 blocks
    minimum and maximum.
    Source: Hodges and Lehmann (1963); Tukey (1949) for the interval;
    docs/statistics.md.
    """
    values = np.sort(floats(per_block))
    count, left_out = values.size, 0
    if count >= FEWEST_FOR_INTERVAL:
        first, second = np.triu_indices(count)
        values, left_out = np.sort((values[first] + values[second]) / 2), _left_out(count)
    low, high = (
        (values[left_out], values[-1 - left_out]) if count >= FEWEST_FOR_RANGE else (-inf, inf)
    )
    return Estimate(value=float(np.median(values)), low=float(low), high=float(high), count=count)


@cache
def _left_out(values: int) -> int:
    """Return how many means of two values lie below the interval of effect(); as many lie above it.

    This number is a quantile of the statistic of Wilcoxon's signed-rank test for as many *values*.
    """
    shares = np.ones(1)  # share of all patterns of signs, by the sum of the positive ranks
    for rank in range(1, values + 1):
        shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
    return int(np.searchsorted(shares.cumsum(), (1 - CONFIDENCE) / 2, side="right")) - 1


def paired_ratio(
    denominator: Mapping[int, float], numerator: Mapping[int, float]
) -> Estimate | None:
    """Return the typical ratio of two arms, with its interval; None if no block
    measured both arms.

    denominator, numerator: block -> time per request; above 1, the numerator is faster
    """
    per_block = [*log_ratios(denominator, numerator).values()]
    return effect(per_block).ratio if per_block else None


def totals(
    denominator_ns: Mapping[int, float], numerator_ns: Mapping[int, float]
) -> dict[int, float]:
    """Return each block's contribution to a log-ratio of throughputs: ln(denominator's total time /
    numerator's).

    The mean of the contributions is this log-ratio, and they have its variance. One slow process in
    five changes the ratio of total times, but not a median.
    Source: influence function of a ratio of means (Efron and Tibshirani 1993, chapter 21).
    """
    both = sorted(denominator_ns.keys() & numerator_ns.keys())
    if not both:
        return {}
    below = fmean(map(denominator_ns.__getitem__, both))
    above = fmean(map(numerator_ns.__getitem__, both))
    whole = log(below / above)
    return {
        block: whole + denominator_ns[block] / below - numerator_ns[block] / above for block in both
    }


def mean_effect(per_block: Sequence[float] | Floats) -> Estimate:
    """Return the mean with its 95 % t interval, which is infinite for fewer than 6 blocks."""
    values = floats(per_block)
    error = values.std(ddof=1) / values.size**0.5 if values.size >= FEWEST_FOR_INTERVAL else inf
    return t_estimate(values.mean(), error, values.size - 1)


def t_estimate(value: float, error: float, degrees: int, tests: int = 1) -> Estimate:
    """Return *value* as an estimate, with the t interval from its standard *error*, which may be
    infinite.

    tests: number of intervals that must hold simultaneously (Bonferroni)
    """
    value, reach = float(value), inf
    if error < inf:
        reach = t_quantile(degrees, 1 - (1 - CONFIDENCE) / 2 / tests) * float(error)
    return Estimate(value=value, low=value - reach, high=value + reach, count=degrees + 1)


def t_quantile(degrees: int, probability: float) -> float:
    """Return the quantile of Student's t distribution with *degrees* of freedom."""
    from scipy import (
        special,
    )  # the import takes 0.2 s, and a report of few blocks needs no t interval

    return float(special.stdtrit(degrees, probability))


def share(counts: Sequence[int], totals: Sequence[int], tests: int = 1) -> Estimate:
    """Return sum(counts) / sum(totals) with its interval, from one item per batch (successive
    periods of equal length).

    Successive samples of a thread are correlated, so a batch counts as one observation. The
    interval is that of a ratio of two sums: variance by linearisation, and Student's t.
    counts, totals: samples in the counted state, and all samples, in each batch
    docs/statistics.md has the source.
    """
    value, variance, degrees = _share(counts, totals)
    return t_estimate(value, variance**0.5, degrees, tests)


def difference(
    counts: Sequence[int],
    totals: Sequence[int],
    other: Sequence[int],
    other_totals: Sequence[int],
    tests: int = 1,
) -> Estimate:
    """Return the difference of two shares of independent samples: the first minus the other, with
    its interval.
    """
    value, variance, degrees = _share(counts, totals)
    less, of_less, fewer = _share(other, other_totals)
    degrees = min(degrees, fewer)  # the smaller number gives the wider interval
    return t_estimate(value - less, (variance + of_less) ** 0.5, degrees, tests)


def _share(counts: Sequence[int], totals: Sequence[int]) -> tuple[float, float, int]:
    """Return sum(counts) / sum(totals), the variance of this share, and its degrees of freedom.

    The variance is infinite if there are fewer than FEWEST_BATCHES batches.
    """
    parts, wholes = floats(counts), floats(totals)
    batches = int(np.count_nonzero(wholes))  # an empty batch adds nothing to the sums
    value = float(parts.sum() / wholes.sum()) if batches else 0.0
    if batches < FEWEST_BATCHES:
        return value, inf, batches - 1
    spread = ((parts - value * wholes) ** 2).sum() / wholes.sum() ** 2
    return value, float(spread * batches / (batches - 1)), batches - 1


def unpaired_total(denominator_ns: Sequence[float], numerator_ns: Sequence[float]) -> Estimate:
    """Return the log-ratio of the mean times of two saved runs (denominator / numerator), with its
    t interval.
    """
    few = min(len(denominator_ns), len(numerator_ns))
    below, above = floats(denominator_ns), floats(numerator_ns)
    error = inf
    if few >= FEWEST_FOR_INTERVAL:
        error = np.hypot(
            *(times.std(ddof=1) / times.mean() / times.size**0.5 for times in (below, above))
        )
    return t_estimate(log(below.mean() / above.mean()), error, few - 1)


def unpaired_effect(denominator_ns: Sequence[float], numerator_ns: Sequence[float]) -> Estimate:
    """Return the log-ratio of the typical times of two saved runs (denominator / numerator), with
    its 95 % interval.

    denominator_ns, numerator_ns: completion times in ns, one per block; the numbers of blocks may
        differ
    Source: each run has effect()'s interval; Zou and Donner (2008) combine the two intervals.
    """
    below, above = effect(logs(denominator_ns)), effect(logs(numerator_ns))
    middle, few = below.value - above.value, min(below.count, above.count)
    under = over = inf
    if few >= FEWEST_FOR_INTERVAL:
        under = float(np.hypot(below.value - below.low, above.high - above.value))
        over = float(np.hypot(below.high - below.value, above.value - above.low))
    return Estimate(value=middle, low=middle - under, high=middle + over, count=few)


def logs(times_ns: Sequence[float]) -> Floats:
    """Return the natural logs of times in ns, which must be above 0."""
    return np.log(floats(times_ns))
