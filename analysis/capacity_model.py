"""Estimate the highest request rate at which a service meets an objective, and choose the next rate
to probe.

The excess of a probe is the share of its requests that miss the objective, divided by the share
that may miss it. With p99<50ms, 1 % of the requests may miss it. The capacity is the rate where the
expected excess is 1. Its posterior distribution is computed on a grid: all capacities up to what
the closed loop reached are equally likely at first.

analysis/capacity_probes.py makes the probes of measurements, and capacity_search.py asks for the
next one. The module knows no run: rates are requests/s of all clients together, and logs are
natural. Draws have a fixed seed. docs/decisions/031-capacity-search.md explains the method, and
benchmarks/known_capacities.py tests it: run it after a change of a constant.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats import CONFIDENCE, Floats
from core.objective import SCAN, SEARCH, top_rate

WIDTH = 0.12  # the search ends when the interval is narrower than this share of the capacity
FEWEST_LONG = 3  # long probes that a search needs
NEAR = 0.15  # the estimate uses probes whose log(rate) is this near to that of the capacity
GRADED = 20.0  # an excess above 20 or below 1/20 only shows on which side of the limit the rate is
ROUNDS = 8  # iterations of choosing the probes near the capacity
BURST = 15.0  # least number of requests that miss the objective together
GROWTH = 1.5  # factor of the length of a burst near saturation; see _log_ratio
SPREAD = 0.015  # assumed relative standard deviation of the capacity between starts of a service
OUTLIER = 0.001  # weight of probes that say nothing, because something disturbed them
STEEPNESS: Floats = np.geomspace(
    0.5, 40, 20
)  # times that of an M/M/1 queue; the weight of each is 1 / steepness
LEAST_SPARE = 0.01  # of the closed loop's throughput, so that a capacity may be as high
REACH, POINTS, DRAWS = (
    0.3,
    201,
    4000,
)  # half the width of the grid of log(capacity), its points, random draws
LIMIT = 5.0  # log(excess) is never below -LIMIT
# log-likelihood that a probe lacks at every rate on the other side of the interval
CONTRADICTS = 7.0
BESIDE = 0.03  # distance of long probes from the capacity, as a share of it
FIRST, STEP = (
    0.8,
    1.2,
)  # the first rate as a share of the closed loop's throughput, and the factor between rates
LOWEST = 0.02  # lowest rate that is tried, as a share of the closed loop's throughput


@dataclass(frozen=True, kw_only=True)
class Loop:
    """The throughput of a closed loop in requests/s, which the capacity cannot exceed, and its
    relative error.
    """

    rate: float
    error: float = 0.0

    @property
    def ceiling(self) -> float:
        """Return the highest throughput that agrees with what was measured: three standard errors
        above it.
        """
        return self.rate * (1 + 3 * self.error)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A probe: a measurement of a service at *rate* requests/s.

    offered: the requests/s that were due. In a Poisson process this differs from the rate by chance
    excess: the share of its requests that miss the objective, divided by the share that may
    allowed: the number of its requests that may miss the objective
    most: the excess if all requests miss the objective
    purpose: SCAN for a short probe, SEARCH for a long probe
    """

    rate: float
    offered: float
    excess: float
    allowed: float
    most: float = 100.0
    purpose: str = SCAN

    @property
    def passes(self) -> bool:
        """Return whether the probe meets the objective."""
        return self.excess <= 1


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A capacity: the rate in requests/s at which the objective is just met, with its 95 %
    interval.

    draws: random draws from the distribution of the rate
    is_bracket: whether low and high only enclose the capacity, because no probe shows where between
        them it lies
    is_capped: whether high is the throughput of the closed loop, because no rate missed the
        objective
    contradicting: a probe that contradicts the interval, or None
    """

    rate: float
    low: float
    high: float
    draws: tuple[float, ...] = ()
    is_bracket: bool = False
    is_capped: bool = False
    contradicting: Probe | None = None

    @property
    def width(self) -> float:
        """Return the width of the interval as a share of the rate."""
        return (self.high - self.low) / self.rate


def bracket(probes: Sequence[Probe]) -> tuple[float, float]:
    """Return the two rates around the capacity: the highest that passes (or 0) and the lowest that
    fails (or inf).

    If a probe passes at a higher rate than another fails, the two rates are chosen that contradict
    the fewest misses.
    """
    ordered = sorted(probes, key=lambda probe: probe.rate)
    signed = [
        -probe.allowed * math.log(min(max(probe.excess, 1 / GRADED), GRADED)) for probe in ordered
    ]
    splits = (
        range(len(ordered) + 1)
        if len({probe.passes for probe in probes}) < 2
        else range(1, len(ordered))
    )
    split = max(splits, key=lambda number: sum(signed[:number]) - sum(signed[number:]))
    return ordered[split - 1].rate if split else 0.0, ordered[split].rate if split < len(
        ordered
    ) else math.inf


def crossing(probes: Sequence[Probe], loop: Loop) -> Crossing | None:
    """Return the highest request rate that meets the objective, estimated from test measurements
    (probes).

    Returns None if no rate meets the objective.
    """
    low, high = bracket(probes)
    if not low:
        return None
    near: list[Probe] = []
    rate = math.sqrt(low * min(high, loop.ceiling))
    logs = weights = np.empty(0)
    for _ in range(ROUNDS):
        before, near = near, [probe for probe in probes if abs(math.log(probe.rate / rate)) < NEAR]
        if len(weights) and near == before:
            break
        logs = np.linspace(
            math.log(rate) - REACH, min(math.log(rate) + REACH, math.log(loop.ceiling)), POINTS
        )
        weights = _posterior(near, logs, loop)
        rate = math.exp(np.interp(0.5, weights.cumsum(), logs))
    first, last = np.exp(
        np.interp([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], weights.cumsum(), logs)
    )
    if is_capped := math.isinf(high):
        rate = math.sqrt(low * loop.rate)
    # probes in which nearly all requests miss show only a side of the limit
    graded = [probe for probe in near if 1 / GRADED < probe.excess < min(GRADED, 0.9 * probe.most)]
    is_bracket = is_capped or len(graded) < 2
    if is_bracket:
        first, last = min(first, low), max(last, min(high, loop.ceiling))
    return Crossing(
        # at most the lowest throughput of the closed loop that agrees with what was measured
        rate=min(rate, 2 * loop.rate - loop.ceiling),
        low=float(first),
        high=float(last),
        draws=tuple(np.exp(np.random.default_rng(0).choice(logs, DRAWS, p=weights)).tolist()),
        is_bracket=is_bracket,
        is_capped=is_capped,
        contradicting=next(
            (probe for probe in probes if _contradicts(probe, first, last, loop)), None
        ),
    )


def _posterior(probes: Sequence[Probe], logs: Floats, loop: Loop) -> Floats:
    """Return the probability of each capacity, given as log(rate), averaged over the steepness.

    In an M/M/1 queue, log(excess) is 0 at the capacity, rises linearly, and reaches its maximum at
    saturation. The likelihood is blurred by the assumed spread of the capacity between starts.
    """
    step = logs[1] - logs[0]
    beyond = math.ceil(2.5 * SPREAD / step)
    kernel = np.exp(-0.5 * (step * np.arange(-beyond, beyond + 1) / SPREAD) ** 2)
    wide = logs[0] + step * np.arange(-beyond, len(logs) + beyond)
    capacity = np.exp(wide)
    spare = np.maximum(loop.ceiling - capacity, LEAST_SPARE * loop.rate)
    total = np.zeros((len(STEEPNESS), len(logs)))
    for probe in probes:
        most = min(GRADED, probe.most)
        seen = min(probe.excess, most)
        slope = STEEPNESS[:, None] * math.log(probe.most) / spare
        expected = np.exp(np.clip(slope * (probe.offered - capacity), -LIMIT, math.log(most)))
        lacking = _log_ratio(probe, seen, expected, loop)
        likelihood = [
            np.convolve(line, kernel / kernel.sum(), "valid") for line in np.exp(-lacking)
        ]
        total += np.log(np.stack(likelihood) + OUTLIER)
    weights: Floats = (np.exp(total - total.max()) / STEEPNESS[:, None]).sum(axis=0)
    return np.asarray(weights / weights.sum())


def _log_ratio(probe: Probe, seen: float, expected: Floats, loop: Loop) -> Floats:
    """Return by how much the log-likelihood of an expected excess is below that of the excess that
    was seen.

    A queue near saturation that exceeds the limit does so for a burst of successive requests: in an
    M/M/1 queue, for about GROWTH * (rate / spare)^2 of them. The number of bursts has a Poisson
    distribution.
    """
    spare = loop.rate - min(probe.rate, top_rate(loop.rate))
    bursts = probe.allowed / max(BURST, GROWTH * (probe.rate / spare) ** 2)
    return np.asarray(bursts * (seen * np.log(max(seen, 1e-9) / expected) - seen + expected))


def _contradicts(probe: Probe, low: float, high: float, loop: Loop) -> bool:
    """Return whether chance cannot explain a miss below the interval, or a pass above it."""
    is_beyond = probe.rate > high if probe.passes else probe.rate < low
    return is_beyond and bool(
        _log_ratio(probe, min(probe.excess, GRADED), np.array(1.0), loop) > CONTRADICTS
    )


def next_probe(probes: Sequence[Probe], loop: Loop) -> tuple[float, str] | None:
    """Return the rate in requests/s and the purpose (see Probe) of the next probe, or None if the
    search has ended.
    """
    if not probes:
        return FIRST * loop.rate, SCAN
    low, high = bracket(probes)
    if not low:
        return (high / STEP**2, SCAN) if high / STEP**2 >= LOWEST * loop.rate else None
    return _nearer(probes, low, high, loop)


def _nearer(
    probes: Sequence[Probe], low: float, high: float, loop: Loop
) -> tuple[float, str] | None:
    """Return the next probe if the capacity is known to lie between *low* and *high*."""
    top = top_rate(loop.rate)
    if math.isinf(high) and low < top * 0.99:
        return min(top, low * STEP), SCAN
    found = crossing(probes, loop)
    assert found is not None
    if found.is_bracket and low * (1 + WIDTH) < high < math.inf:
        return math.sqrt(low * high), SCAN
    long = [probe for probe in probes if probe.purpose == SEARCH]
    # 1 % below the top counts as the top, because the rate of each client is a whole number
    at_top = [probe for probe in long if probe.rate >= top * 0.99]
    if len(long) >= FEWEST_LONG and (
        found.width <= WIDTH or (math.isinf(high) and len(at_top) >= FEWEST_LONG)
    ):
        return None
    above = [probe.rate > found.rate for probe in long if abs(probe.rate / found.rate - 1) < WIDTH]
    beside = found.rate * (1 - BESIDE if sum(above) * 2 > len(above) else 1 + BESIDE)
    return min(top, beside), SEARCH
