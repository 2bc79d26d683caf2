"""What the workers of an HTTP client have in common, threads and tasks alike: shares, places and counts."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.cell import Cell
from core.histogram import Histogram
from core.method import Method

REQUEST_DEADLINE_S = 5.0
GIVE_UP_AFTER = 10
EXPECTED_BYTES = len("Hello, World!")  # what axum-server answers
TIMELINE_REQUESTS = 100
NEVER_NS = 1 << 62


class Tally:
    """What one worker has counted; workers share nothing while timed, summary() joins them afterwards.

    connect:  opening the connection and its first request, which is when most libraries connect; no later connect
    times_ns: start and end of each answered request in turn, on the monotonic clock. They are put into a histogram
        after the workers have ended: docs/decisions/019-http-times.md
    loop_ns:  how long the worker's loop took, from its first request to its last answer
    """

    __slots__ = ("connect", "errors", "loop_ns", "sent", "times_ns", "wrong")

    def __init__(self) -> None:
        self.connect = Histogram()
        self.clear()

    def clear(self) -> None:
        """Count from nought; the connect stays, as there is none after the warm-up."""
        self.sent = self.wrong = self.loop_ns = 0
        self.errors: Counter[str] = Counter()
        self.times_ns = array("q")

    def refuse(self, status: int) -> None:
        """Count one answer that is not the right one: of another status, or of another length."""
        if status == 200:
            self.wrong += 1
        else:
            self.errors[str(status)] += 1

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Start and end of every answered request, ns on the monotonic clock."""
        return zip(self.times_ns[::2], self.times_ns[1::2], strict=True)


@dataclass(frozen=True, kw_only=True)
class Quota:
    """requests: of each worker, None for as many as fit into slice_ns."""

    requests: tuple[int | None, ...]
    slice_ns: int = 0

    def until_ns(self, now_ns: int) -> int:
        """When a worker that begins now ends after its request."""
        return now_ns + self.slice_ns if self.slice_ns else NEVER_NS


def timed(cell: Cell, services: int, method: Method) -> Quota:
    """What is asked after `go`: NUM_REQUESTS_PER_CLIENT for each service, or as much as the duration lets."""
    return _quota(cell, cell.num_requests_per_client * services, method.duration_s)


def warmup(cell: Cell, services: int, method: Method) -> Quota:
    """What is asked in the warm-up: at least one request of each worker."""
    share, seconds = method.warmup.share, method.warmup.seconds
    if method.duration_s:
        share, seconds = 0.0, seconds or share * method.duration_s
    requests = round(share * cell.num_requests_per_client * services)
    return _quota(cell, max(requests, cell.num_connections_per_client), seconds)


def _quota(cell: Cell, requests: int, seconds: float) -> Quota:
    workers = cell.num_connections_per_client
    if seconds:
        return Quota(requests=(None,) * workers, slice_ns=round(seconds * 1e9))
    return Quota(requests=tuple(shares(requests, workers)))


def shares(requests: int, workers: int) -> list[int]:
    """*requests* divided among *workers*; the remainder goes to the first ones."""
    whole, more = divmod(requests, workers)
    return [whole + (number < more) for number in range(workers)]


def turns(cell: Cell, client_id: int, services: int) -> list[int]:
    """Which service each worker asks: the workers of all clients, one after the other, go round the services."""
    first = client_id * cell.num_connections_per_client
    return [(first + number) % services for number in range(cell.num_connections_per_client)]


def places(cell: Cell, client_id: int, addresses: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """Host and port that each worker asks, in turns()."""
    chosen = (addresses[turn][0] for turn in turns(cell, client_id, len(addresses)))
    return [(host, int(port)) for host, _, port in (address.rpartition(":") for address in chosen)]


def summary(tallies: Sequence[Tally], started_ns: int, finished_ns: int, worker: str) -> dict[str, Any]:
    """A client's result; bench_ns is from before the first worker is made until the last has ended.

    worker: what a worker is, thread or task. workers_ns: each worker's loop. timeline: each worker's first requests as
    [start, end], ns from *started_ns*.
    """
    latency, connect, errors = Histogram(), Histogram(), Counter[str]()
    for tally in tallies:
        errors += tally.errors + _record(tally, latency)
        connect.merge(tally.connect)
    return {
        "started_ns": started_ns,
        "finished_ns": finished_ns,
        "completion_ns": finished_ns - started_ns,
        "requests": sum(tally.sent for tally in tallies),
        "answered": latency.count,
        "wrong": sum(tally.wrong for tally in tallies),
        "errors": dict(errors),
        "latency": latency.to_json(),
        "connect": connect.to_json(),
        "bench_ns": finished_ns - started_ns,
        "worker": worker,
        "workers_ns": [tally.loop_ns for tally in tallies],
        "timeline": [_timeline(tally, started_ns) for tally in tallies],
    }


def _record(tally: Tally, latency: Histogram) -> Counter[str]:
    """Record its answers, and count those that came too late: not every library keeps a deadline for a whole answer."""
    late, deadline_ns = Counter[str](), round(REQUEST_DEADLINE_S * 1e9)
    for start_ns, end_ns in tally.pairs():
        if end_ns - start_ns > deadline_ns:
            late["timeout"] += 1
        else:
            latency.record(end_ns - start_ns)
    return late


def _timeline(tally: Tally, started_ns: int) -> list[list[int]]:
    return [[start - started_ns, end - started_ns] for start, end in islice(tally.pairs(), TIMELINE_REQUESTS)]
