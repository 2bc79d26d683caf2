"""What a verdict rests on, the word that follows from it, and why.

docs/statistics.md says what each word claims and how the number of blocks still needed is estimated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, isinf, log1p
from typing import Literal

import numpy as np
from scipy import special

from core.messages import NOTHING, Message, message, plural
from reports.statistics.significance import ALPHA, fewest_blocks
from reports.statistics.stats import CONFIDENCE, FEWEST_FOR_INTERVAL, Estimate, Floats

Word = Literal["faster", "slower", "equivalent", "inconclusive", "invalid"]

WORDS: Mapping[str, Message] = {
    "faster": message("faster"),
    "slower": message("slower"),
    "equivalent": message("equivalent"),
    "inconclusive": message("inconclusive"),
    "invalid": message("invalid"),
}
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


def why_for(word: Word, evidence: Evidence) -> Message:
    """Why *word* follows from *evidence*, and how many blocks are still needed where it is no verdict."""
    seen, p = evidence.effect, _p(evidence)
    if word == "inconclusive":
        return message("{obstacle}; {needed}", obstacle=obstacle(evidence), needed=_still_needed(evidence))
    if word != "equivalent":
        return message("the interval {interval} excludes 1, and {p}", interval=_interval(seen), p=p)
    inside = message("the interval {interval} lies within {margin}", interval=_interval(seen), margin=_margin(evidence))
    if evidence.p > ALPHA or seen.low <= 0 <= seen.high:
        return inside
    return message("{inside}; there is a smaller difference ({p})", inside=inside, p=p)


def obstacle(evidence: Evidence) -> Message:
    """What keeps *evidence* from a verdict."""
    seen = evidence.effect
    few = plural("{count} block", "{count} blocks", count=seen.count)
    if seen.count < FEWEST_FOR_INTERVAL:
        return message("{blocks} cannot give an interval", blocks=few)
    if seen.count < evidence.fewest:
        adjusted = _adjusted(evidence)
        return message("{blocks} cannot bring p to {alpha}{adjusted}", blocks=few, alpha=ALPHA, adjusted=adjusted)
    if seen.low <= 0 <= seen.high:
        return message(
            "the interval {interval} includes 1 and reaches beyond {margin}",
            interval=_interval(seen), margin=_margin(evidence),
        )  # fmt: skip
    seen_, p = _interval(seen), _p(evidence)
    return message("the interval {interval} excludes 1, but {p}, above {alpha}", interval=seen_, p=p, alpha=ALPHA)


def _still_needed(evidence: Evidence) -> Message:
    total = blocks_needed(evidence)
    if total is None:
        return message("at this spread more than {most} blocks are needed", most=MOST_BLOCKS)
    more = total - evidence.effect.count
    return message("about {more} more are needed, {total} blocks in all", more=more, total=total)


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
    usual, sharper, power = (float(special.ndtri(share)) for share in shares)
    differs = half_width * (sharper + power) / usual <= abs(seen.value)
    alike = half_width * (usual + power) / usual <= log1p(evidence.margin) - abs(seen.value)
    enough = blocks[(differs & (blocks >= evidence.fewest)) | alike]
    return int(enough[0]) if enough.size else None


def _width(blocks: np.ndarray[tuple[int], np.dtype[np.int_]]) -> Floats:
    """Half-width of a 95 % interval of a mean of *blocks* values, in their standard deviations."""
    return np.asarray(special.stdtrit(blocks - 1, (1 + CONFIDENCE) / 2) / np.sqrt(blocks))


def _interval(seen: Estimate) -> Message:
    return message("{low:.3g} to {high:.3g}", low=exp(seen.low), high=exp(seen.high))


def _margin(evidence: Evidence) -> Message:
    return message("±{percent:.2g} %", percent=100 * evidence.margin)


def _p(evidence: Evidence) -> Message:
    return message("p is {p:.2g}{adjusted}", p=evidence.p, adjusted=_adjusted(evidence))


def _adjusted(evidence: Evidence) -> Message:
    return message(" adjusted for {count} comparisons", count=evidence.family) if evidence.family > 1 else NOTHING
