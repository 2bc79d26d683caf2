"""Slow requests beside collections, by hand."""

from core.histogram import Histogram
from core.system import CLIENT, SERVICE
from lab.run.core_waits import CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.slow import COLLECTION, slow_requests
from record.cell_parts import Slow, SlowCause
from record.child_lines import SlowRequests

SECOND = TimeWindow(start_ns=0, end_ns=1_000_000)


class Percentiles(Histogram):
    """Latencies of which only these percentiles are known, in ns."""

    def __init__(self, **known: int) -> None:
        super().__init__()
        self.known = known

    def percentile(self, name: str) -> int | None:
        return self.known.get(name)


LATENCY = Percentiles(p99=100, p999=1000)


def collections(*services: list[tuple[int, int]]) -> dict[str, list[CumulativeTime | None]]:
    """Services that collected at these times."""
    return {COLLECTION: [*map(CumulativeTime.of_spans, services)]}


def test_a_timeline_adds_up_what_it_covers() -> None:
    timeline = CumulativeTime.of_spans([(30, 40), (10, 20), (15, 25), (16, 18)])
    assert [timeline.within_ns(*span) for span in ((0, 10), (0, 12), (12, 35), (25, 30), (0, 99), (40, 50))] == [
        *(0, 2, 18, 0, 25, 0),
    ]
    assert CumulativeTime.of_spans([]).within_ns(0, 9) == 0
    sampled = CumulativeTime([100, 200, 400], [0, 50, 50])  # between two looks time goes evenly
    assert [sampled.within_ns(*span) for span in ((0, 100), (0, 150), (150, 300), (300, 900))] == [0, 25, 25, 0]


def test_nothing_is_said_where_slower_requests_were_not_kept_or_a_side_is_not_known() -> None:
    said = SlowRequests(above_ns=500, requests=[(500, 2000, 0)])
    assert list(slow_requests([said], collections([]), LATENCY, [SECOND])) == ["p999"]
    assert slow_requests([said], collections([]), Percentiles(p99=100), [SECOND]) == {}
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
    waits = {
        SERVICE: [
            CumulativeTime([0, 10_000, 1_000_000], [0, 5000, 5000]),  # half of the first 1 %
            CumulativeTime([0, 1_000_000], [0, 0]),
        ],
        CLIENT: [CumulativeTime([0, 1_000_000], [0, 250_000]), CumulativeTime([0, 1_000_000], [0, 0])],
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
