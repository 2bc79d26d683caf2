"""Details of a comparison besides its ratio: its factors, latency percentiles, and mean latencies
of routes.

analysis/comparing.py calls it for each pair (analysis/pairs.py: Pair), which has the measurements
of the denominator and of the numerator. A ratio above 1 means that the numerator has more
throughput, takes less time, or uses more cores.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from math import exp, isfinite
from typing import Any

from analysis.judging import judge_family
from analysis.metrics import METRICS, Reader
from analysis.pairs import Pair
from analysis.stats import Estimate, effect
from record.comparison import AllFactors, Factors, JudgedRatio, RatioInterval
from record.saved_run import CellResult

Detail = tuple[str, str]  # a field of the comparison, `tails` or `routes`, and a key in it
PERCENTILES = {
    ("tails", metric.percentile): metric.read for metric in METRICS.values() if metric.percentile
}
# by key of AllFactors: the kinds of processes whose CPU time is added up
SIDES = {"both": ("service", "client"), "service": ("service",), "client": ("client",)}


def _interval(seen: Estimate, moved: float) -> RatioInterval:
    """Convert an estimate of a logarithm to one of the value itself, with its interval.

    moved: added to its value; the interval is widened to hold the sum
    """
    value = seen.value + moved
    ratio, low, high = exp(value), exp(min(seen.low, value)), exp(max(seen.high, value))
    return (
        RatioInterval(ratio=ratio, low=low, high=high)
        if isfinite(seen.half_width)
        else RatioInterval(ratio=ratio)
    )


# ---- factors -------------------------------------------------------------------------------------


def factors(pair: Pair) -> AllFactors:
    """Split the throughput ratio into two factors: the cores in use, and the CPU time per request.

    The factors are given for all processes, and for only the services and only the clients.
    cores_used:      ratio of the cores in use
    cpu_per_request: inverted ratio of CPU time per request; above 1, a request takes less CPU time
    The result is empty if any cell does not report its CPU time.
    """
    made: dict[str, Factors] = {}
    for side, kinds in SIDES.items():
        cpu = pair.log_ratios(partial(_cpu_ns, kinds))
        if cpu.keys() != pair.ratios.keys():
            return AllFactors()
        cores = {block: ratio - cpu[block] for block, ratio in pair.ratios.items()}
        seen = effect([*cores.values()]), effect([*cpu.values()])
        rest = effect([*pair.ratios.values()]).value - sum(estimate.value for estimate in seen)
        # two medians need not add up to the median of the sum, so each factor takes half of the
        # rest
        cores_used, cpu_per_request = (_interval(estimate, rest / 2) for estimate in seen)
        made[side] = Factors(cores_used=cores_used, cpu_per_request=cpu_per_request)
    return AllFactors(**made["both"], service=made["service"], client=made["client"])


def _cpu_ns(kinds: Sequence[str], cell: CellResult) -> float | None:
    """Return the CPU time per request of services, clients or both, in ns.

    None if it is unknown or 0 for any of them.
    """
    spent = [METRICS[f"{kind}_cpu_ns_per_request"].read(cell) for kind in kinds]
    return sum(ns or 0 for ns in spent) if all(spent) else None


# ---- latency and noise ---------------------------------------------------------------------------


def latencies(
    pairs: Mapping[int, Pair], readers: Mapping[Detail, Reader], **method: Any
) -> dict[int, dict[Detail, JudgedRatio]]:
    """Compare latencies of the two runtimes or services in each pair: percentiles, and the means of
    routes.

    Returns {detail: JudgedRatio} by the keys of *pairs*. A ratio above 1 means less latency.
    The p values are corrected for all latencies of all pairs together. A latency is missing if
    the cells have too few requests (analysis.metrics.FEWEST).
    readers: a function for each latency that reads it from a cell
    method: the arguments margin, looks and share of judge_family()
    """
    ratios = {
        (place, detail): logs
        for place, pair in pairs.items()
        for detail, read in readers.items()
        if not pair.gate and (logs := pair.log_ratios(read))
    }
    found: dict[int, dict[Detail, JudgedRatio]] = {}
    for (place, detail), verdict in judge_family(ratios, **method).items():
        ratio = JudgedRatio(
            ratio=verdict.ratio,
            low=verdict.low,
            high=verdict.high,
            p=verdict.p,
            verdict=verdict.verdict,
        )
        found.setdefault(place, {})[detail] = ratio
    return found
