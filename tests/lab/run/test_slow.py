"""Slow requests beside collections, by hand."""

from types import SimpleNamespace
from typing import Any

from core.system import CLIENT, SERVICE
from lab.run.core_waits import CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.slow import COLLECTION, slow_requests
from record.child_lines import SlowRequests
from record.result_parts import Slow, SlowCause
from tests.tables import each_row

SECOND = TimeWindow(start_ns=0, end_ns=1_000_000)


def percentiles(**known_ns: int) -> Any:
    """Latencies of which only these percentiles are known."""
    return SimpleNamespace(percentile=known_ns.get)


LATENCY = percentiles(p99=100, p999=1000)


def collections(*services: list[tuple[int, int]]) -> dict[str, list[CumulativeTime | None]]:
    """Services that collected at these times."""
    return {COLLECTION: [*map(CumulativeTime.of_spans, services)]}


TIMELINES = {
    "spans": CumulativeTime.of_spans([(30, 40), (10, 20), (15, 25), (16, 18)]),
    "nothing": CumulativeTime.of_spans([]),
    "sampled": CumulativeTime([100, 200, 400], [0, 50, 50]),
}


@each_row
def test_a_timeline_adds_up_what_it_covers(line: str) -> None:
    name, start_ns, end_ns, covered_ns, *_ = line.split()
    assert TIMELINES[name].within_ns(int(start_ns), int(end_ns)) == int(covered_ns)


def test_nothing_is_said_where_slower_requests_were_not_kept_or_a_side_is_not_known() -> None:
    said = SlowRequests(above_ns=500, requests=[(500, 2000, 0)])
    assert list(slow_requests([said], collections([]), LATENCY, [SECOND])) == ["p999"]
    assert slow_requests([said], collections([]), percentiles(p99=100), [SECOND]) == {}
    assert slow_requests([said, None], collections([]), LATENCY, [SECOND]) == {}
    slow = slow_requests([said], {COLLECTION: [CumulativeTime.of_spans([]), None]}, LATENCY, [SECOND])
    assert slow["p999"] == Slow(threshold_ns=1000, requests=1)
    assert slow_requests([], collections([]), LATENCY, [SECOND]) == {}


def test_the_time_of_slow_requests_is_laid_over_what_their_own_service_and_client_and_the_machine_waited_for() -> None:
    said = [
        # the last is not slower than p99.9
        SlowRequests(above_ns=0, requests=[(0, 2000, 0), (10_000, 2000, 1), (500, 950, 0)]),
        SlowRequests(above_ns=0, requests=[(20_000, 4000, 0)]),
    ]
    none = CumulativeTime([0, 1_000_000], [0, 0])
    waits = {
        SERVICE: [CumulativeTime([0, 10_000, 1_000_000], [0, 5000, 5000]), none],  # half of the first 1 %
        CLIENT: [CumulativeTime([0, 1_000_000], [0, 250_000]), none],
    }
    both = slow_requests(said, {**collections([(20_000, 21_000)], []), **waits}, LATENCY, [SECOND])
    assert {name: (one.threshold_ns, one.requests) for name, one in both.items()} == {
        "p99": (100, 4),
        "p999": (1000, 3),
    }
    slow = both["p999"]
    assert slow.causes == {
        "collection": SlowCause(share=0.125, window=0.0008),
        "service": SlowCause(share=0.125, window=0.0037),
        "client": SlowCause(share=0.125, window=0.125),
    }
