"""Choose the length of time slices, add up a client's results over its slices, and measure CPU use between slices.

The idea is from duet benchmarking (Bulej et al., ICPE 2020): interleaved arms meet the same disturbances.
"""

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from core.child import Slice
from core.histogram import Histogram
from core.slices import Slices
from lab.run.contract import HISTOGRAMS, SLICES, SLOW

SHORTEST_NS, LONGEST_NS = 100_000_000, 500_000_000
REQUESTS = 40  # a slice is long enough for this many requests per connection, but not above LONGEST_NS
LEAD_REQUESTS = 8  # requests before the slice counts, until threads queue for the GIL and caches are warm
LEAST_LEAD, LONGEST_LEAD_NS = 0.05, 100_000_000  # bounds of the lead: a share of the slice, and a time
PILOT = Slice(lead_ns=SHORTEST_NS // 2, length_ns=SHORTEST_NS)
SUMS = (
    "requests", "answered", "wrong", "uncounted", "calc_ns", "completion_ns", "overdue", "sent_bytes", "received_bytes",
    "cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "run_queue_ns",
)  # fmt: skip
USED = ("cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "run_queue_ns")
CPU = USED[:2]
FIRST = ("started_ns", "gil_enabled_ready", "jit_enabled_ready", "first_wrong")  # taken from the first slice with them


def size_slices(latency_ns: float, duration_s: float) -> tuple[int, Slice]:
    """Return how many time slices a runtime or service gets in a block (an even number), and the length of a slice.

    latency_ns: the mean latency of the slowest runtime or service
    """
    wanted_ns = min(LONGEST_NS, max(SHORTEST_NS, REQUESTS * latency_ns))
    count = 2 * max(1, round(duration_s * 1e9 / wanted_ns / 2))
    length_ns = round(duration_s * 1e9 / count)
    lead_ns = min(LONGEST_LEAD_NS, max(LEAST_LEAD * length_ns, LEAD_REQUESTS * latency_ns))
    return count, Slice(lead_ns=round(lead_ns), length_ns=length_ns)


def add_slices(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the results that a client sent, one per time slice, and return the sum.

    CPU time and context switches are multiplied by the share of answers that count.
    """
    total: dict[str, Any] = dict(ChainMap(*reversed([dict(result) for result in results])))
    total |= {key: sum(result.get(key, 0) for result in results) for key in SUMS if key in total}
    total["errors"] = dict(sum((Counter(result["errors"]) for result in results), Counter()))
    total |= {
        key: merge(Histogram, (result[key] for result in results if key in result))
        for key in HISTOGRAMS
        if key in total
    }
    total |= {key: next(result[key] for result in results if key in result) for key in FIRST if key in total}
    if "offered_rate" in total:
        total["offered_rate"] = mean(result["offered_rate"] for result in results)
    if SLOW in total:
        slow = [result[SLOW] for result in results if SLOW in result]
        requests = [request for one in slow for request in one["requests"]]
        total[SLOW] = {"above_ns": max(one["above_ns"] for one in slow), "requests": requests}
    if SLICES in total:
        total[SLICES] = merge(Slices, (result[SLICES] for result in results if SLICES in result))
    return total | counted_usage(total, counted_share([total]))


def counted_share(clients: Sequence[Mapping[str, Any]]) -> float:
    """Return the share (0..1) of the clients' answers that count: they came after the lead-in of their time slice."""
    answered, uncounted = (sum(client.get(key, 0) for client in clients) for key in ("answered", "uncounted"))
    return answered / (answered + uncounted) if answered else 1.0


def counted_usage(result: Mapping[str, Any], share: float, idle_cpu_ns: int = 0) -> dict[str, int]:
    """Return a child process's CPU time and context switches for the counted part of its time slices.

    share: the share of its answers that were counted, because they came after the lead-ins of its slices. The values
        are multiplied by it
    idle_cpu_ns: the CPU time that it used between its time slices, which is left out
    """
    cpu_ns = sum(result.get(key, 0) for key in CPU)
    busy = max(0.0, 1 - idle_cpu_ns / cpu_ns) if cpu_ns else 1.0
    return {key: round(result[key] * share * (busy if key in CPU else 1)) for key in USED if key in result}


def merge(kind: type[Any], parts: Iterable[Any]) -> dict[str, Any]:
    """Add up Histograms or Slices, given as JSON, and return the sum as JSON; {} if all are empty."""
    total = kind()
    for part in parts:
        total.merge(kind.from_json(part))
    summary: dict[str, Any] = total.to_json()
    return summary if summary.get("count", True) else {}  # only histograms have a count
