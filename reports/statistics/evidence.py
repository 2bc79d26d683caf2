"""What a verdict rests on, the word that follows from it, and why.

docs/statistics.md says what each word claims and how the number of blocks still needed is estimated.
"""

from dataclasses import dataclass
from math import exp, expm1, isinf, log1p
from typing import Literal

import numpy as np
from scipy import stats

from reports.statistics.significance import ALPHA, fewest_blocks
from reports.statistics.stats import CONFIDENCE, FEWEST_FOR_INTERVAL, Estimate, Floats

Word = Literal["faster", "slower", "equivalent", "inconclusive", "invalid"]

MARGIN = 0.03
MOST_MARGIN = 0.10
POWER = 0.8
MOST_BLOCKS = 1000


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a verdict rests on.

    effect: log-ratio with its interval
    p:      two-sided, adjusted for a family of *family* comparisons
    margin: share that counts as no difference: 0.03 is a ratio from 1/1.03 to 1.03
    fewest: number of blocks below which p cannot reach ALPHA
    """

    effect: Estimate
    p: float
    margin: float = MARGIN
    family: int = 1
    fewest: int = fewest_blocks(1)

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p is {self.p}; it must lie between 0 and 1")
        if not self.margin > 0:
            raise ValueError(f"the margin is {self.margin}; it must be above 0, 0.03 for 3 %")


def equivalence_margin(aa: Estimate | None, *, least: float = MARGIN, most: float = MOST_MARGIN) -> float:
    """Share that counts as no difference: the half-width of the A/A interval, but from *least* to *most*.

    aa: log-ratio of one arm to itself, with its interval; without one, or without an interval, *least* stands
    Without *most* a machine too noisy to tell anything would call a 20 % difference equivalent.
    """
    if aa is None or isinf(aa.half_width):
        return least
    return min(most, max(least, expm1(aa.half_width)))


def word_for(evidence: Evidence) -> Word:
    """The verdict's one word, by interval and p."""
    seen, inside = evidence.effect, log1p(evidence.margin)
    if -inside <= seen.low and seen.high <= inside:
        return "equivalent"
    if evidence.p <= ALPHA and exp(seen.low) > 1:
        return "faster"
    if evidence.p <= ALPHA and exp(seen.high) < 1:
        return "slower"
    return "inconclusive"


def why_for(word: Word, evidence: Evidence) -> str:
    """One sentence: why *word* follows from *evidence*, and how many blocks are still needed where it is no verdict."""
    seen = evidence.effect
    if word == "inconclusive":
        return f"{obstacle(evidence)}; {_still_needed(evidence)}"
    if word == "equivalent":
        real = evidence.p <= ALPHA and not seen.low <= 0 <= seen.high
        smaller = f"; a smaller difference is there ({_p_text(evidence)})" if real else ""
        return f"the interval {_span(seen)} lies inside {_margin_text(evidence)}{smaller}"
    return f"the interval {_span(seen)} leaves out 1 and {_p_text(evidence)}"


def obstacle(evidence: Evidence) -> str:
    """What keeps *evidence* from a verdict, in words."""
    seen = evidence.effect
    if seen.count < FEWEST_FOR_INTERVAL:
        return f"{_count(seen.count)} cannot have an interval"
    if seen.count < evidence.fewest:
        return f"{_count(seen.count)} cannot bring p to {ALPHA}{_adjusted_text(evidence)}"
    if seen.low <= 0 <= seen.high:
        return f"the interval {_span(seen)} holds 1 and reaches beyond {_margin_text(evidence)}"
    return f"the interval {_span(seen)} leaves out 1 but {_p_text(evidence)}, above {ALPHA}"


def _still_needed(evidence: Evidence) -> str:
    total = blocks_needed(evidence)
    if total is None:
        return f"more than {MOST_BLOCKS} blocks are needed at this spread"
    return f"about {total - evidence.effect.count} more are needed, {total} blocks in all"


def blocks_needed(evidence: Evidence) -> int | None:
    """Blocks in all that end, with 80 % chance, in a verdict; None if more than 1000.

    Supposes that the effect is as seen and that the half-width shrinks as t(blocks - 1) / sqrt(blocks).
    Either the interval must leave out 1, at the family's sharper level, or lie inside the margin.
    Source: sample size of a paired t test; docs/statistics.md.
    """
    seen = evidence.effect
    if isinf(seen.half_width):
        return max(evidence.fewest, seen.count + 1)
    blocks = np.arange(seen.count + 1, MOST_BLOCKS + 1)
    half_width = seen.half_width * _width(blocks) / _width(np.array([seen.count]))
    shares = ((1 + CONFIDENCE) / 2, 1 - ALPHA / 2 / evidence.family, POWER)
    usual, sharper, power = (float(stats.norm.ppf(share)) for share in shares)
    differs = half_width * (sharper + power) / usual <= abs(seen.value)
    alike = half_width * (usual + power) / usual <= log1p(evidence.margin) - abs(seen.value)
    enough = blocks[(differs & (blocks >= evidence.fewest)) | alike]
    return int(enough[0]) if enough.size else None


def _width(blocks: np.ndarray[tuple[int], np.dtype[np.int_]]) -> Floats:
    """Half-width of a 95 % interval of a mean of *blocks* values, in their standard deviations."""
    return np.asarray(stats.t.ppf((1 + CONFIDENCE) / 2, blocks - 1) / np.sqrt(blocks))


def _span(seen: Estimate) -> str:
    return f"{exp(seen.low):.3g} to {exp(seen.high):.3g}"


def _count(blocks: int) -> str:
    return f"{blocks} block{'s' * (blocks != 1)}"


def _margin_text(evidence: Evidence) -> str:
    return f"±{100 * evidence.margin:.2g} %"


def _p_text(evidence: Evidence) -> str:
    return f"p is {evidence.p:.2g}{_adjusted_text(evidence)}"


def _adjusted_text(evidence: Evidence) -> str:
    return f" adjusted for {evidence.family} comparisons" if evidence.family > 1 else ""
