"""How throughput grows with workers, clients or sockets, how memory does, and how evenly work is shared.

Models, sources and limits are in docs/statistics.md.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import TypeVar

import numpy as np
from scipy import special

from core.messages import Message, message
from reports.statistics.stats import Estimate, Floats, least_squares, log_ratios, t_estimate
from reports.statistics.verdict import Verdict, judge_family

FEWEST_VALUES = 6
MISFIT = 0.01
Key = TypeVar("Key", bound=Hashable)
Blocks = Mapping[int, Mapping[int, float]]  # n -> block -> throughput


class NoFit(ValueError):
    """Values that a law cannot be fitted to, and why."""

    def __init__(self, reason: Message) -> None:
        self.reason = reason
        super().__init__(str(reason))


@dataclass(frozen=True, kw_only=True)
class UslFit:
    """Universal Scalability Law: throughput = rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)).

    rate:  throughput of one, in the unit given
    sigma: share of the work that waits for what only one may use (contention)
    kappa: cost of each pair keeping each other informed (coherency)
    peak:  the n of most throughput; None where the interval of kappa includes 0 or no n above 1 is best
    """

    rate: Estimate
    sigma: Estimate
    kappa: Estimate
    peak: Estimate | None

    def at(self, n: float) -> float:
        """Throughput of *n* by the law, in the unit of its rate."""
        return self.rate.value * n / (1 + self.sigma.value * (n - 1) + self.kappa.value * n * (n - 1))


@dataclass(frozen=True, kw_only=True)
class AmdahlFit:
    """Amdahl's law: throughput = rate * n / (1 + serial * (n - 1)).

    rate:   throughput of one, in the unit given
    serial: share of the work that cannot be done in parallel
    limit:  throughput of any number over that of one, 1/serial; None where the interval of serial includes 0
    """

    rate: Estimate
    serial: Estimate
    limit: Estimate | None

    def at(self, n: float) -> float:
        """Throughput of *n* by the law, in the unit of its rate."""
        return self.rate.value * n / (1 + self.serial.value * (n - 1))


@dataclass(frozen=True, kw_only=True)
class Line:
    """y = intercept + slope * x, both with their intervals."""

    slope: Estimate
    intercept: Estimate


def usl_fit(throughput: Mapping[int, float]) -> UslFit:
    """Universal Scalability Law through the points n -> throughput, by least squares in log throughput.

    throughput: one figure for each of at least 6 values of n, the median over blocks, in any unit of rate
    sigma and kappa may come out below 0: held at 0 or above, the interval of kappa could not tell whether there
    is a peak. Raises NoFit for fewer values, for an n below 1 or a throughput not above 0, where the values say
    nothing of the throughput of one, and where the search for the parameters did not end.
    Source: Gunther (2007), chapter 4; t intervals from the fit's covariance.
    """
    n, rate = _points(throughput)
    values, covariance = _fit(n, rate, [n - 1, n * (n - 1)])
    errors = np.sqrt(np.diag(covariance))
    sigma, kappa = (t_estimate(values[i], errors[i], n.size, 3) for i in (1, 2))
    return UslFit(
        rate=t_estimate(values[0], errors[0], n.size, 3).ratio,
        sigma=sigma,
        kappa=kappa,
        peak=_peak(values, covariance, n.size) if kappa.low > 0 else None,
    )


def amdahl_fit(throughput: Mapping[int, float]) -> AmdahlFit:
    """Amdahl's law through the points n -> throughput; input, method and errors are usl_fit()'s.

    Source: Amdahl (1967).
    """
    n, rate = _points(throughput)
    values, covariance = _fit(n, rate, [n - 1])
    errors = np.sqrt(np.diag(covariance))
    serial = t_estimate(values[1], errors[1], n.size, 2)
    return AmdahlFit(
        rate=t_estimate(values[0], errors[0], n.size, 2).ratio,
        serial=serial,
        limit=_reciprocal(serial) if serial.low > 0 else None,
    )


def lack_of_fit(blocks: Blocks, fit: Callable[[Mapping[int, float]], UslFit | AmdahlFit], parameters: int) -> float:
    """p of "the law holds": how far its curve misses the means, beside the scatter of single cells.

    Logs less what each block has in common. 1 with fewer than 3 blocks that have every n. Raises NoFit like *fit*.
    Source: F test of lack of fit with replicates (Draper and Smith 1998, section 2.1).
    """
    common = sorted(set.intersection(*(set(throughput) for throughput in blocks.values())))
    values = sorted(blocks)
    if len(common) < 3 or len(values) <= parameters:
        return 1.0
    rates = np.log([[blocks[n][block] for block in common] for n in values])
    means = rates.mean(axis=1)
    law = fit({n: exp(mean) for n, mean in zip(values, means, strict=True)})
    missed = float(((means - np.log([law.at(n) for n in values])) ** 2).sum()) * len(common)
    scatter = float(((rates - means[:, None] - rates.mean(axis=0) + rates.mean()) ** 2).sum())
    freedom, of_scatter = len(values) - parameters, (len(values) - 1) * (len(common) - 1)
    if scatter <= 1e-9 * rates.size:  # as exact as whole requests: a law that is off by as little holds
        return float(missed <= 1e-6 * rates.size)
    return float(special.fdtrc(freedom, of_scatter, missed / freedom / (scatter / of_scatter)))


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


def jain_index(shares: Sequence[float]) -> float:
    """How evenly a whole is shared: 1 if all have the same, k/n if k of n share it evenly and the rest have none.

    shares: what each has - requests of each worker, say; none below 0
    Raises ValueError if there are none, one is below 0, or all are 0.
    Source: Jain, Chiu and Hawe (1984): sum(x)**2 / (n * sum(x**2)).
    """
    if not shares or min(shares) < 0 or max(shares) <= 0:
        raise ValueError(f"the shares are {list(shares)}; at least one must be above 0 and none below")
    largest = max(shares)
    scaled = [share / largest for share in shares]
    return sum(scaled) ** 2 / (len(scaled) * sum(share**2 for share in scaled))


def _points(throughput: Mapping[int, float]) -> tuple[Floats, Floats]:
    """The values of n in order and their throughputs, as arrays; checked."""
    if len(throughput) < FEWEST_VALUES:
        why = message(
            "{count} values are too few for a scaling fit; sweep at least {least}",
            count=len(throughput),
            least=FEWEST_VALUES,
        )
        raise NoFit(why)
    for n, rate in throughput.items():
        if n < 1 or not 0 < rate < inf:
            why = message("throughput at {n} is {rate}; n must be at least 1 and throughput above 0", n=n, rate=rate)
            raise NoFit(why)
    n_values = np.array(sorted(throughput), dtype=np.float64)
    return n_values, np.array([throughput[int(n)] for n in n_values], dtype=np.float64)


def _fit(n: Floats, rate: Floats, terms: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Least squares, in log throughput, of rate = exp(r) * n / (1 + sum of b_i * term_i).

    terms: functions of n, each of n's shape
    Returns (r, b_1, ...) and their covariance. Fitted in the law's linear form, n / rate = c_0 + sum of
    c_i * term_i, where the search is short and safe; r = -ln(c_0) and b_i = c_i / c_0 follow.
    """
    from scipy import optimize  # takes 0.2 s to import, and most runs have no law

    columns = np.column_stack([np.ones_like(n), *terms])
    spent = n / rate
    start = np.linalg.lstsq(columns / spent[:, None], np.ones_like(n), rcond=None)[0]

    def log_spent(_: Floats, *fitted: float) -> Floats:
        return np.log(_positive(columns @ np.array(fitted)))

    def slopes(_: Floats, *fitted: float) -> Floats:
        return np.asarray(columns / _positive(columns @ np.array(fitted))[:, None])

    try:
        linear, covariance = optimize.curve_fit(log_spent, n, np.log(spent), p0=start, jac=slopes)
    except RuntimeError as error:
        raise NoFit(message("the search for its parameters did not converge")) from error
    if t_estimate(linear[0], sqrt(covariance[0, 0]), n.size, len(linear)).low <= 0:
        raise NoFit(
            message(
                "under this law these values do not determine the throughput of one; sweep from 1 or close to it "
                "(where throughput falls at the high end, only the Universal Scalability Law can fit)"
            )
        )
    return _relative(linear, covariance)


def _positive(values: Floats) -> Floats:
    """*values*, kept above 0 where a step of the search went out of bounds."""
    return np.maximum(values, 1e-30)


def _relative(linear: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """(-ln(c_0), c_1 / c_0, ...) and their covariance, by the delta method."""
    first = float(linear[0])
    slopes = np.eye(len(linear)) / first
    slopes[:, 0] = -linear / first**2
    slopes[0, 0] = -1 / first
    return np.array([-log(first), *(linear[1:] / first)]), slopes @ covariance @ slopes.T


def _reciprocal(of: Estimate) -> Estimate:
    return Estimate(value=1 / of.value, low=1 / of.high, high=1 / of.low, count=of.count)


def _peak(values: Floats, covariance: Floats, points: int) -> Estimate | None:
    """sqrt((1 - sigma) / kappa) with its interval by the delta method, in logs; None if it is not above 1."""
    sigma, kappa = float(values[1]), float(values[2])
    if sigma >= 1 or (1 - sigma) / kappa <= 1:
        return None
    slopes = np.array([0, -0.5 / (1 - sigma), -0.5 / kappa])
    error = sqrt(float(slopes @ covariance @ slopes))
    return t_estimate(0.5 * log((1 - sigma) / kappa), error, points, 3).ratio
