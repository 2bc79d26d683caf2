"""The comparisons in result.json: a setting, the verdict on two of its arms, and its evidence and limits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from core.cell import Value
from core.messages import NOTHING, Message, message
from record.child import Count, Known, Parameters

Key = tuple[str, str]  # identifies a setting: the system, and the parameters as JSON text
Word = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]
StepName = Literal["version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best", "value", "interaction"]

OVER_ALL = "all"
WORDS: Mapping[str, Message] = {
    "faster": message("faster"),
    "slower": message("slower"),
    "equivalent": message("equivalent"),
    "inconclusive": message("inconclusive"),
    "invalid": message("invalid"),
    "unjudged": message("no verdict planned"),
}


def setting_key(system: str, params: Mapping[str, Value]) -> Key:
    """Return the key of a setting: table rows that differ only in the runtime or service have the same key."""
    return system, json.dumps(params, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A system and one combination of parameter values.

    system, params: the setting that was compared; `all` without parameters for the geometric mean over all settings;
        `best` with the work for a step between best settings
    """

    system: str
    params: Parameters

    @property
    def is_over_all(self) -> bool:
        """Whether this is not one setting, but all settings together."""
        return self.system == OVER_ALL

    @property
    def key(self) -> Key:
        """The key that identifies the setting: its system and its parameters."""
        return setting_key(self.system, self.params)


@dataclass(frozen=True, kw_only=True)
class RatioInterval:
    """A ratio and its 95 % interval; null for a value that could not be computed.

    ratio: throughput (`answered` / `wall_ns`) of the numerator over the throughput of the denominator; above 1 the
        numerator is faster
    low, high: 95 % interval of the ratio; with 3 to 5 blocks the least and greatest ratio of a block; with fewer `null`
    """

    ratio: Known = None
    low: Known = None
    high: Known = None


class Factors(TypedDict, total=False):
    """The two factors of a throughput ratio: cores in use, and CPU time per request."""

    cores_used: RatioInterval
    cpu_per_request: RatioInterval


class AllFactors(Factors, total=False):
    """The factors of a throughput ratio: for services and clients together, for services alone, for clients alone."""

    service: Factors
    client: Factors


@dataclass(frozen=True, kw_only=True)
class JudgedRatio(RatioInterval):
    """A ratio with a verdict.

    p: p-value of a sign-flip test, or of bets that may be evaluated at any time, adjusted over all comparisons of the
        run except A/A ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid`, `unjudged`
    """

    p: Known = None
    verdict: Word

    @property
    def word(self) -> Message:
        """The verdict as text."""
        return WORDS[self.verdict]


@dataclass(frozen=True, kw_only=True)
class Verdict(JudgedRatio):
    """The result of one comparison.

    why: one sentence: the reason for the verdict, the blocks still needed, or the gate that failed
    obstacle: the part of `why` that prevents a verdict; empty if there is a verdict
    blocks_needed: estimated number of blocks in total that a verdict needs; `null` if there is a verdict, or if more
        than 1000 blocks are needed
    """

    why: Message
    obstacle: Message = NOTHING
    blocks_needed: Count | None = None


@dataclass(frozen=True, kw_only=True)
class SavedComparison(Setting, Verdict):
    """A comparison of two runtimes or services, as analysis.comparisons computes it.

    numerator, denominator: the two arms: runtimes, or services that already run. For such services `system` is the
        `name` of all of them together
    step: the difference between the arms: `version`, `patch`, `build`, `lock`, `jit`, `whole` (from the first arm to
        the last), `aa` (none), `other` (several, or unknown: between services), `best` (from the best setting of one
        runtime to the best of another), `value` (from the first value of a swept parameter to another under
        one runtime), `interaction` (how the step from the first runtime to the last changes from the first value to
        the last)
    blocks: number of blocks that have both arms; for `best` the odd blocks, because the even blocks choose the settings
    noise_floor: how far from 1 the A/A interval of the same setting reaches, as a share; `null` without a valid A/A of
        6 blocks
    confounds: differences between the two builds, and between hosts, besides the cause that the step names: a list of
        texts
    notes: limits of the figures, such as saturated clients: a list of texts
    between_services: whether the arms are services that already ran, not runtimes
    saturation: share of the cores available to the clients that they used, median over the cells; `null` if not known
    cores_in_use: share of all cores that services and clients of the numerator used together, median over the cells;
        `null` if not known
    disturbed: share of the cells in which the machine was disturbed; `null` over all settings
    others: share of the cores' time that other processes used while clients were timed; `null` if not known
    is_beside_others: whether `others` was more than 5 % in more than a third of the blocks; `why` and its sentence then
        mention it
    settings: for a comparison over all settings: the settings that passed their gates, or all if none did; for `best`,
        `value` and `interaction`: the denominator's setting, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 means more cores, and less CPU time
        per request. Their product is `ratio`; the same holds for the factors under `service` and under `client`. Empty
        if a cell does not report its CPU time
    tails: `p50`, `p99` (from 1,000 requests per cell) and `p999` (10,000): `{ratio, low, high, p, verdict}`; above 1
        means less latency. p is adjusted over the tails alone, and over those of `aa` apart
    dependence: p-value for the hypothesis that successive blocks are independent; null with fewer than 8 blocks
    """

    numerator: str
    denominator: str
    step: StepName
    blocks: Count = 0
    noise_floor: Known = None
    confounds: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    saturation: Known = None
    cores_in_use: Known = None
    disturbed: Known = None
    others: Known = None
    is_beside_others: bool = False
    settings: list[Setting] = field(default_factory=list)
    between_services: bool = False
    factors: AllFactors = field(default_factory=AllFactors)
    tails: dict[str, JudgedRatio] = field(default_factory=dict)
    dependence: Known = None
