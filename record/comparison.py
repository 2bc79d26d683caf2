"""Declare the keys of the comparisons in result.json (see record.child)."""

from typing import Literal, TypedDict

from core.messages import Message
from record.child import Count, Known, Parameters

Verdict = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]


class RatioInterval(TypedDict, total=False):
    """A ratio and its 95 % interval; null for a value that could not be computed.

    ratio: throughput (`answered` / `wall_ns`) of the numerator over that of the denominator
    low, high: its 95 % interval; with 3 to 5 blocks the least and greatest ratio of a block
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

    system, params: the setting; `all` without parameters for the geometric mean over all settings; `best` with the work
        for a step between best settings
    numerator, denominator: the arms: runtimes, or services that already run, for which `system` is the `name` of all of
        them
    step: as in [evidence.md](evidence.md#steps): `version`, `patch`, `build`, `lock`, `jit`, `whole`, `aa`, `other`,
        `best`, `value` or `interaction`
    p: p-value of a sign-flip test, or of bets that may be evaluated at any time, adjusted over all comparisons except
        A/A ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid` or `unjudged`
    why: the reason for the verdict, the blocks still needed, or the gate that failed
    obstacle: the part of `why` that prevents a verdict
    blocks: those with both arms; for `best` the odd ones, because the even ones choose the settings
    blocks_needed: estimated blocks in total; `null` with a verdict, or above 1000
    noise_floor: how far from 1 the setting's A/A interval reaches, as a share; needs a valid A/A of 6 blocks
    confounds: differences between builds and hosts other than the step's cause
    notes: limits of the figures
    between_services: whether the arms are services that already ran
    saturation: share of the clients' cores that they used, median over the cells
    cores_in_use: share of all cores that the numerator used, median over the cells
    disturbed: share of disturbed cells; `null` over all settings
    others: share of the cores' time that other processes used while clients were timed
    is_beside_others: whether it was more than 5 % in more than a third of the blocks, which `why` then mentions
    settings: over all settings: those that passed their gates, or all if none did; for `best`, `value` and
        `interaction`: the denominator's, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 means more cores, and less CPU time
        per request. Their product is `ratio`, also under `service` and under `client`
    tails: `p50`, `p99` (from 1,000 requests per cell) and `p999` (10,000), each `{ratio, low, high, p, verdict}`: above
        1 means less latency. p is adjusted over the tails alone, those of A/A apart
    dependence: p-value for the hypothesis that successive blocks are independent; needs 8 blocks
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
