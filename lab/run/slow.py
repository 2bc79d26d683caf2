"""Explain slow requests by garbage collections, waits for a core, and stolen CPU time at the same moment."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, TypeAlias

from core.system import CLIENT, SERVICE
from lab.run.core_waits import STEAL, CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.pauses import ServicePauses

PERCENTILES = ("p99", "p999")
SHIFTS = 32
_GOLDEN = 0.6180339887498949  # multiples modulo 1 are evenly spread, and in step with no periodic event


SlowRequest: TypeAlias = tuple[int, int, int, int]  # client_id, start, latency, service_id
Overlap: TypeAlias = tuple[int, int, CumulativeTime]  # start, latency, and the time taken by the cause
COLLECTION = "collection"


def timeline_name(role: str, number: int) -> str:
    """Return the name, such as 'service 0', of the timeline of a service's or client's waits for a CPU core."""
    return f"{role} {number}"


def slow_requests(
    said: Sequence[Mapping[str, Any] | None],
    collected: Sequence[ServicePauses],
    waits: Mapping[str, CumulativeTime],
    latency: Mapping[str, Any],
    windows: Sequence[TimeWindow],
) -> dict[str, dict[str, Any]]:
    """For p99 and p99.9, return how many requests were slower, and which share of their time each cause took.

    said: the `slow` key of each client. A percentile is left out if a client did not record all slower requests; the
        result is empty if a client recorded none.
    waits: timelines by the names of timeline_name(), and STEAL; an unknown timeline has no share
    """
    if not said or not all(said):
        return {}
    above_ns = max(slow["above_ns"] for slow in said if slow)
    requests = [(client_id, *request) for client_id, slow in enumerate(said) if slow for request in slow["requests"]]
    percentiles = {name: latency.get(f"{name}_ns", 0) for name in PERCENTILES}
    return {
        name: {
            "threshold_ns": threshold_ns,
            **_laid([request for request in requests if request[2] > threshold_ns], collected, waits, windows),
        }
        for name, threshold_ns in percentiles.items()
        if threshold_ns and threshold_ns >= above_ns
    }


def _laid(
    requests: Sequence[SlowRequest],
    collected: Sequence[ServicePauses],
    waits: Mapping[str, CumulativeTime],
    windows: Sequence[TimeWindow],
) -> dict[str, Any]:
    is_collecting_known = bool(collected) and all(pauses.summary for pauses in collected)
    collections = [CumulativeTime.of_spans(pauses.spans) for pauses in collected] if is_collecting_known else []
    held_up: dict[str, Callable[[int, int], CumulativeTime]] = {
        COLLECTION: lambda client_id, service_id: collections[service_id],
        SERVICE: lambda client_id, service_id: waits[timeline_name(SERVICE, service_id)],
        CLIENT: lambda client_id, service_id: waits[timeline_name(CLIENT, client_id)],
        STEAL: lambda client_id, service_id: waits[STEAL],
    }
    known: dict[str, list[Overlap]] = {}
    for cause, over in held_up.items():
        with suppress(LookupError):  # the cause is unknown for some of the requests
            known[cause] = [(start, took, over(client, service)) for client, start, took, service in requests]
    return {
        "requests": len(requests),
        **(_collected(known[COLLECTION], windows) if is_collecting_known else {}),
        "causes": {cause: _shares(laid, windows) for cause, laid in known.items() if laid},
    }


def _shares(laid: Sequence[Overlap], windows: Sequence[TimeWindow]) -> dict[str, float]:
    """Return the shares of time that a cause takes: of the slow requests (`share`) and of the timed window (`window`).

    The timed window is that of the services or clients of these requests.
    """
    total_ns = sum(latency_ns for _, latency_ns, _ in laid)
    length_ns = max(1, sum(window.end_ns - window.start_ns for window in windows))
    whole = {
        id(over): sum(over.within_ns(window.start_ns, window.end_ns) for window in windows) / length_ns
        for *_, over in laid
    }
    taken_ns = sum(over.within_ns(start_ns, start_ns + latency_ns) for start_ns, latency_ns, over in laid)
    usual_ns = sum(whole[id(over)] * latency_ns for _, latency_ns, over in laid)
    return {"share": round(min(1.0, taken_ns / total_ns), 4), "window": round(min(1.0, usual_ns / total_ns), 4)}


def _collected(laid: Sequence[Overlap], windows: Sequence[TimeWindow]) -> dict[str, Any]:
    """Count the requests that overlap garbage collections.

    overlapping: requests that overlap a collection
    by_chance: requests that would overlap a collection by chance: each is moved to SHIFTS other times of the window,
        with its length reduced by its time in collections; the mean count
    mostly: requests that spent at least half of their time in collections
    """
    overlaps_ns = [over.within_ns(start_ns, start_ns + latency_ns) for start_ns, latency_ns, over in laid]
    pairs = list(zip(laid, overlaps_ns, strict=True))
    return {
        "overlapping": sum(map(bool, overlaps_ns)),
        "by_chance": sum(bool(over.within_ns(start, end)) for start, end, over in _elsewhere(pairs, windows)) / SHIFTS,
        "mostly": sum(2 * overlap_ns >= latency_ns for (_, latency_ns, _), overlap_ns in pairs),
    }


def _elsewhere(
    pairs: Sequence[tuple[Overlap, float]], windows: Sequence[TimeWindow]
) -> Iterator[tuple[int, int, CumulativeTime]]:
    """Yield copies of each slow request, moved to SHIFTS other moments of the measurement.

    The copies show how often a request overlaps a garbage collection by chance.
    """
    ends_ns = [*accumulate(window.end_ns - window.start_ns for window in windows)]
    for number in range(1, SHIFTS + 1):
        shift_ns = int(number * _GOLDEN % 1 * ends_ns[-1])
        for (start_ns, latency_ns, over), overlap_ns in pairs:
            at = max(0, bisect_right(windows, start_ns, key=lambda window: window.start_ns) - 1)
            place_ns = (ends_ns[at] - (windows[at].end_ns - start_ns) + shift_ns) % max(1, ends_ns[-1])
            at = min(bisect_right(ends_ns, place_ns), len(windows) - 1)
            moved_ns = windows[at].end_ns - (ends_ns[at] - place_ns)
            yield moved_ns, moved_ns + latency_ns - int(overlap_ns), over
