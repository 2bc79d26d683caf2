"""Slow requests laid over what held them up: collections of their services, waits for a core, what the host stole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from core.system import CLIENT, SERVICE
from lab.run.cores import STEAL, Timeline
from lab.run.inside import Window
from lab.run.pauses import Pauses

PERCENTILES = ("p99", "p999")
SHIFTS = 32
_GOLDEN = 0.6180339887498949  # shifts by its multiples fall evenly, and into step with nothing that repeats


Request: TypeAlias = tuple[int, int, int]  # start, latency, service_id
Laid: TypeAlias = tuple[int, int, Timeline]  # start, latency, and what it is laid over
COLLECTION = "collection"
CAUSES = (COLLECTION, SERVICE, CLIENT, STEAL)


def watched(role: str, number: int) -> str:
    """The name of the timeline of a service's or client's waits for a core."""
    return f"{role} {number}"


def slow_requests(
    said: Sequence[Mapping[str, Any] | None],
    collected: Sequence[Pauses],
    waits: Mapping[str, Timeline],
    latency: Mapping[str, Any],
    window: Window,
) -> dict[str, dict[str, Any]]:
    """Of each percentile, the requests that took longer: how many, and what their time is made of.

    said: what each client sent as `slow`. A percentile is left out where a client did not keep all that were slower;
    all are where one keeps none. waits: by watched(), and STEAL; what is not known has no share
    """
    if not said or not all(said):
        return {}
    above_ns = max(slow["above_ns"] for slow in said if slow)
    requests = [[(*request,) for request in slow["requests"]] for slow in said if slow]
    percentiles = {name: latency.get(f"{name}_ns", 0) for name in PERCENTILES}
    thresholds = {name: value_ns for name, value_ns in percentiles.items() if value_ns and value_ns >= above_ns}
    return {
        name: {"threshold_ns": threshold_ns, **_laid(_slower(requests, threshold_ns), collected, waits, window)}
        for name, threshold_ns in thresholds.items()
    }


def _slower(requests: Sequence[Sequence[Request]], threshold_ns: int) -> list[list[Request]]:
    return [[request for request in of_one if request[1] > threshold_ns] for of_one in requests]


def _laid(
    slow: Sequence[Sequence[Request]], collected: Sequence[Pauses], waits: Mapping[str, Timeline], window: Window
) -> dict[str, Any]:
    """slow: by client"""
    everything = [(number, request) for number, of_one in enumerate(slow) for request in of_one]
    collections = [Timeline.of_spans(pauses.spans) for pauses in collected if pauses.summary]
    is_collecting_known = len(collections) == len(collected) > 0

    def over(cause: str, client_id: int, service_id: int) -> Timeline | None:
        if cause == COLLECTION:
            return collections[service_id] if is_collecting_known else None
        return waits.get({SERVICE: watched(SERVICE, service_id), CLIENT: watched(CLIENT, client_id)}.get(cause, cause))

    known: dict[str, list[Laid]] = {}
    for cause in CAUSES:
        laid = [(start, took, over(cause, client_id, number)) for client_id, (start, took, number) in everything]
        if laid and all(timeline for *_, timeline in laid):
            known[cause] = [(start, took, timeline) for start, took, timeline in laid if timeline]
    return {
        "requests": len(everything),
        **(_collected(known.get(COLLECTION, []), window) if is_collecting_known else {}),
        "causes": {cause: _shares(laid, window) for cause, laid in known.items()},
    }


def _shares(laid: Sequence[Laid], window: Window) -> dict[str, float]:
    """share: of the time of the requests; window: of all time, at the services or clients of these requests."""
    total_ns = sum(latency_ns for _, latency_ns, _ in laid)
    length_ns = max(1, window.end_ns - window.start_ns)
    whole = {id(over): over.within_ns(window.start_ns, window.end_ns) / length_ns for *_, over in laid}
    taken_ns = sum(over.within_ns(start_ns, start_ns + latency_ns) for start_ns, latency_ns, over in laid)
    usual_ns = sum(whole[id(over)] * latency_ns for _, latency_ns, over in laid)
    return {"share": round(min(1.0, taken_ns / total_ns), 4), "window": round(min(1.0, usual_ns / total_ns), 4)}


def _collected(laid: Sequence[Laid], window: Window) -> dict[str, Any]:
    """overlapping: how many of the requests overlap a collection; mostly: that spent half of their time under some

    by_chance: how many would overlap one, had they come at other times of the window, each as long as its time outside
        of collections was; the mean over SHIFTS of them
    """
    overlaps_ns = [over.within_ns(start_ns, start_ns + latency_ns) for start_ns, latency_ns, over in laid]
    pairs = list(zip(laid, overlaps_ns, strict=True))
    return {
        "overlapping": sum(map(bool, overlaps_ns)),
        "by_chance": sum(bool(over.within_ns(start, end)) for start, end, over in _elsewhere(pairs, window)) / SHIFTS,
        "mostly": sum(2 * overlap_ns >= latency_ns for (_, latency_ns, _), overlap_ns in pairs),
    }


def _elsewhere(pairs: Sequence[tuple[Laid, float]], window: Window) -> Iterator[tuple[int, int, Timeline]]:
    length_ns = max(1, window.end_ns - window.start_ns)
    for number in range(1, SHIFTS + 1):
        shift_ns = int(number * _GOLDEN % 1 * length_ns)
        for (start_ns, latency_ns, over), overlap_ns in pairs:
            moved_ns = window.start_ns + (start_ns - window.start_ns + shift_ns) % length_ns
            yield moved_ns, moved_ns + latency_ns - int(overlap_ns), over
