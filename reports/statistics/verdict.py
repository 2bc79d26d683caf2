"""Verdicts: on one comparison, on a family of paired ones, on two saved runs.

Faster and slower need both the interval and the adjusted p. docs/statistics.md says what each verdict claims.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, isinf, log1p
from typing import Any, Protocol, TypeVar

import numpy as np

from core.messages import NOTHING, Message, message
from reports.statistics.evidence import MARGIN, Evidence, Word, blocks_needed, obstacle, why_for, word_for
from reports.statistics.significance import (
    anytime_p,
    fewest_blocks,
    fewest_blocks_anytime,
    fewest_blocks_unpaired,
    holm,
    one_sided_flip_p,
    outside_p,
    sign_flip_p,
    unpaired_p,
)
from reports.statistics.stats import Estimate, effect, mean_effect, unpaired_effect, unpaired_total

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one comparison says: the last keys of a comparison in result.json.

    ratio:     throughput of the numerator over that of the denominator: above 1 the numerator is faster
    low, high: its 95 % interval; with 3 to 5 blocks the range of them, with fewer None
    p:         two-sided, adjusted for the family
    why:       with the blocks still needed, or the gate that failed
    obstacle:  of *why*, what keeps it from a verdict: the gate, or what the interval or p lacks; else empty
    blocks_needed: how many blocks in all would do, about; None where it has a verdict, or where no number would
    The first four numbers are None where nothing was measured or a gate failed.
    """

    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: Word
    why: Message
    obstacle: Message = NOTHING
    blocks_needed: int | None = None

    def to_json(self) -> dict[str, Any]:
        """For result.json."""
        return {**vars(self), "why": self.why.to_json(), "obstacle": self.obstacle.to_json()}


def judge(evidence: Evidence) -> Verdict:
    """The verdict on one comparison.

    Equivalent comes first: a difference that is there but lies wholly inside the margin is called equivalent.
    """
    seen = evidence.effect
    bounded = not isinf(seen.half_width)
    word = word_for(evidence)
    is_open = word == "inconclusive"
    return Verdict(
        ratio=exp(seen.value),
        low=exp(seen.low) if bounded else None,
        high=exp(seen.high) if bounded else None,
        p=evidence.p,
        verdict=word,
        why=why_for(word, evidence),
        obstacle=obstacle(evidence) if is_open else NOTHING,
        blocks_needed=blocks_needed(evidence) if is_open else None,
    )


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Of one comparison, before p is adjusted for its family; the names are Evidence's."""

    effect: Estimate
    total: Estimate | None
    p: float
    p_outside: float


def judge_family(
    comparisons: Mapping[Key, Mapping[int, float]],
    *,
    totals: Mapping[Key, Mapping[int, float]] | None = None,
    margin: float = MARGIN,
    gates: Mapping[Key, Message] | None = None,
    anytime: bool = False,
    seed: int = 0,
) -> dict[Key, Verdict]:
    """A verdict on each comparison of one family: all that a report compares, but for its A/A rows.

    comparisons: by any key, block -> log-ratio, in the order of the blocks
    totals:      by the same keys, what each block says of the ratio of total times (reports.statistics.stats.totals)
    gates:       by the same keys, the gate that failed; such a comparison is invalid and leaves the family
    anytime:     whether the number of blocks depends on what was seen of them
    """
    two_sided = anytime_p if anytime else partial(sign_flip_p, seed=seed)
    one_sided = partial(anytime_p, one_sided=True) if anytime else partial(one_sided_flip_p, seed=seed)
    seen = {}
    for key, blocks in _without(gates, comparisons, bool).items():
        values, of_total = np.array([*blocks.values()]), (totals or {}).get(key)
        seen[key] = _Seen(
            effect=effect(values),
            total=mean_effect([*of_total.values()]) if of_total else None,
            p=two_sided(values),
            p_outside=outside_p(values, log1p(margin), one_sided),
        )
    return _verdicts([*comparisons], seen, margin, gates or {}, fewest_blocks_anytime if anytime else fewest_blocks)


def judge_runs(
    comparisons: Mapping[Key, tuple[Sequence[int], Sequence[int]]],
    *,
    margin: float = MARGIN,
    gates: Mapping[Key, Message] | None = None,
    seed: int = 0,
) -> dict[Key, Verdict]:
    """A verdict on each comparison of two saved runs, unpaired; margin and gates as in judge_family().

    comparisons: by any key, times of the denominator and of the numerator, one per block
    """
    seen = {}
    for key, (below, above) in _without(gates, comparisons, all).items():
        farther = [[time * (1 + margin) ** side for time in above] for side in (-1, 1)]
        seen[key] = _Seen(
            effect=unpaired_effect(below, above),
            total=unpaired_total(below, above),
            p=unpaired_p(below, above, seed=seed),
            p_outside=max(_one_sided(below, farther[0], seed, 1), _one_sided(below, farther[1], seed, -1)),
        )
    return _verdicts([*comparisons], seen, margin, gates or {}, fewest_blocks_unpaired)


def _one_sided(below: Sequence[float], above: Sequence[float], seed: int, side: int) -> float:
    """p of "the log-ratio is not on *side* of 0"."""
    return unpaired_p(below, above, seed=seed) / 2 if side * unpaired_effect(below, above).value > 0 else 1.0


class Judged(Protocol):
    """What has a verdict and the upper end of its interval: a Verdict, or a comparison."""

    @property
    def verdict(self) -> str: ...

    @property
    def high(self) -> float | None: ...


def slower_beyond(judged: Judged, share: float) -> bool:
    """Return whether the numerator is slower and its whole interval lies beyond *share* more time: 0.05 for 5 %."""
    return judged.verdict == "slower" and judged.high is not None and judged.high < 1 / (1 + share)


def _without(
    gates: Mapping[Key, Message] | None, comparisons: Mapping[Key, Value], measured: Callable[[Value], bool]
) -> dict[Key, Value]:
    """The comparisons that passed their gates and have something to compare."""
    return {key: one for key, one in comparisons.items() if key not in (gates or {}) and measured(one)}


def _verdicts(
    keys: Sequence[Key],
    seen: Mapping[Key, _Seen],
    margin: float,
    gates: Mapping[Key, Message],
    fewest_for: Callable[[int], int],
) -> dict[Key, Verdict]:
    """A verdict for each of *keys*; those in *seen* are one family, of claims of a difference and of none."""
    family = max(1, len(seen))
    fewest = fewest_for(family)
    adjusted = {
        name: dict(zip(seen, holm([getattr(one, name) for one in seen.values()]), strict=True))
        for name in ("p", "p_outside")
    }
    verdicts: dict[Key, Verdict] = {}
    for key in keys:
        if key in gates:
            verdicts[key] = _unjudged("invalid", gates[key])
        elif key not in seen:
            verdicts[key] = _without_a_block(fewest)
        else:
            facts = {**vars(seen[key]), **{name: ps[key] for name, ps in adjusted.items()}}
            verdicts[key] = judge(Evidence(**facts, margin=margin, family=family, fewest=fewest))
    return verdicts


def _without_a_block(fewest: int) -> Verdict:
    obstacle_ = message("no block has both arms")
    why = message("{obstacle}; at least {fewest} blocks are needed", obstacle=obstacle_, fewest=fewest)
    return replace(_unjudged("inconclusive", why), obstacle=obstacle_, blocks_needed=fewest)


def _unjudged(word: Word, why: Message) -> Verdict:
    return Verdict(ratio=None, low=None, high=None, p=None, verdict=word, why=why, obstacle=why)
