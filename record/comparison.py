"""The comparisons in result.json: a setting, the verdict on two of its arms, and its evidence and
limits.

An arm is what is compared: a runtime or a service at one setting. analysis/comparing.py makes the
comparisons, and reports/ read them. The ratio of a comparison is the numerator's throughput over
the denominator's, and its verdict is about the numerator: `faster` means a ratio above 1.
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
# in what the two arms differ; analysis/steps.py chooses and names the steps
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

OVER_ALL = "all"  # Setting.system of the comparison over all settings
BEST: StepName = "best"  # between best settings, and Setting.system of these comparisons
VALUE: StepName = "value"  # between two values of a swept parameter, or two variants
DIFFERENT = ("faster", "slower")  # verdicts that say that there is a difference
DECIDED = (*DIFFERENT, "equivalent")  # verdicts for which no more blocks are needed
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

    @staticmethod
    def of_key(key: Key) -> "Setting":
        """Return the setting that *key* identifies."""
        system, params = key
        return Setting(system=system, params=json.loads(params))


@dataclass(frozen=True, kw_only=True)
class RatioInterval:
    """A ratio and its 95 % interval; null for a value that could not be computed.

    ratio: throughput (`answered` / `wall_ns`) of the numerator over that of the denominator
    low, high: its 95 % interval; with 3 to 5 blocks the range of the blocks
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

    p: [p value](statistics.md#p-values), adjusted over all comparisons except A/A
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

    numerator, denominator: the arms: runtimes, or services that already run, whose common `name` is
        the `system`
    step: `version`, `patch`, `build`, `lock`, `jit`, `whole`, `aa`, `other`, `best`, `value` or
        `interaction`
    blocks: those with both arms; for `best` only the odd ones
    noise_floor: how far from 1 the setting's A/A interval reaches; needs a valid A/A of 6 blocks
    confounds, notes: as in [evidence.md](evidence.md#confounds-and-notes), as messages
    between_services: whether the arms are services that already ran
    saturation, cores_in_use: median shares of the clients' cores that they used, and of all cores
        that the numerator used
    disturbed: share of disturbed cells; `null` over all settings
    others, is_beside_others: share of the cores' time that other processes used while clients were
        timed, and whether it was more than 5 % in more than a third of the blocks
    settings: over all settings: those that passed their gates, or all if none did; for `best`,
        `value` and `interaction`: the denominator's, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 means more
        cores, and less CPU time per request. Their product is `ratio`, also under `service` and
        under `client`
    tails: `p50`, `p99` (from 1,000 requests per cell) and `p999` (10,000), each `{ratio, low, high,
        p, verdict}`: above 1 means less latency
    routes: likewise for the mean latency, by the name of each [route](evidence.md#routes)
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
