"""Estimate the highest request rate at which a service meets an objective, and choose the next rate to probe. Pure.

The excess of a probe is the share of its requests that miss the objective, divided by the share that may miss it. With
p99<50ms, 1 % of the requests may miss it. The share is unbiased even in a short probe; a percentile is not. The
regression of log(excess) against log(rate) uses the probes near the limit. The capacity is the rate where the excess is
1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.objective import CONFIRM, SCAN, SEARCH

WIDTH = 0.10  # the search ends when the interval is narrower than this share of the capacity
CONFIRMED_AT = (0.95, 1.05)  # times the capacity: the rates of the two probes that confirm it
KEPT = 0.05  # a confirmed capacity changes by less than this share when its two probes are added
FEWEST_LONG = 3  # long probes before the first probe that confirms
ALMOST = 0.17  # the first probe that confirms is made when the interval is narrower than this share of the capacity
NEAR = 0.15  # the regression uses probes whose log(rate) is this near to that of the capacity
FEWEST_NEAR = 3  # probes that a regression needs
GRADED = 20.0  # an excess above 20 or below 1/20 only shows on which side of the limit the rate is
ROUNDS = 8  # iterations of choosing the probes near the capacity
BURST = 15.0  # assumed number of requests that miss the objective together, at the limit
GROWTH = 0.5  # this number is proportional to excess ** GROWTH, because a queue empties later at a higher rate
SPREAD = 0.02  # assumed relative standard deviation of the capacity between starts of a service
SPREAD_WEIGHT = 3  # these two assumptions count as much as this number of probes
SLOPE, SLOPE_SPREAD = 15.0, 10.0  # mean and standard deviation of the prior of d log(excess) / d log(rate)
LIMIT = 5.0  # log(excess) is clipped to this range
ITERATIONS, ENOUGH = 50, 1e-6
DRAWS = 1000
BESIDE = 0.03  # distance of long probes from the capacity, as a share of it
FIRST, STEP = 0.8, 1.2  # the first rate as a share of the closed loop's throughput, and the factor between rates
LOWEST = 0.02  # lowest rate that is tried, as a share of the closed loop's throughput


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A probe: a measurement of a service at *rate* requests/s.

    offered: the requests/s that were due. In a Poisson process this differs from the rate by chance
    excess: the share of its requests that miss the objective, divided by the share that may
    allowed: the number of its requests that may miss the objective
    purpose: SCAN for a short probe, SEARCH for a long probe, which counts much, and CONFIRM for one of the two long
        probes that confirm a capacity
    """

    rate: float
    offered: float
    excess: float
    allowed: float
    purpose: str = SCAN

    @property
    def passes(self) -> bool:
        """Return whether the probe meets the objective."""
        return self.excess <= 1

    @property
    def is_long(self) -> bool:
        """Return whether the probe is long enough to count much."""
        return self.purpose in (SEARCH, CONFIRM)


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A capacity: the rate in requests/s at which the objective is just met, with its 95 % interval.

    draws: random draws from the distribution of the rate
    is_cliff: whether no regression was possible. The interval then reaches from a rate that passes to one that fails
    """

    rate: float
    low: float
    high: float
    draws: tuple[float, ...] = ()
    is_cliff: bool = False

    @property
    def width(self) -> float:
        """Return the width of the interval as a share of the rate."""
        return (self.high - self.low) / self.rate

    def is_confirmed_by(self, probes: Sequence[Probe]) -> bool:
        """Return whether the last two probes, just below and just above the capacity, changed it by less than KEPT."""
        confirming = [probe for probe in probes if probe.purpose == CONFIRM]
        if not confirming or len(confirming) % 2:
            return False
        return abs(self.rate * CONFIRMED_AT[1] / confirming[-1].rate - 1) < KEPT


def bracket(probes: Sequence[Probe]) -> tuple[float, float]:
    """Return the two rates around the capacity: the highest that passes (or 0) and the lowest that fails (or inf).

    If a probe passes at a higher rate than another fails, the two rates are chosen that contradict the fewest misses.
    """
    ordered = sorted(probes, key=lambda probe: probe.rate)
    signed = [-probe.allowed * math.log(min(max(probe.excess, 1 / GRADED), GRADED)) for probe in ordered]
    splits = range(len(ordered) + 1) if len({probe.passes for probe in probes}) < 2 else range(1, len(ordered))
    split = max(splits, key=lambda number: sum(signed[:number]) - sum(signed[number:]))
    return ordered[split - 1].rate if split else 0.0, ordered[split].rate if split < len(ordered) else math.inf


def crossing(probes: Sequence[Probe]) -> Crossing | None:
    """Return the highest request rate that meets the objective, estimated from test measurements (probes).

    Returns None if all probes meet the objective, or all miss it.
    """
    rates = [probe.rate for probe in probes]
    low, high = bracket(probes)
    if not low or math.isinf(high):
        return None
    found, rate = None, math.sqrt(low * high)
    cliff = Crossing(rate=rate, low=low, high=high, draws=(low, rate, high), is_cliff=True)
    for _ in range(ROUNDS):
        near = [probe for probe in probes if abs(math.log(probe.rate / rate)) < NEAR]
        found = _regression(near, rate)
        if found is None:
            return cliff
        rate = min(max(found.rate, min(rates)), max(rates))
    return found


def _regression(probes: Sequence[Probe], centre: float) -> Crossing | None:
    """Estimate the capacity by a regression over *probes*, measurements at several rates; None if there are too few.

    At least two probes must be neither far above nor far below the limit that the objective sets.
    The regression maximises a quasi-likelihood by iteratively reweighted least squares. The variance of an excess is
    mean^(1 + GROWTH) * BURST / allowed + (mean * slope * SPREAD)^2. The interval uses Student's t distribution of both
    coefficients.
    """
    graded = [probe for probe in probes if 1 / GRADED < probe.excess < GRADED]
    if len(probes) < FEWEST_NEAR or len(graded) < 2:
        return None
    x = np.log([probe.offered for probe in probes]) - math.log(centre)
    y = np.array([probe.excess for probe in probes])
    allowed = np.array([probe.allowed for probe in probes])
    design = np.column_stack([np.ones(len(x)), x])
    expected = np.array([0.0, SLOPE])
    prior = np.diag([0.0, 1 / SLOPE_SPREAD**2])
    beta, weight, deviation, hessian = expected, y, y, prior
    for _ in range(ITERATIONS):
        mean = np.exp(np.clip(design @ beta, -LIMIT, LIMIT))
        weight = 1 / (BURST / (allowed * mean ** (1 - GROWTH)) + (SPREAD * max(beta[1], 1.0)) ** 2)
        deviation = (y - mean) / mean
        hessian = design.T @ (design * weight[:, None]) + prior
        step = np.linalg.solve(hessian, design.T @ (weight * deviation) - prior @ (beta - expected))
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < ENOUGH:
            break
    beta[1] = max(beta[1], 1.0)
    freedom = len(x) - 2
    pearson = float(weight @ deviation**2)
    scale = max(1.0, (SPREAD_WEIGHT + pearson) / (SPREAD_WEIGHT + freedom))
    noise = np.random.default_rng(0).multivariate_normal([0, 0], np.linalg.inv(hessian) * scale, DRAWS)
    chi = np.random.default_rng(1).chisquare(SPREAD_WEIGHT + freedom, DRAWS) / (SPREAD_WEIGHT + freedom)
    drawn = beta + noise / np.sqrt(chi)[:, None]
    draws = centre * np.exp(np.clip(-drawn[:, 0] / np.maximum(drawn[:, 1], 1.0), -NEAR, NEAR))
    first, last = np.quantile(draws, [0.025, 0.975])
    rate = centre * math.exp(min(NEAR, max(-NEAR, -beta[0] / beta[1])))
    return Crossing(rate=rate, low=float(first), high=float(last), draws=tuple(draws.tolist()))


def next_probe(probes: Sequence[Probe], closed_rate: float) -> tuple[float, str] | None:
    """Return the rate in requests/s and the purpose (see Probe) of the next probe, or None if the search has ended.

    closed_rate: the throughput of the closed loop in requests/s, which determines the first rate
    """
    if not probes:
        return FIRST * closed_rate, SCAN
    confirming = [probe for probe in probes if probe.purpose == CONFIRM]
    if len(confirming) % 2:
        return confirming[-1].rate * CONFIRMED_AT[1] / CONFIRMED_AT[0], CONFIRM
    low, high = bracket(probes)
    if math.isinf(high):  # all probes passed
        return closed_rate if low < closed_rate < low * STEP else low * STEP, SCAN
    if not low:
        return (high / STEP**2, SCAN) if high / STEP**2 >= LOWEST * closed_rate else None
    return _nearer(probes, low, high)


def _nearer(probes: Sequence[Probe], low: float, high: float) -> tuple[float, str] | None:
    """Return the next probe if the capacity is known to lie between *low* and *high*."""
    found = crossing(probes)
    assert found is not None
    if found.is_cliff and high > low * (1 + WIDTH):
        return math.sqrt(low * high), SCAN
    kept, width = found.is_confirmed_by(probes), 0.0 if found.is_cliff else found.width
    if kept and width <= WIDTH:
        return None
    if not kept and width <= ALMOST and sum(probe.is_long for probe in probes) >= FEWEST_LONG:
        return found.rate * CONFIRMED_AT[0], CONFIRM
    return _beside(probes, found), SEARCH


def _beside(probes: Sequence[Probe], found: Crossing) -> float:
    """Return a rate slightly below the capacity if most long measurements were above it, else slightly above it."""
    near = [probe.rate > found.rate for probe in probes if probe.is_long and abs(probe.rate / found.rate - 1) < WIDTH]
    return found.rate * (1 - BESIDE if sum(near) * 2 > len(near) else 1 + BESIDE)
