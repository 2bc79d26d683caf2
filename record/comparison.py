"""The comparisons in result.json: a setting, the verdict on two of its arms, and its evidence and
limits.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from core.cell import Value
from core.messages import NOTHING, Message, message
from record.child_lines import Count, Known, Parameters

Key = tuple[str, str]  # identifies a setting: the system, and the parameters as JSON text
Word = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]
StepName = Literal[
    "version",
    "patch",
    "build",
    "lock",
    "jit",
    "whole",
    "aa",
    "other",
    "best",
    "value",
    "interaction",
]

OVER_ALL = "all"
VALUE: StepName = "value"  # between two values of a swept parameter, or two variants
WORDS: Mapping[str, Message] = {
    "faster": message("faster"),
    "slower": message("slower"),
    "equivalent": message("equivalent"),
    "inconclusive": message("inconclusive"),
    "invalid": message("invalid"),
    "unjudged": message("no verdict planned"),
}


def setting_key(system: str, params: Mapping[str, Value]) -> Key:
    """Return the key of a setting: table rows that differ only in the runtime or service have the
    same key.
    """
    return system, json.dumps(params, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A system and one combination of parameter values.

    system, params: the setting; `all` without parameters for the geometric mean over all settings;
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

    ratio: throughput (`answered` / `wall_ns`) of the numerator over that of the denominator
    low, high: its 95 % interval; with 3 to 5 blocks the least and greatest ratio of a block
    """

    ratio: Known = None
    low: Known = None
    high: Known = None


class Factors(TypedDict, total=False):
    """The two factors of a throughput ratio: cores in use, and CPU time per request."""

    cores_used: RatioInterval
    cpu_per_request: RatioInterval


class AllFactors(Factors, total=False):
    """The factors of a throughput ratio: for services and clients together, for services alone, for
    clients alone.
    """

    service: Factors
    client: Factors


@dataclass(frozen=True, kw_only=True)
class JudgedRatio(RatioInterval):
    """A ratio with a verdict.

    p: p-value of a sign-flip test, or of bets that may be evaluated at any time, adjusted over all
        comparisons except A/A ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid` or `unjudged`
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

    why: the reason for the verdict, the blocks still needed, or the gate that failed
    obstacle: the part of `why` that prevents a verdict
    blocks_needed: estimated blocks in total; `null` with a verdict, or above 1000
    """

    why: Message
    obstacle: Message = NOTHING
    blocks_needed: Count | None = None


@dataclass(frozen=True, kw_only=True)
class SavedComparison(Setting, Verdict):
    """A comparison of two runtimes or services, as analysis.comparing computes it.

    numerator, denominator: the arms: runtimes, or services that already run, for which `system` is
        the `name` of all of them
    step: as in [evidence.md](evidence.md#steps): `version`, `patch`, `build`, `lock`, `jit`,
        `whole`, `aa`, `other`, `best`, `value` or `interaction`
    blocks: those with both arms; for `best` the odd ones, because the even ones choose the settings
    noise_floor: how far from 1 the setting's A/A interval reaches, as a share; needs a valid A/A of
        6 blocks
    confounds: differences between builds and hosts other than the step's cause
    notes: limits of the figures
    between_services: whether the arms are services that already ran
    saturation: share of the clients' cores that they used, median over the cells
    cores_in_use: share of all cores that the numerator used, median over the cells
    disturbed: share of disturbed cells; `null` over all settings
    others: share of the cores' time that other processes used while clients were timed
    is_beside_others: whether it was more than 5 % in more than a third of the blocks, which `why`
        then mentions
    settings: over all settings: those that passed their gates, or all if none did; for `best`,
        `value` and `interaction`: the denominator's, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 means more
        cores, and less CPU time per request. Their product is `ratio`, also under `service` and
        under `client`
    tails: `p50`, `p99` (from 1,000 requests per cell) and `p999` (10,000), each `{ratio, low, high,
        p, verdict}`: above 1 means less latency. p is adjusted over the tails and the routes, those
        of A/A apart
    routes: for a plan with several requests, by the name of the request: mean latency of the
        denominator over that of the numerator, as `{ratio, low, high, p, verdict}`. p is adjusted
        over `tails` and `routes` together
    dependence: p-value for the hypothesis that successive blocks are independent; needs 8 blocks
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
    routes: dict[str, JudgedRatio] = field(default_factory=dict)
    dependence: Known = None
