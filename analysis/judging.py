"""Verdicts on one comparison, on all comparisons of a run, and on two saved runs.

The verdicts faster and slower need both the interval and the adjusted p. docs/statistics.md defines
each verdict, and how the number of missing blocks is estimated.

A family is all comparisons whose p values are adjusted together. analysis/pair_verdicts.py calls
judge_family() for a run, and reports/compare/compared_runs.py calls judge_runs(). The keys that
identify comparisons are the caller's. Log-ratios are above 0 if the numerator is
faster. benchmarks/method_simulated.py simulates the error rates: run it after a change.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isinf, log1p
from statistics import NormalDist
from typing import Any, TypeVar

from analysis.significance import (
    ALPHA,
    ONCE,
    Looks,
    fewest_blocks,
    fewest_blocks_unpaired,
    holm,
    unpaired_p,
)
from analysis.stats import (
    CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Estimate,
    effect,
    mean_effect,
    t_quantile,
    unpaired_effect,
    unpaired_total,
)
from core.messages import NOTHING, Message, message, plural
from record.comparison import Verdict, Word
from record.saved_plan import SavedPlan

Key = TypeVar("Key", bound=Hashable)

MARGIN = SavedPlan.margin  # the default of --margin
POWER = 0.8  # probability that the estimated number of blocks gives a verdict
MOST_BLOCKS = 1000  # a larger estimate is not given as a number
# the largest numbers of blocks that are called "a few" and "dozens"
MOST_FEW, MOST_DOZENS = 11, 99
FEW, DOZENS, HUNDREDS = message("a few"), message("dozens"), message("hundreds")
NO_BLOCK = message("no block has both of the compared measurements")
# an empty default, which nothing may change
NONE: Mapping[Any, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The data from which a verdict is derived.

    effect: log of the ratio of throughputs, numerator / denominator, with its interval: above 0 the
        numerator is faster
    total:  log-ratio of total times; None if there are none, because a percentile has no total
    p:      two-sided p of "no difference", adjusted for *family* comparisons and for the *share* of
            the level
    p_outside: p of "a difference of the margin or more", adjusted likewise
    margin: share that counts as no difference: 0.03 means ratios from 1/1.03 to 1.03
    fewest: minimum number of blocks with which p can reach ALPHA
    fewest_later: this minimum after blocks have been added to those of the data
    """

    effect: Estimate
    p: float
    total: Estimate | None = None
    p_outside: float = 0.0
    margin: float = MARGIN
    family: int = 1
    share: float = 1.0
    fewest: int = fewest_blocks(1)
    fewest_later: int = fewest_blocks(1)

    def holds(self, of: Estimate | None) -> bool:
        """Return whether the whole interval of an estimate lies within the margin; True if there is
        no estimate.
        """
        reach = log1p(self.margin)
        return of is None or (
            of.count >= FEWEST_FOR_INTERVAL and -reach <= of.low and of.high <= reach
        )


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict that follows from *evidence*."""
    ratio, (word, reason) = evidence.effect.ratio, _word_and_reason(evidence)
    verdict = Verdict(ratio=ratio.value, p=evidence.p, verdict=word, why=reason)
    if not isinf(evidence.effect.half_width):
        verdict = replace(verdict, low=ratio.low, high=ratio.high)
    if word != "inconclusive":
        return verdict
    total = blocks_needed(evidence)
    needed = message(
        "with this much noise, a verdict needs more than {most} blocks", most=MOST_BLOCKS
    )
    if total is not None:
        needed = message("{amount} more blocks are needed", amount=amount(total - ratio.count))
    why = message("{obstacle}; {needed}", obstacle=reason, needed=needed)
    return replace(verdict, why=why, obstacle=reason, blocks_needed=total)


def _word_and_reason(evidence: Evidence) -> tuple[Word, Message]:
    """Return the verdict that follows from *evidence*, and its reason. If it is inconclusive, say
    what is lacking.

    A difference that is significant but lies wholly inside the margin is called equivalent.
    """
    seen, ratio = evidence.effect, evidence.effect.ratio
    is_significant = seen.count >= evidence.fewest and evidence.p <= ALPHA
    includes_1 = ratio.low <= 1 <= ratio.high
    p = _p_text(evidence, evidence.p)
    # before faster and slower, because a significant difference may lie inside the margin
    if evidence.holds(seen) and evidence.holds(evidence.total) and evidence.p_outside <= ALPHA:
        inside = _inside_text(evidence)
        if evidence.p > ALPHA or includes_1:
            return "equivalent", inside
        return "equivalent", message(
            "{inside}; the difference is significant but smaller than the margin ({p})",
            inside=inside,
            p=p,
        )
    if is_significant and not includes_1:
        excluded = message(
            "the interval {interval} excludes 1, and {p}", interval=_interval_text(seen), p=p
        )
        return "faster" if ratio.low > 1 else "slower", excluded
    return "inconclusive", _lack(evidence, includes_1=includes_1)


def _lack(evidence: Evidence, *, includes_1: bool) -> Message:
    """Return what *evidence* lacks for a verdict."""
    seen = evidence.effect
    interval, margin = _interval_text(seen), _margin_text(evidence)
    blocks = plural("{count} block", "{count} blocks", count=seen.count)
    if seen.count < FEWEST_FOR_INTERVAL:
        return message("no interval can be computed from {blocks}", blocks=blocks)
    if seen.count < evidence.fewest:
        adjusted = _adjusted_text(evidence)
        return message(
            "with {blocks}, p cannot be as low as {alpha}{adjusted}",
            blocks=blocks,
            alpha=ALPHA,
            adjusted=adjusted,
        )
    if not evidence.holds(seen) and includes_1:
        return message(
            "the interval {interval} includes 1 and reaches beyond {margin}",
            interval=interval,
            margin=margin,
        )
    if not evidence.holds(seen):
        return message(
            "{p}, which is above {alpha}", p=_p_text(evidence, evidence.p), alpha=ALPHA,
        )  # fmt: skip
    if evidence.total and not evidence.holds(evidence.total):
        return message(
            "the ratio of throughputs differs from 1 by less than {margin}, but the ratio of total "
            "times, {total}, may differ by more",
            margin=margin, total=_interval_text(evidence.total),
        )  # fmt: skip
    return message(
        "the interval {interval} lies within {margin}, but a larger difference is not excluded: "
        "{p}, which is above {alpha}",
        interval=interval, margin=margin, p=_p_text(evidence, evidence.p_outside), alpha=ALPHA,
    )  # fmt: skip


def _inside_text(evidence: Evidence) -> Message:
    interval, margin = _interval_text(evidence.effect), _margin_text(evidence)
    inside = message(
        "the interval {interval} lies within {margin}", interval=interval, margin=margin
    )
    if not evidence.total:
        return inside
    return message(
        "{inside}, and this margin also contains the interval of the ratio of total times, {total}",
        inside=inside,
        total=_interval_text(evidence.total),
    )


def _interval_text(of: Estimate) -> Message:
    return message("{low:.3g} to {high:.3g}", low=of.ratio.low, high=of.ratio.high)


def _margin_text(evidence: Evidence) -> Message:
    return message("±{percent:.2g} %", percent=100 * evidence.margin)


def _adjusted_text(evidence: Evidence) -> Message:
    return (
        message(" after correction for {count} comparisons", count=evidence.family)
        if evidence.family > 1
        else NOTHING
    )


def _p_text(evidence: Evidence, p: float) -> Message:
    return message("p is {p:.2g}{adjusted}", p=p, adjusted=_adjusted_text(evidence))


def amount(blocks: int) -> Message:
    """Return a number of blocks as "a few", "dozens" or "hundreds", because it is only a rough
    estimate.
    """
    return FEW if blocks <= MOST_FEW else DOZENS if blocks <= MOST_DOZENS else HUNDREDS


def blocks_needed(evidence: Evidence) -> int | None:
    """Return the total number of blocks that gives a verdict with a probability of 80 %; None if
    more than 1000.

    The estimate assumes the observed effect and standard deviation: (deviation * quantiles /
    distance)**2 blocks. The distance is that from 1, at the family's significance level, or that
    from the end of the margin.
    Source: sample size of a paired test; docs/statistics.md.
    """
    seen = evidence.effect
    if seen.count < FEWEST_FOR_INTERVAL:
        return max(evidence.fewest_later, seen.count + 1)
    deviation = seen.half_width * seen.count**0.5 / t_quantile(seen.count - 1, (1 + CONFIDENCE) / 2)
    usual, sharper, power = quantiles(evidence.family / evidence.share)
    differs = max(evidence.fewest_later, _blocks(deviation * (sharper + power), abs(seen.value)))
    alike = _blocks(deviation * (usual + power), log1p(evidence.margin) - abs(seen.value))
    enough = max(seen.count + 1, min(differs, alike))
    return int(enough) if enough <= MOST_BLOCKS else None


def quantiles(family: float) -> tuple[float, float, float]:
    """Return the normal quantiles for the interval, for a p adjusted for *family* comparisons, and
    for the power.
    """
    usual, sharper, power = map(
        NormalDist().inv_cdf, ((1 + CONFIDENCE) / 2, 1 - ALPHA / 2 / family, POWER)
    )
    return usual, sharper, power


def _blocks(spread: float, distance: float) -> float:
    # a smaller distance needs more than MOST_BLOCKS blocks by far, and may be 0 or negative
    return ceil((spread / distance) ** 2) if distance > spread / MOST_BLOCKS else inf


# ---- families ------------------------------------------------------------------------------------


def judge_family(
    comparisons: Mapping[Key, Mapping[int, float]],
    *,
    totals: Mapping[Key, Mapping[int, float]] = NONE,
    margin: float = MARGIN,
    gates: Mapping[Key, Message] = NONE,
    looks: Looks = ONCE,
    share: float = 1.0,
) -> dict[Key, Verdict]:
    """Return a verdict on each comparison of a family, such as all throughput ratios of a report
    except A/A.

    comparisons: by any key, block -> log-ratio, in the order of the blocks
    totals:      by the same keys, each block's contribution to the ratio of total times
                 (analysis.stats.totals)
    gates:       by the same keys, the gate that failed, or NOTHING; such a comparison is invalid
                 and leaves the family
    looks:       when the results were looked at
    share:       the family's share of the level of the report (analysis.significance.SHARES)
    """
    seen = {}
    for key, blocks in comparisons.items():
        if blocks and not gates.get(key):
            of_total = totals.get(key)
            seen[key] = Evidence(
                effect=effect([*blocks.values()]),
                total=mean_effect([*of_total.values()]) if of_total else None,
                p=looks.p(blocks),
                p_outside=looks.p_outside(blocks, log1p(margin)),
                margin=margin,
                share=share,
            )
    most = max((len(blocks) for blocks in comparisons.values()), default=0)
    return _verdicts(comparisons, seen, gates, (looks.fewest, looks.after(most).fewest), share)


def judge_runs(
    comparisons: Mapping[Key, tuple[Sequence[float], Sequence[float]]],
    *,
    margin: float = MARGIN,
    gates: Mapping[Key, Message] = NONE,
) -> dict[Key, Verdict]:
    """Return a verdict on each comparison of two saved runs, whose blocks are unpaired.

    comparisons: by any key, times of the base and of the compared run, one per block
    margin, gates: as in judge_family()
    """
    seen = {}
    for key, (below, above) in comparisons.items():
        if below and above and not gates.get(key):
            longer = (
                ([time * (1 + margin) for time in below], above),
                ([time * (1 + margin) for time in above], below),
            )
            seen[key] = Evidence(
                effect=unpaired_effect(below, above),
                total=unpaired_total(below, above),
                p=unpaired_p(below, above),
                p_outside=max(_one_sided_p(*arms) for arms in longer),
                margin=margin,
            )
    return _verdicts(comparisons, seen, gates, (fewest_blocks_unpaired, fewest_blocks_unpaired))


def _one_sided_p(below: Sequence[float], above: Sequence[float]) -> float:
    """Return p of the hypothesis that the times *below* are not longer; 1 if they are not longer in
    the runs.
    """
    return unpaired_p(below, above) / 2 if unpaired_effect(below, above).value > 0 else 1.0


def _verdicts(
    keys: Iterable[Key],
    seen: Mapping[Key, Evidence],
    gates: Mapping[Key, Message],
    fewest_for: Sequence[Callable[[float], int]],
    share: float = 1.0,
) -> dict[Key, Verdict]:
    """Return a verdict for each of *keys*. p values are adjusted for the number of comparisons in
    *seen*.

    fewest_for: return Evidence.fewest and Evidence.fewest_later of a family of so many comparisons
    """
    family = max(1, len(seen))
    fewest, later = (of(family / share) for of in fewest_for)
    ps = holm([one.p for one in seen.values()], share)
    outside = holm([one.p_outside for one in seen.values()], share)
    judged = {
        key: judge(
            replace(one, p=p, p_outside=p_outside, family=family, fewest=fewest, fewest_later=later)
        )
        for (key, one), p, p_outside in zip(seen.items(), ps, outside, strict=True)
    }
    why = message(
        "{obstacle}; at least {fewest} blocks are needed", obstacle=NO_BLOCK, fewest=fewest
    )
    empty = Verdict(verdict="inconclusive", why=why, obstacle=NO_BLOCK, blocks_needed=fewest)
    withheld = {
        key: Verdict(verdict="invalid", why=gate, obstacle=gate)
        for key, gate in gates.items()
        if gate
    }
    return dict.fromkeys(keys, empty) | judged | withheld


def slower_beyond(judged: Verdict, share: float) -> bool:
    """Return whether a verdict is "slower", and all ratios in its interval mean over *share* more
    time (0.05: 5 %).
    """
    return judged.verdict == "slower" and judged.high is not None and judged.high < 1 / (1 + share)
