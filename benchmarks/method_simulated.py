"""Test the statistics on simulated data: python -m benchmarks.method_simulated [--runs N] [--seed
S]

The benchmark simulates comparisons of two arms on machines with realistic noise, judges them with
the functions of the reports, and prints Markdown tables for docs/measurements/statistics.md.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from math import log, nan, sqrt

import numpy as np

from analysis.judging import judge_family, judge_runs, slower_beyond
from analysis.significance import (
    ALPHA,
    ENOUGH,
    EXACT_UP_TO,
    anytime_p,
    dependence,
    depends,
    holm,
    independence_is_known,
    sign_flip_p,
)
from analysis.stats import Floats, log_ratios, totals, unpaired_effect
from benchmarks.bench import options, print_table
from config.orders import block_order
from record.comparison import Verdict

BLOCKS = (10, 20, 30)
FAMILIES = (1, 13, 56)
MOST_LOOKS = 60
SLICES = 10  # of each arm in a block
SECOND_NS = 1e9
Noise = Callable[
    [np.random.Generator, int], tuple[Floats, Floats]
]  # logs of both arms' times, by block


def alike(draw: Callable[[np.random.Generator, int], Floats]) -> Noise:
    """Return noise that is of the same kind in both arms."""
    return lambda rng, blocks: (draw(rng, blocks), draw(rng, blocks))


def slow_cells(
    rng: np.random.Generator, blocks: int, sd: float = 0.03, share: float = 0.05, times: float = 3
) -> Floats:
    """Draw noise with the standard deviation *sd*, in which a *share* of the cells takes *times*
    the time.
    """
    return rng.normal(0, sd, blocks) + log(times) * (rng.random(blocks) < share)


def one_skewed(rng: np.random.Generator, blocks: int) -> tuple[Floats, Floats]:
    """Draw exponential noise of 3 % for the second arm and normal noise of 1 % for the first, with
    the same means.
    """
    return rng.normal(0, 0.01, blocks), rng.exponential(0.03, blocks) + log(1 - 0.03)


def wandering(coefficient: float) -> Noise:
    """Return noise in which the ratio is an AR(1) process with an sd of 3 %."""

    return lambda rng, blocks: (np.zeros(blocks), autocorrelated(rng, blocks, coefficient))


def autocorrelated(rng: np.random.Generator, count: int, coefficient: float) -> Floats:
    """Draw an AR(1) process with an sd of 3 %."""
    shocks = rng.normal(0, 0.03 * sqrt(1 - coefficient**2), count + 100)
    return np.fromiter(accumulate(shocks, lambda last, shock: coefficient * last + shock), float)[
        100:
    ]


def of_machine(rng: np.random.Generator, count: int, drift: float, coefficient: float) -> Floats:
    """Draw noise of *count* measurements with an sd of 2 %, a drift, and AR(1) noise if
    *coefficient* is given.
    """
    logs = rng.normal(0, 0.02, count) + np.linspace(0, log(1 + drift), count)
    return logs + autocorrelated(rng, count, coefficient) if coefficient else logs


def in_order(
    rng: np.random.Generator,
    blocks: int,
    *,
    drift: float = 0,
    carried: float = 0,
    coefficient: float = 0,
) -> tuple[Floats, Floats]:
    """Draw cells in the order in which a run measures them.

    drift: change of the times over the whole run
    carried: share of additional time that a cell takes if it follows a cell of the first arm
    coefficient: coefficient of the machine's AR(1) noise, sd 3 %
    """
    seed = int(rng.integers(2**31))
    arms = np.array([arm for block in range(1, blocks + 1) for arm in block_order(2, block, seed)])
    logs = of_machine(rng, 2 * blocks, drift, coefficient)
    logs[1:] += log(1 + carried) * (arms[:-1] == 0)
    return logs[arms == 0], logs[arms == 1]


def in_slices(
    rng: np.random.Generator,
    blocks: int,
    *,
    drift: float = 0,
    carried: float = 0,
    coefficient: float = 0,
    burst_s: float = 0,
) -> tuple[Floats, Floats]:
    """Draw two arms that alternate in slices of 0.1 s, SLICES per arm and block.

    The sd is 1 % between the processes of blocks and 2 % between slices.
    drift, carried, coefficient: as for in_order(), with slices in place of cells
    burst_s: mean length of bursts in which other work stops everything, once in 2 s
    """
    count, arms = 2 * SLICES * blocks, np.zeros((2, blocks))
    machine = of_machine(rng, count, drift, coefficient)
    lost = (
        np.array([rng.exponential(burst_s, bursts).sum() for bursts in rng.poisson(0.05, count)])
        / 0.1
    )
    machine -= np.log1p(-np.minimum(lost, 0.9))
    seed = int(rng.integers(2**31))
    for block in range(blocks):
        order = np.array(
            [arm for turn in range(SLICES) for arm in block_order(2, turn + 1, seed + block)]
        )
        logs = machine[2 * SLICES * block : 2 * SLICES * (block + 1)].copy()
        logs += log(1 + carried) * (
            np.append(order[0], order[:-1]) == 0
        )  # the first arm was warmed up last
        speeds = [np.exp(-logs[order == arm]).mean() for arm in (0, 1)]
        arms[:, block] = rng.normal(0, 0.01, 2) - np.log(speeds)
    return arms[0], arms[1]


CASES: Mapping[str, Noise] = {
    "normal, sd 3 %": alike(lambda rng, blocks: rng.normal(0, 0.03, blocks)),
    "heavy tails (Student t, 2)": alike(lambda rng, blocks: 0.02 * rng.standard_t(2, blocks)),
    "5 % of cells 3 x slow": alike(slow_cells),
    "two humps, 10 % apart": alike(
        lambda rng, blocks: 0.1 * rng.integers(0, 2, blocks) + rng.normal(0, 0.01, blocks)
    ),
    "unequal variance, 1 % and 6 %": lambda rng, blocks: (
        rng.normal(0, 0.01, blocks),
        rng.normal(0, 0.06, blocks),
    ),
    "ties, in steps of 2 %": alike(
        lambda rng, blocks: 0.02 * np.rint(rng.normal(0, 0.03, blocks) / 0.02)
    ),
    "AR(1) 0.8 of the machine": partial(in_order, coefficient=0.8),
    "AR(1) 0.5 of the ratio": wandering(0.5),
    "AR(1) 0.8 of the ratio": wandering(0.8),
    "drift of 20 %": partial(in_order, drift=0.2),
    "one arm skewed; covered: total time": one_skewed,
    "carry-over of 5 %": partial(in_order, carried=0.05),
    "slices: AR(1) 0.95 of the machine": partial(in_slices, coefficient=0.95),
    "slices: drift of 20 %": partial(in_slices, drift=0.2),
    "slices: bursts": partial(in_slices, burst_s=0.03),
    "slices: carry-over of 5 %": partial(in_slices, carried=0.05),
    # The mean time of the second arm is 20 % higher, but its median is the same.
    "a fifth of one arm's cells 2 x slow": lambda rng, blocks: (
        rng.normal(0, 0.01, blocks),
        slow_cells(rng, blocks, sd=0.01, share=0.2, times=2),
    ),
}


def judged(below: Floats, above: Floats) -> Verdict:
    """Return the verdict of a run with the log times *below* and *above* of its two arms."""
    first, second = (dict(enumerate(SECOND_NS * np.exp(arm))) for arm in (below, above))
    return judge_family({0: log_ratios(first, second)}, totals={0: totals(first, second)})[0]


def shares(
    runs: int, seed: Sequence[int], trial: Callable[[np.random.Generator], Sequence[float]]
) -> list[str]:
    """Return for each outcome of *trial* the share of simulated runs that have it; '-' if no run
    decides it.

    trial: simulates a run; each of its outcomes is true, false, or NaN if the run does not decide
        it
    """
    rng = np.random.default_rng(seed)
    outcomes = np.array([trial(rng) for _ in range(runs)], float).T
    return [*map(_share_text, outcomes)]


def _share_text(outcome: Floats) -> str:
    return percent(float(np.nanmean(outcome))) if np.isfinite(outcome).any() else "-"


def covers(verdict: Verdict) -> bool:
    """Return whether the interval of the ratio contains 1."""
    return (verdict.low or 0) <= 1 <= (verdict.high or 0)


def tells_apart(verdict: Verdict) -> bool:
    return verdict.verdict in ("faster", "slower")


def case_row(name: str, blocks: int, runs: int, seed: int) -> Sequence[str]:
    """Return a row: coverage and verdicts if the arms are equal, verdicts if one is 5 % faster, and
    the check's result.

    The last column is the share of runs without a passed check among those with a false verdict or
    without coverage.
    """

    def trial(rng: np.random.Generator) -> Sequence[float]:
        below, above = CASES[name](rng, blocks)
        same, faster = judged(below, above), judged(below + log(1.05), above)
        seen = dependence(dict(enumerate(below - above)))
        is_right = covers(same) and not tells_apart(same)
        return (
            covers(same), tells_apart(same), same.verdict == "equivalent",
            faster.verdict == "faster", faster.verdict == "equivalent", depends(seen),
            nan if is_right else not independence_is_known(seen, blocks),
        )  # fmt: skip

    return name, str(blocks), *shares(runs, [seed, blocks], trial)


def looking_row(family: int, runs: int, seed: int) -> Sequence[str]:
    """Return a row: the share of runs with a false verdict if a family is judged after every block,
    up to 60.
    """
    needed = []

    def trial(rng: np.random.Generator) -> Sequence[float]:
        values = 0.05 * rng.standard_t(3, (family, MOST_LOOKS))
        flips = (
            any(sign_flip_p(values[0][:end]) <= ALPHA for end in range(6, EXACT_UP_TO + 1))
            if family == 1
            else nan
        )
        found = min(holm([anytime_p(row) for row in values])) <= ALPHA
        true = rng.normal(0.05, 0.05, MOST_LOOKS)
        enough = (end for end in range(1, MOST_LOOKS) if family * anytime_p(true[:end]) <= ALPHA)
        needed.append(next(enough, MOST_LOOKS))
        return flips, found

    found = shares(runs, [seed, family], trial)
    return str(family), *found, f"{np.median(needed):.0f}", f"{np.quantile(needed, 0.8):.0f}"


def unpaired_row(offset: float, blocks: int, runs: int, seed: int) -> Sequence[str]:
    """Return a row for pairs of runs that differ by a random *offset*: coverage, faster or slower,
    5 % slower.
    """

    def trial(rng: np.random.Generator) -> Sequence[float]:
        logs = [offset * shift + rng.normal(0, 0.02, blocks) for shift in rng.standard_normal(2)]
        first, second = (np.rint(SECOND_NS * np.exp(one)).astype(int).tolist() for one in logs)
        seen, verdict = unpaired_effect(first, second), judge_runs({0: (first, second)})[0]
        return seen.low <= 0 <= seen.high, tells_apart(verdict), slower_beyond(verdict, 0.05)

    return percent(offset), str(blocks), *shares(runs, [seed, blocks, 4], trial)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables. --runs: simulated runs per row; --seed: seed of all random numbers"""
    given = options(__doc__, words=words, runs=1000, seed=1)
    runs, seed = given.runs, given.seed
    half, quarter = max(1, runs // 2), max(1, runs // 4)
    known = [(name, ENOUGH) for name in CASES if name.endswith("of the ratio")]
    rows = [*((name, blocks) for name in CASES for blocks in BLOCKS), *known]
    print_table(
        "noise | blocks | covered | alike: faster or slower | alike: equivalent | 5 % faster: "
        "faster | 5 % faster: equivalent | check warns | wrong: check does not pass",
        (case_row(name, blocks, runs, seed) for name, blocks in rows),
    )
    print_table(
        "family | sign flips, to 32 | any time, to 60 | blocks to find 5 %: median | 80 %",
        (looking_row(family, {1: runs}.get(family, quarter), seed) for family in FAMILIES),
    )
    print_table(
        "offset of each run | blocks | covered | faster or slower | slower beyond 5 %",
        (unpaired_row(offset, blocks, half, seed) for offset in (0.0, 0.02) for blocks in BLOCKS),
    )


if __name__ == "__main__":
    main()
