"""Ratios of the capacities of compared runtimes, with verdicts.

analysis/capacity_search.py finds the capacities. reports/sections/capacity.py shows the ratios. An
interval comes from random draws from the distributions of the two capacities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.capacity_search import AGAIN, Capacity
from analysis.cell_index import grouped, runtimes
from analysis.gates import mixed
from analysis.others import others
from analysis.significance import ALPHA
from analysis.stats import CONFIDENCE
from analysis.steps import steps
from core.messages import NOTHING, Message, message
from record.comparison import DIFFERENT, Word
from record.saved_run import Run

Pair = tuple[Capacity, Capacity]  # the denominator's and the numerator's; not analysis.pairs.Pair
SAME_DIFFERS = message(
    "A/A: two measurements of the same runtime differ, so the difference between runtimes may be "
    "noise"
)


@dataclass(frozen=True, kw_only=True)
class CapacityRatio:
    """The ratio of the capacity of *above* to that of *below*, its 95 % interval, and the verdict.

    is_bracket: whether low and high only enclose the ratio
    why: why faster and slower are withheld; empty if they are not
    """

    below: Capacity
    above: Capacity
    ratio: float
    low: float
    high: float
    verdict: Word
    is_bracket: bool = False
    why: Message = NOTHING


def ratios(run: Run, found: Sequence[Capacity]) -> list[CapacityRatio]:
    """Return the capacity ratio of each pair of compared runtimes, separately for each setting.

    The intervals behind the verdicts are corrected for the number of ratios (Bonferroni), those of
    A/A separately. If A/A differs, or a measurement of a pair is faulty, the verdict is invalid.
    If the search chose the best setting of each arm, arms with different settings are compared.
    """
    plan, same, pairs = run.plan, list[Pair](), list[Pair]()
    for group in grouped(found, lambda one: plan.picks or one.key).values():
        by_arm = {one.arm: one for one in group if one.crossing}
        again = {arm: arm.removesuffix(AGAIN) for arm in by_arm if arm not in run.runtimes}
        for step in steps([name for name in runtimes(run) if name in by_arm], again, run.runtimes):
            (same if step.name == "aa" else pairs).append(
                (by_arm[step.denominator], by_arm[step.numerator])
            )
    of_same = [_ratio(pair, plan.margin, len(same)) for pair in same]
    differs = any(one.verdict in DIFFERENT for one in of_same)
    noise = SAME_DIFFERS if differs else NOTHING
    return [_ratio(pair, plan.margin, len(pairs), noise) for pair in pairs] + of_same


def _ratio(pair: Pair, margin: float, family: int, noise: Message = NOTHING) -> CapacityRatio:
    below, above = pair
    base, found = below.crossing, above.crossing
    assert base
    assert found
    # both have draws from the same random numbers; shuffling one makes them independent
    drawn = np.array(found.draws) / np.random.default_rng(0).permutation(base.draws)
    outside, sure = (1 - CONFIDENCE) / 2, ALPHA / 2 / family
    low, high, sure_low, sure_high = np.quantile(drawn, [outside, 1 - outside, sure, 1 - sure])
    if is_bracket := base.is_bracket or found.is_bracket:
        low, high = min(low, found.low / base.high), max(high, found.high / base.low)
        sure_low, sure_high = min(low, sure_low), max(high, sure_high)
    verdict: Word = "inconclusive"
    if 1 / (1 + margin) <= sure_low and sure_high <= 1 + margin:
        verdict = "equivalent"
    elif sure_low > 1 or sure_high < 1:
        verdict = "faster" if sure_low > 1 else "slower"
    fault, doubt = _fault(pair) or noise, _doubt(pair)
    return CapacityRatio(
        below=below,
        above=above,
        ratio=found.rate / base.rate,
        low=float(low),
        high=float(high),
        verdict="invalid" if fault else "inconclusive" if doubt else verdict,
        is_bracket=is_bracket,
        why=fault or doubt,
    )


def _fault(pair: Pair) -> Message:
    """Return which measurement of two arms is invalid or failed, or how the code changed; empty if
    all are sound.
    """
    return next(
        (one.fault for one in pair if one.faulty),
        mixed([cell for one in pair for cell in one.cells]),
    )


def _doubt(pair: Pair) -> Message:
    """Return why the probes of two arms do not allow a verdict; empty if they do."""
    if any(one.wanted for one in pair):
        return message("the search was stopped before its end")
    seen = others(cell for one in pair for cell in one.cells)
    busy = seen.marks if seen and seen.is_busy else NOTHING
    return next((one.contradiction for one in pair if one.contradiction), busy)
