"""Read which garbage collections ran in the timed window, and explain slow requests by what took
time meanwhile.

core/inside/pauses.py writes the collections of a service into files. Processes of a user write
these files, too. If their numbers are inconsistent, the collections count as unknown, and the cell
does not fail.

lab/run/cell_run.py calls read_counters() before the turns of a cell, and lab/run/cell_end.py calls
collections_within() and slow_requests(). The layout of the files is that of core/inside/pauses.py:
MAGIC, two counters for each generation, and a ring of 16-byte records for each.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import sub
from struct import iter_unpack, unpack_from
from time import perf_counter_ns

from core.histogram import Histogram
from core.inside.pauses import (
    GENERATIONS,
    HEADER_BYTES,
    MAGIC,
    RECORDS,
    SIZE_BYTES,
)
from core.messages import Json
from core.system import CLIENT
from lab.run.core_waits import CumulativeTime
from lab.run.instrumentation import Instrumentation, TimeWindow
from record.child_lines import PauseCounts, SlowRequests
from record.result_parts import Slow, SlowCause

PART = "pauses"  # the part of core/inside that records collections
DEFAULT: Mapping[str, Json] = {PART: {}}  # the parts of every usual measurement (Bench.inside)
COLLECTION = "collection"  # a cause; the others are SERVICE, CLIENT and core_waits.STEAL
PERCENTILES = ("p99", "p999")  # as Histogram.percentile() names them

Counters = Sequence[tuple[int, int]]  # for each generation: collections, total ns
Span = tuple[int, int]  # start and end, on the host's monotonic clock
# counts and times for result.json, None if unknown; recorded spans
Collections = tuple[PauseCounts | None, Sequence[Span]]
# by cause, the time that it took from each process
Timelines = Mapping[str, Sequence[CumulativeTime | None]]
NONE: Counters = [(0, 0)] * GENERATIONS  # of a process that did not exist before the window
UNKNOWN: Collections = (None, ())


# ---- garbage collections -------------------------------------------------------------------------


def read_counters(instruments: Sequence[Instrumentation]) -> list[dict[str, Counters]]:
    """Return the present garbage collection counters of each service's processes. Call this before
    the timed window.
    """
    marks = []
    for inside in instruments:
        heads = inside.files(PART, HEADER_BYTES).items()
        marks.append({name: _counters(head, HEADER_BYTES) or NONE for name, head in heads})
    return marks


def collections_within(
    windows: Sequence[TimeWindow],
    instruments: Sequence[Instrumentation],
    before: Sequence[Mapping[str, Counters]],
    to_service_clock: Callable[[int], int],
) -> list[Collections]:
    """Return the garbage collections of each service in the counted *windows*, and the times of all
    since *before*.

    before: the result of read_counters() before the first window
    to_service_clock: converts a time to the clock of the services' host; *windows* are on this
        clock
    """
    contents = [inside.files(PART, SIZE_BYTES) for inside in instruments]
    now_ns = to_service_clock(perf_counter_ns())
    return [
        _collections(files, mark, windows, now_ns)
        for files, mark in zip(contents, before, strict=True)
    ]


def _collections(
    files: Mapping[str, bytes],
    before: Mapping[str, Counters],
    windows: Sequence[TimeWindow],
    now_ns: int,
) -> Collections:
    """Return the collections of the processes of a service; UNKNOWN if an increase of a counter is
    impossible.
    """
    numbers: list[int] = []  # that must be possible times
    spans = []
    collections, total_ns, unkept = [0] * GENERATIONS, [0] * GENERATIONS, 0
    for name, content in files.items():
        counters = _counters(content, SIZE_BYTES)
        if counters is None:
            return UNKNOWN
        earlier = before.get(name, NONE)
        for generation, counter in enumerate(counters):
            more, more_ns = map(sub, counter, earlier[generation])
            newest = _newest(content, generation, min(counter[0], RECORDS), more)
            # 1 if it began in a window
            inside = sum(_clipped_ns(start_ns, start_ns + 1, windows) for start_ns, _ in newest)
            inside_ns = sum(_clipped_ns(*span, windows) for span in newest)
            recorded_ns = sum(end_ns - start_ns for start_ns, end_ns in newest)
            # Collections whose times were overwritten are spread over time like the recorded ones.
            counted = more * inside // max(1, len(newest))
            collections[generation] += counted
            total_ns[generation] += more_ns * inside_ns // max(1, recorded_ns)
            unkept += counted - inside
            numbers += more, more_ns
            spans += newest
    numbers += [end_ns for _, end_ns in spans]
    if not files or min(numbers) < 0 or max(numbers) > now_ns:
        return UNKNOWN
    counted_ns = [
        end_ns - start_ns for start_ns, end_ns in spans if _clipped_ns(start_ns, end_ns, windows)
    ]
    summary = PauseCounts(
        processes=len(files),
        collections=collections,
        total_ns=total_ns,
        longest_ns=max(counted_ns, default=0),
        unkept=unkept,
    )
    return summary, spans


def _clipped_ns(start_ns: int, end_ns: int, windows: Sequence[TimeWindow]) -> int:
    """Return how much of a time span lies in *windows*."""
    return sum(
        max(0, min(end_ns, window.end_ns) - max(start_ns, window.start_ns)) for window in windows
    )


def _counters(content: bytes, size_bytes: int) -> Counters | None:
    """Parse the counters in the first *size_bytes* of a file that core/inside/pauses.py wrote.
    Return None if its format is unknown.

    A file that was just made has zeros.
    """
    if len(content) < size_bytes or unpack_from("=Q", content)[0] not in (0, MAGIC):
        return None
    return [*iter_unpack("=QQ", content[8:HEADER_BYTES])]


def _newest(content: bytes, generation: int, kept: int, count: int) -> list[Span]:
    """Return the newest *count* garbage collections of a generation, or fewer if not so many were
    *kept*.
    """
    first = HEADER_BYTES + 16 * generation * RECORDS
    spans = sorted(iter_unpack("=QQ", content[first : first + 16 * kept]))
    return [
        (start_ns, start_ns + length_ns) for start_ns, length_ns in spans[max(0, kept - count) :]
    ]


# ---- slow requests -------------------------------------------------------------------------------


def slow_requests(
    said: Sequence[SlowRequests | None],
    timelines: Timelines,
    latency: Histogram,
    windows: Sequence[TimeWindow],
) -> dict[str, Slow]:
    """For p99 and p99.9, return how many requests were slower, and which share of their time each
    cause took.

    said: the `slow` key of each client. A percentile is left out if a client did not record all
        slower requests; the result is empty if a client recorded none.
    timelines: by cause, the time that it took from each client (CLIENT) or each service (other
        causes); None if it is not known. A cause has no share if it is unknown for some of the
        requests, or COLLECTION for some service
    """
    known = [slow for slow in said if slow]
    if not known or len(known) < len(said):
        return {}
    above_ns = max(slow.above_ns for slow in known)
    requests = [
        (client_id, *request) for client_id, slow in enumerate(known) for request in slow.requests
    ]
    explained = {}
    for name in PERCENTILES:
        threshold_ns = latency.percentile(name)
        if threshold_ns and threshold_ns >= above_ns:
            slower = [request for request in requests if request[2] > threshold_ns]
            causes = _causes(slower, timelines, windows)
            explained[name] = Slow(threshold_ns=threshold_ns, requests=len(slower), causes=causes)
    return explained


def _causes(
    requests: Sequence[tuple[int, int, int, int]],
    timelines: Timelines,
    windows: Sequence[TimeWindow],
) -> dict[str, SlowCause]:
    """Return the shares of time that each cause takes, for the causes that are known for all
    requests: of the slow requests (`share`), and of the timed window (`window`) at the services or
    clients of these requests.

    requests: client_id, start, latency and service_id of each
    """
    total_ns = sum(latency_ns for _, _, latency_ns, _ in requests)
    causes = {}
    for cause, over in timelines.items():
        usual = {line: _share_of(line, windows) for line in over if line}
        whose = 0 if cause == CLIENT else -1  # client_id or service_id of a request
        lines = [line for request in requests if (line := over[request[whose]])]
        if not lines or len(lines) < len(requests) or (cause == COLLECTION and None in over):
            continue
        taken_ns = usual_ns = 0.0
        for (_, start_ns, latency_ns, _), line in zip(requests, lines, strict=True):
            taken_ns += line.within_ns(start_ns, start_ns + latency_ns)
            usual_ns += usual[line] * latency_ns
        causes[cause] = SlowCause(
            share=round(min(1.0, taken_ns / total_ns), 4),
            window=round(min(1.0, usual_ns / total_ns), 4),
        )
    return causes


def _share_of(timeline: CumulativeTime, windows: Sequence[TimeWindow]) -> float:
    """Return the share of *windows* that a cause takes."""
    length_ns = max(1, sum(window.length_ns for window in windows))
    return sum(timeline.within_ns(*window) for window in windows) / length_ns
