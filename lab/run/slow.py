"""Slow requests laid over the collections of the services that they went to: how many overlap one, and by chance."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from lab.run.inside import Window
from lab.run.pauses import Pauses, Span

PERCENTILES = ("p99", "p999")
SHIFTS = 32
_GOLDEN = 0.6180339887498949  # shifts by its multiples fall evenly, and into step with nothing that repeats


class Timeline:
    """The time under at least one collection of a service, in a window."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._before_ns = [0]  # of each span, how much lies before it
        for start_ns, end_ns in sorted(spans):
            if self._ends and start_ns <= self._ends[-1]:
                longer_ns = max(0, end_ns - self._ends[-1])
                self._ends[-1] += longer_ns
                self._before_ns[-1] += longer_ns
            else:
                self._starts.append(start_ns)
                self._ends.append(end_ns)
                self._before_ns.append(self._before_ns[-1] + end_ns - start_ns)

    def overlap_ns(self, start_ns: int, end_ns: int) -> int:
        """How much of the time from *start_ns* to *end_ns* it covers."""
        return self._until_ns(end_ns) - self._until_ns(start_ns)

    def _until_ns(self, moment_ns: int) -> int:
        count = bisect_left(self._starts, moment_ns)  # spans that began before
        return self._before_ns[count] - max(0, self._ends[count - 1] - moment_ns) if count else 0


Request: TypeAlias = tuple[int, int, int]  # start, latency, service_id


def slow_requests(
    said: Sequence[Mapping[str, Any] | None],
    collected: Sequence[Pauses],
    latency: Mapping[str, Any],
    window: Window,
) -> dict[str, dict[str, Any]]:
    """Of each percentile, the requests that took longer: how many, and how many overlap a collection of their service.

    mostly: those that spent at least half of their time under collections
    by_chance: how many would overlap one, had they come at other times of the window, each as long as its time outside
        of collections was; the mean over SHIFTS of them
    said: what each client sent as `slow`. A percentile is left out where a client did not keep all that were slower;
    all are where one keeps none, or a service's collections are not known.
    """
    if not said or not all(said) or not all(pauses.summary for pauses in collected):
        return {}
    above_ns = max(slow["above_ns"] for slow in said if slow)
    requests: list[Request] = [tuple(request) for slow in said if slow for request in slow["requests"]]
    timelines = [Timeline(pauses.spans) for pauses in collected]
    percentiles = {name: latency.get(f"{name}_ns", 0) for name in PERCENTILES}
    thresholds = {name: value_ns for name, value_ns in percentiles.items() if value_ns and value_ns >= above_ns}
    return {
        name: {
            "threshold_ns": threshold_ns,
            **_laid([request for request in requests if request[1] > threshold_ns], timelines, window),
        }
        for name, threshold_ns in thresholds.items()
    }


def _laid(slow: Sequence[Request], timelines: Sequence[Timeline], window: Window) -> dict[str, Any]:
    overlaps_ns = [_overlap_ns(request, timelines) for request in slow]
    length_ns = max(1, window.end_ns - window.start_ns)
    outside: list[Request] = [
        (start_ns - window.start_ns, latency_ns - overlap_ns, service_id)
        for (start_ns, latency_ns, service_id), overlap_ns in zip(slow, overlaps_ns, strict=True)
    ]
    elsewhere = (
        (window.start_ns + (since_ns + shift_ns) % length_ns, rest_ns, service_id)
        for shift_ns in (int(number * _GOLDEN % 1 * length_ns) for number in range(1, SHIFTS + 1))
        for since_ns, rest_ns, service_id in outside
    )
    return {
        "requests": len(slow),
        "overlapping": sum(map(bool, overlaps_ns)),
        "by_chance": sum(bool(_overlap_ns(request, timelines)) for request in elsewhere) / SHIFTS,
        "mostly": sum(
            2 * overlap_ns >= latency_ns for (_, latency_ns, _), overlap_ns in zip(slow, overlaps_ns, strict=True)
        ),
    }


def _overlap_ns(request: Request, timelines: Sequence[Timeline]) -> int:
    start_ns, latency_ns, service_id = request
    return timelines[service_id].overlap_ns(start_ns, start_ns + latency_ns)
