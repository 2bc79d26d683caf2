"""Verdicts: on one comparison, on a family of paired ones, on two saved runs.

Faster and slower need both the interval and the adjusted p. docs/statistics.md says what each verdict claims.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isinf
from typing import Any, TypeVar

import numpy as np

from core.messages import NOTHING, Message, message
from reports.statistics.evidence import MARGIN, Evidence, Word, blocks_needed, obstacle, why_for, word_for
from reports.statistics.significance import fewest_blocks, fewest_blocks_unpaired, holm, sign_flip_p, unpaired_p
from reports.statistics.stats import Estimate, effect, unpaired_effect

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one comparison says: the last keys of a comparison in result.json.

    ratio:     throughput of the numerator over that of the denominator: above 1 the numerator is faster
    low, high: its 95 % interval; None with fewer than 3 blocks
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


def judge_family(
    comparisons: Mapping[Key, Mapping[int, float]],
    *,
    margins: Mapping[Key, float] | None = None,
    gates: Mapping[Key, Message] | None = None,
    seed: int = 0,
) -> dict[Key, Verdict]:
    """A verdict on each comparison of one family: all that a report compares, but for its A/A rows.

    comparisons: by any key, block -> log-ratio
    margins:     by the same keys, where not 3 %
    gates:       by the same keys, the gate that failed; such a comparison is invalid and leaves the family
    """
    measured = _without(gates, comparisons, bool)
    values = {key: np.array([*blocks.values()]) for key, blocks in measured.items()}
    seen = {key: (effect(one), sign_flip_p(one, seed=seed)) for key, one in values.items()}
    return _verdicts([*comparisons], seen, margins or {}, gates or {}, fewest_blocks)


def judge_runs(
    comparisons: Mapping[Key, tuple[Sequence[int], Sequence[int]]],
    *,
    margins: Mapping[Key, float] | None = None,
    gates: Mapping[Key, Message] | None = None,
    seed: int = 0,
) -> dict[Key, Verdict]:
    """A verdict on each comparison of two saved runs, unpaired; margins and gates as in judge_family().

    comparisons: by any key, times of the denominator and of the numerator, one per block
    """
    measured = _without(gates, comparisons, all)
    seen = {key: (unpaired_effect(*times), unpaired_p(*times, seed=seed)) for key, times in measured.items()}
    return _verdicts([*comparisons], seen, margins or {}, gates or {}, fewest_blocks_unpaired)


def slower_beyond(verdict: Verdict, share: float) -> bool:
    """Whether the numerator is slower and its whole interval lies beyond *share* more time: 0.05 for 5 %."""
    return verdict.verdict == "slower" and verdict.high is not None and verdict.high < 1 / (1 + share)


def _without(
    gates: Mapping[Key, Message] | None, comparisons: Mapping[Key, Value], measured: Callable[[Value], bool]
) -> dict[Key, Value]:
    """The comparisons that passed their gates and have something to compare."""
    return {key: one for key, one in comparisons.items() if key not in (gates or {}) and measured(one)}


def _verdicts(
    keys: Sequence[Key],
    seen: Mapping[Key, tuple[Estimate, float]],
    margins: Mapping[Key, float],
    gates: Mapping[Key, Message],
    fewest_for: Callable[[int], int],
) -> dict[Key, Verdict]:
    """A verdict for each of *keys*; those in *seen*, an effect and its raw p each, are one family."""
    family = max(1, len(seen))
    fewest = fewest_for(family)
    adjusted = dict(zip(seen, holm([p for _, p in seen.values()]), strict=True))
    verdicts: dict[Key, Verdict] = {}
    for key in keys:
        if key in gates:
            verdicts[key] = _unjudged("invalid", gates[key])
        elif key not in seen:
            verdicts[key] = _without_a_block(fewest)
        else:
            margin = margins.get(key, MARGIN)
            verdicts[key] = judge(
                Evidence(effect=seen[key][0], p=adjusted[key], margin=margin, family=family, fewest=fewest)
            )
    return verdicts


def _without_a_block(fewest: int) -> Verdict:
    obstacle_ = message("no block has both arms")
    why = message("{obstacle}; at least {fewest} blocks are needed", obstacle=obstacle_, fewest=fewest)
    return replace(_unjudged("inconclusive", why), obstacle=obstacle_, blocks_needed=fewest)


def _unjudged(word: Word, why: Message) -> Verdict:
    return Verdict(ratio=None, low=None, high=None, p=None, verdict=word, why=why, obstacle=why)
