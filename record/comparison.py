"""Declare the keys of the comparisons in result.json (see record.child)."""

from typing import Literal, TypedDict

from core.messages import Message
from record.child import Count, Known, Parameters

Verdict = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]


class RatioInterval(TypedDict, total=False):
    """A ratio and its 95 % interval; null for a value that could not be computed.

    ratio: throughput (`answered` / `wall_ns`) of the numerator over the throughput of the denominator; above 1 the
        numerator is faster
    low, high: 95 % interval of the ratio; with 3 to 5 blocks the least and greatest ratio of a block; with fewer `null`
    """

    ratio: Known
    low: Known
    high: Known


class Factors(TypedDict, total=False):
    """The two factors of a throughput ratio: cores in use, and CPU time per request."""

    cores_used: RatioInterval
    cpu_per_request: RatioInterval


class AllFactors(Factors, total=False):
    """The factors of a throughput ratio: for services and clients together, for services alone, for clients alone."""

    service: Factors
    client: Factors


class Tail(RatioInterval, total=False):
    """The ratio of a latency percentile between two runtimes or services."""

    p: Known
    verdict: Verdict


class ComparedSetting(TypedDict):
    """A setting that a comparison covers: a system and its parameters."""

    system: str
    params: Parameters


class SavedComparison(RatioInterval, total=False):
    """A comparison of two runtimes or services, as analysis.comparisons computes it.

    system, params: the setting that was compared; `all` without parameters for the geometric mean over all settings;
        `best` with the work for a step between best settings
    numerator, denominator: the two arms: runtimes, or services that already run. For such services `system` is the
        `name` of all of them together
    step: the difference between the arms: `version`, `patch`, `build`, `lock`, `jit`, `whole` (from the first arm to
        the last), `aa` (none), `other` (several, or unknown: between services), `best` (from the best setting of one
        runtime to the best of another), `value` (from the first value of a swept parameter to another under
        one runtime), `interaction` (how the step from the first runtime to the last changes from the first value to
        the last)
    p: p-value of a sign-flip test, or of bets that may be evaluated at any time, adjusted over all comparisons of the
        run except A/A ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid`, `unjudged`
    why: one sentence: the reason for the verdict, the blocks still needed, or the gate that failed
    blocks: number of blocks that have both arms; for `best` the odd blocks, because the even blocks choose the settings
    noise_floor: how far from 1 the A/A interval of the same setting reaches, as a share; `null` without a valid A/A of
        6 blocks
    confounds: differences between the two builds, and between hosts, besides the cause that the step names: a list of
        texts
    notes: limits of the figures, such as saturated clients: a list of texts
    between_services: whether the arms are services that already ran, not runtimes
    obstacle: the part of `why` that prevents a verdict; empty if there is a verdict
    blocks_needed: estimated number of blocks in total that a verdict needs; `null` if there is a verdict, or if more
        than 1000 blocks are needed
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

    system: str
    params: Parameters
    numerator: str
    denominator: str
    step: Literal["version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best", "value", "interaction"]
    p: Known
    verdict: Verdict
    why: Message
    blocks: Count
    noise_floor: Known
    confounds: list[Message]
    notes: list[Message]
    obstacle: Message
    blocks_needed: Count | None
    saturation: Known
    cores_in_use: Known
    disturbed: Known
    others: Known
    is_beside_others: bool
    settings: list[ComparedSetting]
    between_services: bool
    factors: AllFactors
    tails: dict[str, Tail]
    dependence: Known
