"""What a verdict rests on, the word that follows from it, and why.

docs/statistics.md says what each word claims and how the number of blocks still needed is estimated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, exp, inf, log1p
from typing import Literal

from scipy import special

from core.messages import NOTHING, Message, message, plural
from core.saved import SavedPlan
from reports.statistics.significance import ALPHA, fewest_blocks
from reports.statistics.stats import CONFIDENCE, FEWEST_FOR_INTERVAL, Estimate

Word = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]

WORDS: Mapping[str, Message] = {
    "faster": message("faster"),
    "slower": message("slower"),
    "equivalent": message("equivalent"),
    "inconclusive": message("inconclusive"),
    "invalid": message("invalid"),
    "unjudged": message("not judged"),
}
MARGIN = SavedPlan.margin
POWER = 0.8
MOST_BLOCKS = 1000
MOST_FEW, MOST_DOZENS = 11, 99
FEW, DOZENS, HUNDREDS = message("a few"), message("dozens"), message("hundreds")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a verdict rests on.

    effect: log-ratio with its interval; total: of total times, None where there are none (a percentile has no total)
    p:      two-sided, of "no difference", adjusted for a family of *family* comparisons
    p_outside: of "a difference of the margin or more", adjusted likewise
    margin: share that counts as no difference: 0.03 is a ratio from 1/1.03 to 1.03
    fewest: number of blocks below which p cannot reach ALPHA
    """

    effect: Estimate
    p: float
    total: Estimate | None = None
    p_outside: float = 0.0
    margin: float = MARGIN
    family: int = 1
    fewest: int = fewest_blocks(1)

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p is {self.p}; it must lie between 0 and 1")
        if not self.margin > 0:
            raise ValueError(f"the margin is {self.margin}; it must be above 0, 0.03 for 3 %")

    @property
    def is_inside(self) -> bool:
        """Whether the ratio, by its whole interval, differs from 1 by less than the margin."""
        return _is_inside(self.effect, self.margin)

    @property
    def is_total_inside(self) -> bool:
        """Whether total time does."""
        return self.total is None or _is_inside(self.total, self.margin)


def _is_inside(of: Estimate, margin: float) -> bool:
    return of.count >= FEWEST_FOR_INTERVAL and -log1p(margin) <= of.low and of.high <= log1p(margin)


def word_for(evidence: Evidence) -> Word:
    """The verdict's one word, by intervals and p."""
    seen = evidence.effect
    if evidence.is_inside and evidence.is_total_inside and evidence.p_outside <= ALPHA:
        return "equivalent"
    if seen.count >= evidence.fewest and evidence.p <= ALPHA:
        if exp(seen.low) > 1:
            return "faster"
        if exp(seen.high) < 1:
            return "slower"
    return "inconclusive"


def why_for(word: Word, evidence: Evidence) -> Message:
    """Why *word* follows from *evidence*, and about how many blocks are still needed where it is no verdict."""
    seen, p = evidence.effect, _p(evidence.p, evidence)
    if word == "inconclusive":
        return message("{obstacle}; {needed}", obstacle=obstacle(evidence), needed=_still_needed(evidence))
    if word != "equivalent":
        return message("the interval {interval} excludes 1, and {p}", interval=_interval(seen), p=p)
    inside = message("the interval {interval} lies within {margin}", interval=_interval(seen), margin=_margin(evidence))
    if evidence.total:
        total = _interval(evidence.total)
        inside = message("{inside}, and that of total time, {total}", inside=inside, total=total)
    if evidence.p > ALPHA or seen.low <= 0 <= seen.high:
        return inside
    return message("{inside}; there is a smaller difference ({p})", inside=inside, p=p)


def obstacle(evidence: Evidence) -> Message:
    """What keeps *evidence* from a verdict."""
    seen, interval, margin = evidence.effect, _interval(evidence.effect), _margin(evidence)
    few = plural("{count} block", "{count} blocks", count=seen.count)
    if seen.count < FEWEST_FOR_INTERVAL:
        return message("{blocks} cannot give an interval", blocks=few)
    if seen.count < evidence.fewest:
        adjusted = _adjusted(evidence)
        return message("{blocks} cannot bring p to {alpha}{adjusted}", blocks=few, alpha=ALPHA, adjusted=adjusted)
    if evidence.is_inside and not evidence.is_total_inside and evidence.total:
        total = _interval(evidence.total)
        return message(
            "the ratio differs from 1 by less than {margin}, but that of total time, {total}, may not",
            margin=margin,
            total=total,
        )
    if evidence.is_inside:
        p = _p(evidence.p_outside, evidence)
        return message(
            "the interval {interval} lies within {margin}, but of a larger difference {p}, above {alpha}",
            interval=interval, margin=margin, p=p, alpha=ALPHA,
        )  # fmt: skip
    if seen.low <= 0 <= seen.high:
        return message(
            "the interval {interval} includes 1 and reaches beyond {margin}", interval=interval, margin=margin
        )
    p = _p(evidence.p, evidence)
    return message("the interval {interval} excludes 1, but {p}, above {alpha}", interval=interval, p=p, alpha=ALPHA)


def _still_needed(evidence: Evidence) -> Message:
    total = blocks_needed(evidence)
    if total is None:
        return message("at this spread more than {most} blocks are needed", most=MOST_BLOCKS)
    return message("{amount} more blocks are needed", amount=amount(total - evidence.effect.count))


def amount(blocks: int) -> Message:
    """A few, dozens or hundreds: the spread of few blocks says no more than that."""
    return FEW if blocks <= MOST_FEW else DOZENS if blocks <= MOST_DOZENS else HUNDREDS


def blocks_needed(evidence: Evidence) -> int | None:
    """Blocks in all that end, with 80 % chance, in a verdict; None if more than 1000.

    Supposes that effect and standard deviation are as seen: (deviation * quantiles / distance)**2 blocks. The distance
    is that from 1, at the family's sharper level, or that from the margin's end.
    Source: sample size of a paired test; docs/statistics.md.
    """
    seen = evidence.effect
    if seen.count < FEWEST_FOR_INTERVAL:
        return max(evidence.fewest, seen.count + 1)
    deviation = seen.half_width * seen.count**0.5 / float(special.stdtrit(seen.count - 1, (1 + CONFIDENCE) / 2))
    shares = ((1 + CONFIDENCE) / 2, 1 - ALPHA / 2 / evidence.family, POWER)
    usual, sharper, power = (float(special.ndtri(share)) for share in shares)
    differs = max(evidence.fewest, _blocks(deviation * (sharper + power), abs(seen.value)))
    alike = _blocks(deviation * (usual + power), log1p(evidence.margin) - abs(seen.value))
    enough = max(seen.count + 1, min(differs, alike))
    return int(enough) if enough <= MOST_BLOCKS else None


def _blocks(spread: float, distance: float) -> float:
    return ceil((spread / distance) ** 2) if distance > spread / MOST_BLOCKS else inf


def _interval(seen: Estimate) -> Message:
    return message("{low:.3g} to {high:.3g}", low=exp(seen.low), high=exp(seen.high))


def _margin(evidence: Evidence) -> Message:
    return message("±{percent:.2g} %", percent=100 * evidence.margin)


def _p(p: float, evidence: Evidence) -> Message:
    return message("p is {p:.2g}{adjusted}", p=p, adjusted=_adjusted(evidence))


def _adjusted(evidence: Evidence) -> Message:
    return message(" adjusted for {count} comparisons", count=evidence.family) if evidence.family > 1 else NOTHING
