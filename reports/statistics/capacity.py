"""The highest rate that meets a service level objective, from probes at several rates, and where to probe next. Pure.

The excess of a probe is the share of its requests that miss the objective, over the share that may: 1 at the limit.
With p99 < 50 ms, 1 % of the requests may be late. A share is unbiased however short a probe is; a percentile is not. A
regression of log(excess) against log(rate), of the probes near the limit, crosses 0 at the capacity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_PROBES = 20
WIDTH = 0.10  # of the interval, as a share of the capacity, at which the search ends
CONFIRMED_AT = (0.95, 1.05)
FEWEST = 5  # probes before an interval is believed
NEAR = 0.15  # log(rate) from the capacity within which probes count in the regression
FEWEST_NEAR = 3  # of them
GRADED = 20.0  # an excess further from 1 shows on which side of the limit a rate is, and no more
ROUNDS = 8  # of choosing these probes
BURST = 16.0  # requests that miss the objective together
SPREAD = 0.01  # relative, of the capacity from one start of a service to the next
SPREAD_WEIGHT = 3  # of these two assumptions, in probes
SLOPE, SLOPE_SPREAD = 10.0, 20.0  # log(excess) by log(rate): what is assumed, and how loosely
LIMIT = 5.0
ITERATIONS, ENOUGH = 50, 1e-6
DRAWS = 1000
CLEAR = 0.001  # probability of a share of misses as extreme, if the true share were at the limit
CLEAR_FACTOR = 2  # and by how much the share must differ, because late requests come in bursts
FIRST, STEP = 0.7, 1.25  # of the closed loop's throughput; from one rate to the next until a probe fails
LOWEST = 0.02  # of the closed loop's throughput: the search gives up below


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A probe at *rate* requests/s. excess: the share of its requests that miss the objective, over what may.

    allowed: how many of its requests may miss it
    confirms: whether it was made to confirm an answer
    """

    rate: float
    excess: float
    allowed: float
    confirms: bool = False

    @property
    def passes(self) -> bool:
        """Whether it meets the objective."""
        return self.excess <= 1


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The rate at which the excess is 1, with its 95 % interval.

    is_cliff: no probe is near the limit, so the interval is from the highest rate that passes to the lowest that fails
    """

    rate: float
    low: float
    high: float
    draws: tuple[float, ...] = ()
    is_cliff: bool = False

    @property
    def width(self) -> float:
        """How wide the interval is, as a share of the rate."""
        return (self.high - self.low) / self.rate


@dataclass(frozen=True, kw_only=True)
class Ask:
    """The probe to make next. is_long: whether it has its whole time, however clear it is."""

    rate: float
    confirms: bool = False
    is_long: bool = False


def clearly(misses: int, requests: int, share: float) -> int:
    """Return 1 if clearly more than *share* of the requests miss, -1 if clearly fewer do, else 0.

    Source: the binomial distribution; late requests come in bursts, so a factor of CLEAR_FACTOR is required as well.
    """
    from scipy import special  # the import takes 0.2 s, and only a search needs it

    if misses > CLEAR_FACTOR * share * requests and special.bdtrc(misses - 1, requests, share) < CLEAR:
        return 1
    return -1 if misses * CLEAR_FACTOR < share * requests and special.bdtr(misses, requests, share) < CLEAR else 0


def bracket(probes: Sequence[Probe]) -> tuple[float, float]:
    """Return the highest rate below all that fail, and the lowest that fails; 0 and inf if there is none."""
    high = min((probe.rate for probe in probes if not probe.passes), default=math.inf)
    return max((probe.rate for probe in probes if probe.passes and probe.rate < high), default=0.0), high


def crossing(probes: Sequence[Probe]) -> Crossing | None:
    """Return the capacity that *probes* show; None if all of them pass, or all fail."""
    rates = [probe.rate for probe in probes]
    passing = max((probe.rate for probe in probes if probe.passes), default=0.0)
    failing = min((probe.rate for probe in probes if not probe.passes), default=math.inf)
    if not passing or math.isinf(failing):
        return None
    rate, found = math.sqrt(passing * failing), None
    for _ in range(ROUNDS):
        near = [probe for probe in probes if abs(math.log(probe.rate / rate)) < NEAR]
        found = _regression(near, rate)
        if found is None:
            break
        rate = min(max(found.rate, min(rates)), max(rates))
    if found:
        return found
    low, high = sorted((passing, failing))
    middle = math.sqrt(low * high)
    return Crossing(rate=middle, low=low, high=high, draws=(low, middle, high), is_cliff=True)


def _regression(probes: Sequence[Probe], centre: float) -> Crossing | None:
    """Return where a log-linear regression of the excess against log(rate) crosses 1; None if it rises nowhere.

    Quasi-likelihood by iteratively reweighted least squares, with Var = mean * BURST / allowed
    + (mean * slope * SPREAD)^2. The interval comes from Student's t distribution of the two coefficients.
    """
    graded = [probe for probe in probes if 1 / GRADED < probe.excess < GRADED]
    if len(probes) < FEWEST_NEAR or len(graded) < 2 or len({probe.passes for probe in probes}) < 2:
        return None
    x = np.log([probe.rate for probe in probes]) - math.log(centre)
    y = np.array([probe.excess for probe in probes])
    allowed = np.array([probe.allowed for probe in probes])
    design = np.column_stack([np.ones(len(x)), x])
    expected = np.array([0.0, SLOPE])
    prior = np.diag([0.0, 1 / SLOPE_SPREAD**2])
    beta, weight, deviation, hessian = expected, y, y, prior
    for _ in range(ITERATIONS):
        mean = np.exp(np.clip(design @ beta, -LIMIT, LIMIT))
        weight = 1 / (BURST / (allowed * mean) + (SPREAD * max(beta[1], 1.0)) ** 2)
        deviation = (y - mean) / mean
        hessian = design.T @ (design * weight[:, None]) + prior
        step = np.linalg.solve(hessian, design.T @ (weight * deviation) - prior @ (beta - expected))
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < ENOUGH:
            break
    if beta[1] < 1:
        return None
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


def next_probe(probes: Sequence[Probe], closed_rate: float) -> Ask | None:
    """Return the probe to make next, or None if the search has ended.

    closed_rate: the throughput of a closed loop, in requests/s, where the search starts
    """
    confirming = [probe for probe in probes if probe.confirms]
    if len(confirming) % 2:
        return Ask(rate=confirming[-1].rate * CONFIRMED_AT[1] / CONFIRMED_AT[0], confirms=True, is_long=True)
    is_confirmed = bool(confirming) and probes[-1].confirms and confirming[-2].passes and not confirming[-1].passes
    if is_confirmed or len(probes) >= MOST_PROBES:
        return None
    low, high = bracket(probes)
    if not low or math.isinf(high):
        return _outside(probes, closed_rate)
    found = crossing(probes)
    assert found is not None
    if found.is_cliff and high > low * (1 + WIDTH):
        return Ask(rate=math.sqrt(low * high), is_long=bool(confirming))
    if len(probes) >= FEWEST and (found.is_cliff or found.width <= WIDTH):
        return Ask(rate=found.rate * CONFIRMED_AT[0], confirms=True, is_long=True)
    return Ask(rate=_beside(probes, found), is_long=bool(confirming))


def _outside(probes: Sequence[Probe], closed_rate: float) -> Ask | None:
    """Return the next rate if all probes passed, or all failed. Return None if that rate would be below LOWEST."""
    if not probes:
        return Ask(rate=FIRST * closed_rate)
    if all(probe.passes for probe in probes):
        return Ask(rate=max(probe.rate for probe in probes) * STEP)
    lowest = min(probe.rate for probe in probes) / STEP**2
    return Ask(rate=lowest) if lowest >= LOWEST * closed_rate else None


def _beside(probes: Sequence[Probe], found: Crossing) -> float:
    """Return a rate near the crossing, on the side that has fewer probes near it."""
    near = [probe.rate > found.rate for probe in probes if abs(math.log(probe.rate / found.rate)) < WIDTH]
    side = -1 if sum(near) * 2 > len(near) else 1
    return found.rate * math.exp(side * min(0.05, max(0.01, found.width / 4)))
