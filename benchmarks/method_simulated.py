"""What the statistics hold when the truth is known: python -m benchmarks.method_simulated [--runs N] [--seed S]

Simulates whole runs - 13 cells, 4 arms, random order inside each block - on a machine with heavy tails, drift,
autocorrelation and stalls, judges them with the functions the report uses, and prints Markdown tables for
docs/statistics.md: false verdicts where arms are alike, coverage and power where they are not.
--calibrate prints the widening factors of reports/statistics/stats.py instead.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import expm1, log, sqrt

import numpy as np
import numpy.typing as npt
from scipy import signal

from reports.statistics.evidence import Evidence, word_for
from reports.statistics.significance import holm, sign_flip_p
from reports.statistics.stats import (
    BOOTSTRAP_SEED,
    RESAMPLES,
    Estimate,
    Floats,
    unpaired_effect,
    widening,
)
from reports.statistics.verdict import judge_runs, slower_beyond

CELLS = 13
ARMS = 4
BLOCKS = (3, 5, 10, 20)
EFFECTS = (0.02, 0.05, 0.10, 0.20)
PROBES = 4
TYPICAL_NS = 2_000_000_000
STEPS = ((0, 1), (1, 2), (2, 3), (0, 3))
FAMILIES = (CELLS, CELLS * len(STEPS))

CALIBRATION_HEAD = (
    "blocks | factor | plain, normal | drawn out: normal | Student t, 3 | Laplace | uniform | exponential"
)
FALSE_HEAD = "machine | blocks | comparisons, each alone | runs: any of one step's 13 | any of all 52"
POWER_HEAD = (
    "machine | blocks | true effect | covered | half-width"
    " | faster | equivalent | inconclusive | slower | faster, of 13 | of 52"
)
UNPAIRED_HEAD = "offset of each run | blocks | covered | faster or slower | slower beyond 5 %"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """How times scatter, as shares of a time.

    jitter: scale of Student's t with 3 degrees of freedom, one draw per measurement
    wander: standard deviation of an AR(1) process over measurements in their order, coefficient 0.8
    drift:  rise from the first measurement of a run to its last
    stalls: share of measurements that are held up, by 25 % on average (exponential)
    uneven: how many times as often the numerator's are held up
    """

    name: str
    jitter: float
    wander: float
    drift: float
    stalls: float
    uneven: float = 1


QUIET = Machine(name="quiet", jitter=0.01, wander=0.01, drift=0.05, stalls=0.01)
NOISY = Machine(name="noisy", jitter=0.03, wander=0.04, drift=0.20, stalls=0.05)
UNEVEN = replace(NOISY, name="noisy, numerator stalls 4 x as often", uneven=4)


def simulated(rng: np.random.Generator, machine: Machine, blocks: int) -> Floats:
    """Log times of one run in which all arms are alike, shape (ARMS, CELLS, blocks); arm 1 is uneven."""
    slots = CELLS * ARMS
    order = rng.random((blocks, slots)).argsort(axis=1)
    held_up = machine.stalls * np.repeat([1, machine.uneven, *[1] * (ARMS - 2)], CELLS)
    logs = np.take_along_axis(_weather(rng, machine, blocks * slots).reshape(blocks, slots), order, axis=1)
    logs += machine.jitter * rng.standard_t(3, size=logs.shape)
    logs += np.log1p(rng.exponential(0.25, size=logs.shape)) * (rng.random(logs.shape) < held_up)
    return logs.reshape(blocks, ARMS, CELLS).transpose(1, 2, 0)


def _weather(rng: np.random.Generator, machine: Machine, moments: int) -> Floats:
    """What the machine does to whatever runs at each moment, in log time: drift and AR(1), shape (moments,)."""
    shocks = rng.standard_normal(moments + 100)
    wander = signal.lfilter([sqrt(1 - 0.8**2)], [1, -0.8], shocks)[100:]
    return np.asarray(np.linspace(0, log(1 + machine.drift), moments) + machine.wander * wander)


def effects(log_ratios: Floats) -> list[Estimate]:
    """reports.statistics.stats.effect() of each row of *log_ratios*, shape (cells, blocks), at a fiftieth of its cost.

    A test holds the two to the same figures.
    """
    blocks = log_ratios.shape[1]
    middles = np.median(log_ratios, axis=1)
    lows, highs = middles + widening(blocks) * (bootstrap_ends(log_ratios) - middles)
    return [
        Estimate(value=middle, low=low, high=high, count=blocks)
        for low, middle, high in zip(lows.tolist(), middles.tolist(), highs.tolist(), strict=True)
    ]


def bootstrap_ends(log_ratios: Floats) -> Floats:
    """Ends of effect()'s percentile bootstrap before widening, shape (2, cells).

    The median of a resample is that of its indices into the sorted values, so the resamples fall into few kinds,
    the same for every sample of that size.
    """
    kinds, counts = _kinds(log_ratios.shape[1])
    medians = np.sort(log_ratios, axis=1)[:, kinds].mean(axis=2)
    order = medians.argsort(axis=1)
    ranked = np.take_along_axis(medians, order, axis=1)
    seen = counts[order].cumsum(axis=1)
    return np.array([_quantile(ranked, seen, tail) for tail in (0.025, 0.975)])


@cache
def _kinds(blocks: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The two middle indices of each kind of resample, shape (kinds, 2), and how many resamples are of it."""
    indices = np.random.default_rng(BOOTSTRAP_SEED).integers(0, blocks, (RESAMPLES, blocks))
    indices.sort(axis=1)
    return np.unique(indices[:, [(blocks - 1) // 2, blocks // 2]], axis=0, return_counts=True)


def _quantile(ranked: Floats, seen: npt.NDArray[np.int64], tail: float) -> Floats:
    """Quantile of each row of *ranked*, of which *seen* resamples are at most as large, as numpy.percentile has it."""
    rank = tail * (RESAMPLES - 1)
    rows = np.arange(len(ranked))
    at, after = (ranked[rows, (seen <= int(rank) + step).sum(axis=1)] for step in (0, 1))
    return np.asarray(at + (rank - int(rank)) * (after - at))


def calibrated_widening(blocks: int, samples: int = 40_000) -> float:
    """Factor that makes effect()'s interval of *blocks* values cover 0 in 95 % of normal samples around it."""
    values = np.random.default_rng(blocks).standard_normal((samples, blocks))
    middles = np.median(values, axis=1)
    lows, highs = bootstrap_ends(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(middles > 0, middles / (middles - lows), middles / (middles - highs))
    return float(np.nanquantile(needed, 0.95))


def calibration_rows(samples: int = 20_000) -> Iterator[Sequence[str]]:
    """One row per number of blocks: the factor, and coverage with and without it for several kinds of noise."""
    for blocks in (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40):
        rng = np.random.default_rng([1, blocks])
        shape = (samples, blocks)
        kinds = (
            rng.standard_normal(shape),
            rng.standard_t(3, shape),
            rng.laplace(size=shape),
            rng.uniform(-1, 1, shape),
            rng.exponential(size=shape) - log(2),
        )
        plain = percent(covered(kinds[0], 1))
        factor = widening(blocks)
        yield str(blocks), f"{factor:.2f}", plain, *(percent(covered(kind, factor)) for kind in kinds)


def covered(values: Floats, factor: float) -> float:
    """Share of samples, shape (samples, blocks), whose interval, drawn out by *factor*, holds a true median of 0."""
    middles = np.median(values, axis=1)
    lows, highs = middles + factor * (bootstrap_ends(values) - middles)
    return float(np.mean((lows <= 0) & (highs >= 0)))


def words_for(seen: Sequence[Estimate], adjusted: Sequence[float]) -> list[str]:
    """The verdict on each effect with its p."""
    return [word_for(Evidence(effect=one, p=p)) for one, p in zip(seen, adjusted, strict=True)]


def claims(seen: Sequence[Estimate], adjusted: Sequence[float]) -> int:
    """How many are called faster or slower."""
    return sum(word in ("faster", "slower") for word in words_for(seen, adjusted))


def false_verdicts(rng: np.random.Generator, machine: Machine, blocks: int, runs: int) -> Floats:
    """Where all arms are alike: share of faster or slower among comparisons judged alone, shares of runs with any.

    The two shares of runs: with the 13 cells of one step as the family, and with all 52 comparisons of the report.
    """
    counts = np.zeros(3)
    for _ in range(runs):
        arms = simulated(rng, machine, blocks)
        values = np.concatenate([arms[first] - arms[second] for first, second in STEPS])
        seen, ps = effects(values), [sign_flip_p(row) for row in values]
        step, report = claims(seen[:CELLS], holm(ps[:CELLS])), claims(seen, holm(ps))
        counts += claims(seen, ps) / len(seen), step > 0, report > 0
    return counts / runs


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How often, as shares, the interval held the truth and each verdict fell; half_width is the median one.

    among: share called faster as the smallest p of a family of that size
    """

    covered: float
    half_width: float
    alone: Mapping[str, float]
    among: Mapping[int, float]


def outcome(rng: np.random.Generator, machine: Machine, blocks: int, faster_by: float, runs: int) -> Outcome:
    """Judge PROBES cells of each run, arm 1 *faster_by* that share: alone, and as the smallest p of 13 and of 52."""
    values = np.concatenate([_probes(rng, machine, blocks) for _ in range(runs)]) + log(1 + faster_by)
    truth = log(1 + faster_by) + uneven_shift(machine)
    seen, ps = effects(values), [sign_flip_p(row) for row in values]
    words = Counter(words_for(seen, ps))
    return Outcome(
        covered=sum(one.low <= truth <= one.high for one in seen) / len(seen),
        half_width=float(np.median([one.half_width for one in seen])),
        alone={word: count / len(seen) for word, count in words.items()},
        among={
            family: words_for(seen, [min(1, family * p) for p in ps]).count("faster") / len(seen) for family in FAMILIES
        },
    )


def _probes(rng: np.random.Generator, machine: Machine, blocks: int) -> Floats:
    """Log-ratios of arm 0 over arm 1 of a run's first cells, shape (PROBES, blocks)."""
    arms = simulated(rng, machine, blocks)
    return arms[0, :PROBES] - arms[1, :PROBES]


@cache
def uneven_shift(machine: Machine) -> float:
    """Median log-ratio that unequal stalls alone make, from a quarter of a million pairs; 0 where they are equal."""
    if machine.uneven == 1:
        return 0.0
    arms = simulated(np.random.default_rng(1), machine, 20_000)
    return float(np.median(arms[0] - arms[1]))


def unpaired_outcome(rng: np.random.Generator, blocks: int, offset: float, runs: int) -> Floats:
    """Of pairs of saved runs alike but for a random *offset* of each: shares covered, told apart, 5 % slower."""
    counts = np.zeros(3)
    for _ in range(runs):
        logs = [simulated(rng, QUIET, blocks)[0, 0] + offset * shift for shift in rng.standard_normal(2)]
        first, second = (np.rint(TYPICAL_NS * np.exp(one)).astype(int).tolist() for one in logs)
        seen, verdict = unpaired_effect(first, second), judge_runs({0: (first, second)})[0]
        apart = verdict.verdict in ("faster", "slower")
        counts += seen.low <= 0 <= seen.high, apart, slower_beyond(verdict, 0.05)
    return counts / runs


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def false_rows(seed: int, runs: int) -> Iterator[Sequence[str]]:
    """One row per machine and number of blocks."""
    for machine in (QUIET, NOISY):
        for blocks in BLOCKS:
            rng = np.random.default_rng([seed, blocks])
            yield machine.name, str(blocks), *map(percent, false_verdicts(rng, machine, blocks, runs))


def power_rows(seed: int, runs: int) -> Iterator[Sequence[str]]:
    """One row per machine, number of blocks and true effect."""
    for machine, true_effects in ((QUIET, EFFECTS), (NOISY, EFFECTS), (UNEVEN, EFFECTS[1:2])):
        for blocks in BLOCKS:
            for faster_by in true_effects:
                rng = np.random.default_rng([seed, blocks, round(1000 * faster_by)])
                seen = outcome(rng, machine, blocks, faster_by, runs)
                yield machine.name, str(blocks), f"{faster_by:.0%}", *_figures(seen)


def _figures(seen: Outcome) -> Sequence[str]:
    shares = [seen.alone.get(word, 0) for word in ("faster", "equivalent", "inconclusive", "slower")]
    return (
        percent(seen.covered),
        f"±{percent(expm1(seen.half_width))}",
        *map(percent, shares),
        *map(percent, seen.among.values()),
    )


def unpaired_rows(seed: int, runs: int) -> Iterator[Sequence[str]]:
    """One row per number of blocks, for saved runs with and without an offset of their own."""
    for offset in (0.0, 0.02):
        for blocks in BLOCKS:
            rng = np.random.default_rng([seed, blocks])
            yield percent(offset), str(blocks), *map(percent, unpaired_outcome(rng, blocks, offset, runs))


def table(head: str, rows: Iterator[Sequence[str]]) -> str:
    """A Markdown table. head: titles, parted by |"""
    titles = [title.strip() for title in head.split("|")]
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, ["---"] * len(titles), *rows)) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or the factors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs",
        type=int,
        default=500,
        help="simulated runs per row of (b); (a) has twice as many, (c) a fifth (500)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of all randomness (1)")
    parser.add_argument(
        "--calibrate", action="store_true", help="print the widening factors of 3 to 40 blocks, and what they do"
    )
    chosen = parser.parse_args(arguments)
    if chosen.calibrate:
        print(", ".join(f"{calibrated_widening(blocks):.2f}" for blocks in range(3, 41)) + "\n")
        print(table(CALIBRATION_HEAD, calibration_rows()))
        return
    runs, seed = chosen.runs, chosen.seed
    print(f"**(a) Arms alike, {2 * runs} runs a row: called faster or slower**\n")
    print(table(FALSE_HEAD, false_rows(seed, 2 * runs)))
    print(f"**(b) True effects, {runs} runs of {PROBES} such cells a row: coverage and verdicts**\n")
    print(table(POWER_HEAD, power_rows(seed, runs)))
    print(f"**(c) Two saved runs that are alike, unpaired, {runs // 5} pairs a row**\n")
    print(table(UNPAIRED_HEAD, unpaired_rows(seed, max(1, runs // 5))))


if __name__ == "__main__":
    main()
