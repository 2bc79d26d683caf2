"""Effects and their 95 % intervals: pure functions on log-ratios.

A log-ratio is ln(time of the denominator / time of the numerator): above 0 the numerator is faster. Methods,
sources and limits are in docs/statistics.md; benchmarks/method_simulated.py measures what they hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST_FOR_INTERVAL = 3
RESAMPLES = 9_999
BOOTSTRAP_SEED = 0

# By how much the bootstrap interval of the median of 3, 4, 5 ... 40 values must be drawn out to cover the truth
# in 95 % of normal samples. Printed by: python -m benchmarks.method_simulated --calibrate
# It belongs to RESAMPLES and BOOTSTRAP_SEED; docs/statistics.md says why it jumps from one count to the next.
# fmt: off
_WIDENING = (
    4.24, 1.65, 1.10, 1.08, 1.60, 1.14, 0.92, 1.07, 1.11, 1.11, 1.26, 1.09, 0.88, 1.05, 0.99, 1.01, 1.08, 1.08, 1.17,
    1.07, 1.25, 1.03, 0.96, 1.02, 1.01, 1.01, 1.05, 1.07, 1.12, 1.04, 1.16, 1.03, 0.94, 0.98, 0.97, 1.02, 1.02, 1.02,
)
# fmt: on
_WIDENING_BEYOND = 1.05


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its 95 % interval, and the number of blocks or points it rests on.

    low, high: infinite where *count* is too small for an interval
    """

    value: float
    low: float
    high: float
    count: int

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"the interval {self.low} to {self.high} does not hold its value {self.value}")

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
    """Median log-ratio with its 95 % interval; with fewer than 3 blocks the interval is infinite.

    per_block: log-ratios, shape (blocks,)
    The interval is the percentile bootstrap's, drawn out from the median by widening(blocks): without that it
    covers 75 % at 3 blocks and 93 to 94 % from 5 on. It depends on the values alone: the seed is fixed.
    Raises ValueError without a block.
    Source: Efron and Tibshirani (1993), section 13.3; Loh (1987) for the calibration; docs/statistics.md.
    """
    values = np.sort(np.asarray(per_block, dtype=np.float64))
    if not values.size:
        raise ValueError("no block has both arms; an effect needs at least one")
    middle = float(np.median(values))
    if values.size < FEWEST_FOR_INTERVAL:
        return Estimate(value=middle, low=-inf, high=inf, count=values.size)
    low, high = _percentile_bootstrap(values)
    factor = widening(values.size)
    return Estimate(
        value=middle,
        low=min(middle, middle - factor * (middle - low)),
        high=max(middle, middle + factor * (high - middle)),
        count=values.size,
    )


def _percentile_bootstrap(values: Floats) -> tuple[float, float]:
    """Ends of the percentile bootstrap interval of the median of *values*, shape (blocks,), as scipy.stats draws it."""
    drawn = np.random.default_rng(BOOTSTRAP_SEED).integers(0, values.size, (RESAMPLES, values.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.percentile(np.median(values[drawn], axis=-1), [100 * tail, 100 * (1 - tail)])
    return float(low), float(high)


def widening(blocks: int) -> float:
    """Factor by which effect() draws out the bootstrap interval of *blocks* values (3 or more)."""
    index = blocks - FEWEST_FOR_INTERVAL
    return _WIDENING[index] if index < len(_WIDENING) else _WIDENING_BEYOND


def unpaired_effect(denominator_ns: Sequence[int], numerator_ns: Sequence[int]) -> Estimate:
    """Difference of the median log times of two saved runs, ln(denominator / numerator), with its 95 % interval.

    denominator_ns, numerator_ns: completion times, ns, one per block; the runs need not have as many
    Raises ValueError if a run has no block or a time is not above 0.
    Source: each median has effect()'s interval; Zou and Donner (2008) combine the two into one.
    """
    below, above = effect(logs(denominator_ns)), effect(logs(numerator_ns))
    middle = below.value - above.value
    return Estimate(
        value=middle,
        low=middle - float(np.hypot(below.value - below.low, above.high - above.value)),
        high=middle + float(np.hypot(below.high - below.value, above.value - above.low)),
        count=min(below.count, above.count),
    )


def logs(times_ns: Sequence[int]) -> Floats:
    """Natural logs of times in ns. Raises ValueError if one is not above 0."""
    if any(time_ns <= 0 for time_ns in times_ns):
        raise ValueError(f"a completion time is {min(times_ns)} ns; it must be above 0")
    return np.log(np.asarray(times_ns, dtype=np.float64))
