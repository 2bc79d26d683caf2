"""Lines through points, and whether throughput falls again at the end of a sweep.

Models, sources and limits are in docs/statistics.md.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from reports.statistics.stats import Estimate, least_squares, log_ratios
from reports.statistics.verdict import Verdict, judge_family

Key = TypeVar("Key", bound=Hashable)
Blocks = Mapping[int, Mapping[int, float]]  # n -> block -> throughput


@dataclass(frozen=True, kw_only=True)
class Line:
    """y = intercept + slope * x, both with their intervals."""

    slope: Estimate
    intercept: Estimate


def falls(sweeps: Mapping[Key, Blocks], *, anytime: bool = False, seed: int = 0) -> dict[Key, tuple[int, Verdict]]:
    """Of each sweep whose throughput at the largest n is below that at a smaller one: that n, and the verdict.

    Every smaller n is compared with the largest, block by block, and all of them are one family: to take the best
    one alone would find a fall in every plateau.
    """
    ratios = {
        (key, n): log_ratios(blocks[max(blocks)], blocks[n])
        for key, blocks in sweeps.items()
        for n in sorted(blocks)[:-1]
    }
    verdicts = judge_family(ratios, anytime=anytime, seed=seed)
    slower = {pair: verdict for pair, verdict in verdicts.items() if verdict.verdict == "slower" and verdict.ratio}
    return {
        key: min(mine, key=lambda one: one[1].ratio or 1.0)
        for key in sweeps
        if (mine := [(n, verdict) for (owner, n), verdict in slower.items() if owner == key])
    }


def line_fit(points: Iterable[tuple[float, float]]) -> Line:
    """Least-squares line through (x, y), with t intervals: memory against clients, say.

    The slope has y's unit over x's. Raises ValueError for fewer than 3 points or a single x.
    Source: Draper and Smith (1998), chapter 1.
    """
    pairs = np.array([*points], dtype=np.float64)
    if len(pairs) < 3 or len(np.unique(pairs[:, 0])) < 2:
        raise ValueError(f"{len(pairs)} points are too few for a slope; it takes 3, at 2 values at least")
    intercept, slope = least_squares([np.ones(len(pairs)), pairs[:, 0]], pairs[:, 1])
    return Line(slope=slope, intercept=intercept)
