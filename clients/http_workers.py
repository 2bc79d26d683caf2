"""What the workers of an HTTP client have in common, threads and tasks alike: shares, places and counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
    """What one worker has counted; workers share nothing while timed, merge() joins them afterwards.

    connect:  opening the connection and its first request, which is when most libraries connect
    loop_ns:  how long the worker's loop took, from its first request to its last answer
    timeline: start and end of its first TIMELINE_REQUESTS answered requests, ns on the monotonic clock
    """

    __slots__ = ("answered", "connect", "errors", "latency", "loop_ns", "sent", "timeline", "wrong")

    def __init__(self) -> None:
        self.connect = Histogram()
        self.latency = Histogram()
        self.clear()

    def clear(self) -> None:
        """Count from nought; the connect stays, as there is none after the warm-up."""
        self.sent = self.answered = self.wrong = self.loop_ns = 0
        self.errors: Counter[str] = Counter()
        self.timeline: list[tuple[int, int]] = []
        self.latency.clear()

    def check(self, status: int, size_bytes: int) -> bool:
        """Count one answer by its status and the length of its body; whether it is the right one."""
        self.answered += 1
        if status == 200 and size_bytes == EXPECTED_BYTES:
            return True
        if status == 200:
            self.wrong += 1
        else:
            self.errors[str(status)] += 1
        return False

    def merge(self, other: "Tally") -> None:
        """Add what *other* has counted; loop_ns and timeline stay each worker's own."""
        self.sent += other.sent
        self.answered += other.answered
        self.wrong += other.wrong
        self.errors += other.errors
        self.latency.merge(other.latency)
        self.connect.merge(other.connect)


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


def summary(tallies: Sequence[Tally], started_ns: int, finished_ns: int) -> dict[str, Any]:
    """A client's result; bench_ns is from before the first worker is made until the last has ended.

    workers_ns: each worker's loop. timeline: each worker's first requests as [start, end], ns from *started_ns*.
    """
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return {
        "started_ns": started_ns,
        "finished_ns": finished_ns,
        "completion_ns": finished_ns - started_ns,
        "requests": total.sent,
        "answered": total.answered,
        "wrong": total.wrong,
        "errors": dict(total.errors),
        "latency": total.latency.to_json(),
        "connect": total.connect.to_json(),
        "bench_ns": finished_ns - started_ns,
        "workers_ns": [tally.loop_ns for tally in tallies],
        "timeline": [[[start - started_ns, end - started_ns] for start, end in tally.timeline] for tally in tallies],
    }
