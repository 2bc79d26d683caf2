"""Shares of samples, and differences of two, with intervals from batches: successive times of the same length.

Samples of a thread that follow each other are alike, so that a batch counts as one observation: the ratio of two
sums, with the variance by linearisation and Student's t. Source: docs/statistics.md.
"""

from collections.abc import Sequence

import numpy as np
from scipy import special

from reports.statistics.stats import CONFIDENCE, Estimate

FEWEST_BATCHES = 8


def share(counts: Sequence[int], totals: Sequence[int], tests: int = 1) -> Estimate:
    """sum(counts) / sum(totals), by batch; its interval holds for *tests* shares together (Bonferroni)."""
    return _estimate([_parts(counts, totals)], tests)


def difference(
    counts: Sequence[int], totals: Sequence[int], other: Sequence[int], other_totals: Sequence[int], tests: int = 1
) -> Estimate:
    """The first share less the other one, of independent samples."""
    value, variance, degrees = _parts(other, other_totals)
    return _estimate([_parts(counts, totals), (-value, variance, degrees)], tests)


Parts = tuple[float, float, int]


def _parts(counts: Sequence[int], totals: Sequence[int]) -> Parts:
    """The share, the variance of its estimate (infinite from few batches) and its degrees of freedom."""
    known = [(count, total) for count, total in zip(counts, totals, strict=True) if total]
    if not known:
        return 0.0, np.inf, 0
    parts, wholes = np.array(known, dtype=np.float64).T
    value, number = float(parts.sum() / wholes.sum()), len(known)
    if number < FEWEST_BATCHES:
        return value, np.inf, 0
    residuals = parts - value * wholes
    return value, float((residuals**2).sum() * number / (number - 1) / wholes.sum() ** 2), number - 1


def _estimate(terms: Sequence[Parts], tests: int) -> Estimate:
    """The sum of *terms*, with the fewest degrees of freedom among them, which is on the safe side."""
    value, variance = sum(term[0] for term in terms), sum(term[1] for term in terms)
    degrees = min(term[2] for term in terms)
    half = np.inf
    if degrees:
        half = float(special.stdtrit(degrees, 1 - (1 - CONFIDENCE) / 2 / max(1, tests))) * variance**0.5
    return Estimate(value=value, low=value - half, high=value + half, count=degrees + 1)
