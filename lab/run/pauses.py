"""Read which garbage collections ran in the timed window, from files that core/inside/pauses.py wrote in services.

Processes of a user write these files. If their numbers are inconsistent, the collections count as unknown, and the
cell does not fail.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import iter_unpack, unpack_from
from time import perf_counter_ns
from typing import Any, NamedTuple, TypeAlias

from core.inside.pauses import COUNTERS, GENERATIONS, HEADER_BYTES, MAGIC, RECORDS, SIZE_BYTES
from lab.run.instrumentation import Instrumentation, TimeWindow

PART = "pauses"
DEFAULT: Mapping[str, Mapping[str, Any]] = {PART: {}}
Counters: TypeAlias = tuple[tuple[int, ...], ...]  # per generation: collections, total ns, reported ns
NONE: Counters = ((0,) * COUNTERS,) * GENERATIONS


class GcPause(NamedTuple):
    """Start and end of one garbage collection, on the host's monotonic clock."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, kw_only=True)
class ServicePauses:
    """The garbage collections of one service.

    summary: counts and times as in result.json; empty if they are unknown
    spans: the collections whose times were recorded, sorted
    """

    summary: Mapping[str, Any]
    spans: Sequence[GcPause]


UNKNOWN = ServicePauses(summary={}, spans=())


def read_counters(instruments: Sequence[Instrumentation]) -> list[dict[str, Counters]]:
    """Return the present garbage collection counters of each service's processes. Call this before the timed window."""
    heads = [inside.files(PART, HEADER_BYTES) for inside in instruments]
    return [{name: counters for name, head in files.items() if (counters := _counters(head))} for files in heads]


def collections_within(
    window: TimeWindow,
    instruments: Sequence[Instrumentation],
    before: Sequence[Mapping[str, Counters]],
    clock: Callable[[], int] = perf_counter_ns,
) -> list[ServicePauses]:
    """Return the garbage collections of each service in *window*, which has just ended.

    before: the result of read_counters() at the window's start
    clock: the clock of the services' host, in ns; *window* is on the same clock
    """
    contents = [inside.files(PART, SIZE_BYTES) for inside in instruments]
    now_ns = clock()
    return [_pauses(files, mark, window, now_ns) for files, mark in zip(contents, before, strict=True)]


def _pauses(
    files: Mapping[str, bytes], before: Mapping[str, Counters], window: TimeWindow, now_ns: int
) -> ServicePauses:
    counted = [
        _since(before.get(name, NONE), _counters(content), now_ns) if len(content) == SIZE_BYTES else None
        for name, content in files.items()
    ]
    known = [counters for counters in counted if counters]
    if not known or len(known) < len(files):
        return UNKNOWN
    spans = sorted(span for content in files.values() for span in _spans(content, window))
    if any(span.end_ns > now_ns for span in spans):
        return UNKNOWN
    counters = [[sum(numbers) for numbers in zip(*of_one, strict=True)] for of_one in zip(*known, strict=True)]
    collections = [count for count, _, _ in counters]
    summary = {
        "processes": len(known),
        "collections": collections,
        "total_ns": [total_ns for _, total_ns, _ in counters],
        "reported_ns": sum(reported_ns for _, _, reported_ns in counters),
        "longest_ns": max((span.end_ns - span.start_ns for span in spans), default=0),
        "unkept": max(0, sum(collections) - len(spans)),
    }
    return ServicePauses(summary=summary, spans=spans)


def _counters(content: bytes) -> Counters | None:
    """Parse the counters in a file that core/inside/pauses.py wrote. Return None if its format is unknown.

    A file that was just made has zeros.
    """
    if len(content) < HEADER_BYTES or unpack_from("=Q", content)[0] not in (0, MAGIC):
        return None
    return tuple(iter_unpack(f"={COUNTERS}Q", content[8:HEADER_BYTES]))


def _since(before: Counters, now: Counters | None, limit: int) -> Counters | None:
    """Return the increase of the counters, or None if a difference is impossible: negative, or above *limit*."""
    if now is None:
        return None
    differences = tuple(
        tuple(later - earlier for earlier, later in zip(*pair, strict=True)) for pair in zip(before, now, strict=True)
    )
    return differences if all(0 <= number <= limit for numbers in differences for number in numbers) else None


def _spans(content: bytes, window: TimeWindow) -> Iterator[GcPause]:
    """Yield each recorded garbage collection that overlaps *window*."""
    counters = _counters(content) or NONE
    for generation, (count, _, _) in enumerate(counters):
        first = HEADER_BYTES + 16 * generation * RECORDS
        for start_ns, length_ns in iter_unpack("=QQ", content[first : first + 16 * min(count, RECORDS)]):
            if start_ns < window.end_ns and start_ns + length_ns > window.start_ns:
                yield GcPause(start_ns=start_ns, end_ns=start_ns + length_ns)
