"""Effects and their 95 % intervals: pure functions on log-ratios.

A log-ratio is ln(time of the denominator / time of the numerator): above 0 the numerator is faster. Methods,
sources and limits are in docs/statistics.md; benchmarks/method_simulated.py measures what they hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

Floats: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST_FOR_RANGE, FEWEST_FOR_INTERVAL = 3, 6


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its 95 % interval, and the number of blocks or points it rests on.

    low, high: of 3 to 5 blocks the least and the most of them; infinite where there are fewer
    """

    value: float
    low: float
    high: float
    count: int

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"the interval {self.low} to {self.high} does not hold its value {self.value}")

    @property
    def is_range(self) -> bool:
        """Whether low and high are the range of values too few for an interval."""
        return self.count < FEWEST_FOR_INTERVAL

    @property
    def ratio(self) -> "Estimate":
        """Of a log-ratio the ratio itself."""
        return Estimate(value=exp(self.value), low=exp(self.low), high=exp(self.high), count=self.count)

    @property
    def half_width(self) -> float:
        """Half the interval, in the unit of the value."""
        return (self.high - self.low) / 2


def log_ratios(denominator_ns: Mapping[int, float], numerator_ns: Mapping[int, float]) -> dict[int, float]:
    """ln(denominator / numerator) of every block that both have, by block.

    denominator_ns, numerator_ns: block -> time, ns
    Raises ValueError if a time is not above 0.
    """
    for block, time_ns in (*denominator_ns.items(), *numerator_ns.items()):
        if time_ns <= 0:
            raise ValueError(f"block {block} took {time_ns} ns; a time must be above 0")
    both = sorted(denominator_ns.keys() & numerator_ns.keys())
    return {block: log(denominator_ns[block] / numerator_ns[block]) for block in both}


def mean_over_cells(cells: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Mean log-ratio over cells, of every block that all cells have: the log of a geometric mean of ratios.

    cells: one mapping block -> log-ratio per cell
    The result is one log-ratio per block, for effect() and sign_flip_p() like that of a single cell.
    """
    every = list(cells)
    common = sorted(set.intersection(*(set(cell) for cell in every))) if every else []
    return {block: sum(cell[block] for cell in every) / len(every) for block in common}


def effect(per_block: Sequence[float] | Floats) -> Estimate:
    """The log-ratio with its 95 % interval; of fewer than 6 blocks the median, of 3 to 5 with their range.

    per_block: log-ratios, shape (blocks,)
    Raises ValueError without a block.
    Source: hodges_lehmann(); docs/statistics.md.
    """
    values = np.sort(np.asarray(per_block, dtype=np.float64))
    if not values.size:
        raise ValueError("no block has both arms; an effect needs at least one")
    if values.size < FEWEST_FOR_INTERVAL:
        low, high = (values[0], values[-1]) if values.size >= FEWEST_FOR_RANGE else (-inf, inf)
        return Estimate(value=float(np.median(values)), low=float(low), high=float(high), count=values.size)
    middle, low, high = hodges_lehmann(values[np.newaxis])[:, 0].tolist()
    return Estimate(value=middle, low=low, high=high, count=values.size)


def hodges_lehmann(samples: Floats) -> Floats:
    """Of each row of *samples* (6 values or more) the estimate, and the ends of its interval; shape (3, samples).

    The median of the means of all pairs, each value with itself too, and those two of the means that Wilcoxon's
    signed-rank test rejects no value between: exact where values lie evenly around what is estimated.
    Source: Hodges and Lehmann (1963); Tukey (1949) for the interval.
    """
    first, second = np.triu_indices(samples.shape[1])
    means = np.sort((samples[:, first] + samples[:, second]) / 2, axis=1)
    end = _left_out(samples.shape[1])
    return np.array([np.median(means, axis=1), means[:, end], means[:, -1 - end]])


@cache
def _left_out(values: int) -> int:
    """How many of the means on either side lie outside the interval: the quantile of Wilcoxon's statistic."""
    shares = np.ones(1)  # of the patterns of signs, by the sum of the ranks that are positive
    for rank in range(1, values + 1):
        shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
    return int(np.searchsorted(shares.cumsum(), (1 - CONFIDENCE) / 2, side="right")) - 1


def paired_effect(denominator: Mapping[int, float], numerator: Mapping[int, float]) -> Estimate | None:
    """effect() of log_ratios(); None where no block has both."""
    per_block = [*log_ratios(denominator, numerator).values()]
    return effect(per_block) if per_block else None


def totals(denominator_ns: Mapping[int, float], numerator_ns: Mapping[int, float]) -> dict[int, float]:
    """What each block that both have says of ln(total time of the denominator / total time of the numerator).

    Their mean is that log-ratio, and they scatter as it does: one slow process in five shows here, and not in a median.
    Source: influence function of a ratio of means (Efron and Tibshirani 1993, chapter 21).
    """
    both = sorted(denominator_ns.keys() & numerator_ns.keys())
    if not both:
        return {}
    below, above = (sum(times[block] for block in both) / len(both) for times in (denominator_ns, numerator_ns))
    whole = log(below / above)
    return {block: whole + denominator_ns[block] / below - numerator_ns[block] / above for block in both}


def mean_effect(per_block: Sequence[float] | Floats) -> Estimate:
    """Mean with its 95 % t interval; without one for fewer than 6 blocks."""
    values = np.asarray(per_block, dtype=np.float64)
    if values.size >= FEWEST_FOR_INTERVAL:
        return least_squares([np.ones(values.size)], values)[0]
    return Estimate(value=float(values.mean()), low=-inf, high=inf, count=values.size)


def least_squares(columns: Sequence[Floats], y: Floats) -> list[Estimate]:
    """The coefficients of *columns*, of which the first is all ones, whose sum is nearest to *y*; with t intervals.

    Source: Draper and Smith (1998), chapter 5.
    """
    matrix, middle = np.column_stack(columns), float(y.mean())
    values = np.linalg.lstsq(matrix, y - middle)[0]  # exactly nought where y is flat
    left = ((y - middle - matrix @ values) ** 2).sum() / (len(y) - len(columns))
    errors = np.sqrt(left * np.diag(np.linalg.inv(matrix.T @ matrix)))
    values[0] += middle
    return [t_estimate(value, error, len(y), len(columns)) for value, error in zip(values, errors, strict=True)]


def t_estimate(value: float, error: float, points: int, parameters: int) -> Estimate:
    """*value* with the t interval of its standard *error*."""
    reach = float(special.stdtrit(points - parameters, (1 + CONFIDENCE) / 2)) * float(error)
    return Estimate(value=float(value), low=float(value) - reach, high=float(value) + reach, count=points)


def unpaired_total(denominator_ns: Sequence[float], numerator_ns: Sequence[float]) -> Estimate:
    """ln(mean time of the denominator / mean time of the numerator) of two saved runs, with its 95 % t interval."""
    few = min(len(denominator_ns), len(numerator_ns))
    below, above = (np.asarray(times, dtype=np.float64) for times in (denominator_ns, numerator_ns))
    middle, reach = log(below.mean() / above.mean()), inf
    if few >= FEWEST_FOR_INTERVAL:
        errors = [times.std(ddof=1) / times.mean() / times.size**0.5 for times in (below, above)]
        reach = float(special.stdtrit(few - 1, (1 + CONFIDENCE) / 2) * np.hypot(*errors))
    return Estimate(value=middle, low=middle - reach, high=middle + reach, count=few)


def unpaired_effect(denominator_ns: Sequence[float], numerator_ns: Sequence[float]) -> Estimate:
    """Difference of the typical log times of two saved runs, ln(denominator / numerator), with its 95 % interval.

    denominator_ns, numerator_ns: completion times, ns, one per block; the runs need not have as many
    Raises ValueError if a run has no block or a time is not above 0.
    Source: each run has effect()'s interval; Zou and Donner (2008) combine the two into one.
    """
    below, above = effect(logs(denominator_ns)), effect(logs(numerator_ns))
    middle, few = below.value - above.value, min(below.count, above.count)
    if few < FEWEST_FOR_INTERVAL:
        return Estimate(value=middle, low=-inf, high=inf, count=few)
    return Estimate(
        value=middle,
        low=middle - float(np.hypot(below.value - below.low, above.high - above.value)),
        high=middle + float(np.hypot(below.high - below.value, above.value - above.low)),
        count=few,
    )


def logs(times_ns: Sequence[float]) -> Floats:
    """Natural logs of times in ns. Raises ValueError if one is not above 0."""
    if any(time_ns <= 0 for time_ns in times_ns):
        raise ValueError(f"a completion time is {min(times_ns)} ns; it must be above 0")
    return np.log(np.asarray(times_ns, dtype=np.float64))
