"""Counts of a client: requests, answers, errors and latencies.

Tally is the base of CallTally (call_tally.py) and PlanTally (prepared_requests.py).
experiments/http_clients/workers.py sums up in one. count() runs for each request of a timed loop,
so it must stay as cheap as it is. A slice of time (core.child.Slice) begins with a lead, whose
requests do not count. to_result() gives keys of record/child_lines.py.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappush, heapreplace, nlargest

from core.child import Slice
from core.histogram import Histogram, Slices
from core.messages import Json

MOST = 512  # slowest requests that a client process keeps
FEWEST = 16  # slowest requests that each of its tallies keeps, however many tallies there are


class Slowest:
    """The slowest requests to one service, at most *limit* of them.

    It has no lock: each thread has its own, and they are merged after the join.
    floor_ns: the timed loop calls note() only for requests that are slower than this, which few are
    """

    __slots__ = ("_above_ns", "_limit", "_noted", "floor_ns", "service_id")

    def __init__(self, limit: int = MOST, service_id: int = 0) -> None:
        self._limit = limit
        self.service_id = service_id
        self.clear()

    def clear(self) -> None:
        """Remove all requests from the list."""
        self.floor_ns = self._above_ns = 0
        self._noted: list[tuple[int, int, int]] = []

    def note(self, latency_ns: int, start_ns: int) -> None:
        """Add a request that took longer than floor_ns. If the list is full, remove the fastest
        request.
        """
        request = (latency_ns, start_ns, self.service_id)
        if len(self._noted) < self._limit:
            heappush(self._noted, request)
            if len(self._noted) < self._limit:
                return
        else:
            heapreplace(self._noted, request)
        self.floor_ns = self._noted[0][0]

    def merge(self, other: "Slowest") -> None:
        """Add the slow requests of *other* to this list."""
        together = self._noted + other._noted
        self._above_ns = max(self.above_ns, other.above_ns)
        self._noted = sorted(nlargest(self._limit, together))
        if len(together) > self._limit:
            self._above_ns = max(self._above_ns, self._noted[0][0])

    @property
    def above_ns(self) -> int:
        """Return the latency above which the list of slow requests is complete. It may lack faster
        requests.
        """
        return max(self._above_ns, self.floor_ns)

    def to_json(self) -> Json:
        """Return the slowest requests for the client's result line, each as [start_ns, latency_ns,
        service_id].
        """
        requests = [
            [start_ns, latency_ns, service_id] for latency_ns, start_ns, service_id in self._noted
        ]
        return {"above_ns": self.above_ns, "requests": requests} if requests else {}


def shared(tallies: int) -> int:
    """Return how many of the slowest requests a client process keeps for each of its connections or
    services.

    tallies: the number of these connections or services, each with its own tally
    """
    return max(FEWEST, MOST // tallies)


def time_at_edges(part: Slice, connections: Iterable[Sequence["Tally"]]) -> dict[str, int]:
    """Return three times in ns, each of them added up over all connections of a client.

    own_ns is the part of the counted time in which a connection had no request under way. held_ns
    is the part in which it still waited for a request that it had sent before the counted time.
    beyond_ns is how long requests of the counted time went on after its end.
    connections: for each connection, the tallies of its requests, in the order in which they were
        sent
    """
    own_ns = held_ns = beyond_ns = 0
    for tallies in connections:
        last_ns = max((tally.last_ns for tally in tallies), default=part.counts_from_ns)
        own_ns += sum(tally.own_ns for tally in tallies) + max(0, part.until_ns - last_ns)
        held_ns += sum(tally.held_ns for tally in tallies)
        beyond_ns += max(0, last_ns - part.until_ns)
    return {"own_ns": own_ns, "held_ns": held_ns, "beyond_ns": beyond_ns}


class Tally:
    """The counts of the requests on one connection, or of one client to one service.

    Threads share nothing in the timed region: each writes to its own tally, and merge() adds them
    up afterwards.
    slowest: the list for the slowest requests, which has the number of the service
    last_ns:  when the last request was answered; for a slice without a counted request: since when
              there could be one
    own_ns:   for a slice: the time before each counted request in which no other was under way
    held_ns:  for a slice: how much of the counted time a request of the lead was under way
    first_wrong: the first request that got no right answer, with what it got and what was expected
    """

    __slots__ = (
        "_slice_end_ns",
        "answered",
        "connect",
        "errors",
        "first_wrong",
        "held_ns",
        "lag",
        "last_ns",
        "latency",
        "own_ns",
        "sent",
        "slices",
        "slowest",
        "wrong",
    )

    def __init__(self, slowest: Slowest | None = None) -> None:
        self.sent = self.answered = self.wrong = 0
        self.last_ns = self.own_ns = self.held_ns = self._slice_end_ns = 0
        self.errors: Counter[str] = Counter()
        self.first_wrong: dict[str, str] = {}
        self.latency = Histogram()
        self.connect = Histogram()
        self.lag: Histogram | None = None  # only with a rate, because each histogram takes 36 KB
        self.slowest = slowest or Slowest()
        self.slices = Slices()

    def lag_recorder(self) -> Callable[[int], None]:
        """Return a function that records how many ns after its due time a request was sent.

        Call this before the timed region, because it allocates the histogram.
        """
        self.lag = self.lag or Histogram()
        return self.lag.record

    def count(self, start_ns: int, end_ns: int, due_ns: int = 0) -> None:
        """Count the times of one answered request.

        due_ns: when the request was due; its latency counts from then. 0 if it was due when it was
            sent
        """
        begun_ns = due_ns or start_ns
        latency_ns = end_ns - begun_ns
        self.latency.record(latency_ns)
        if latency_ns > self.slowest.floor_ns:
            self.slowest.note(latency_ns, begun_ns)
        if begun_ns >= self._slice_end_ns:
            self._slice_end_ns = self.slices.turn(begun_ns, self.answered)
        # means something only after end_lead(), which sets last_ns
        self.own_ns += start_ns - self.last_ns
        self.last_ns = end_ns

    def keep_wrong(self, request: str, got: str, expected: str) -> None:
        """Save what a request got, if it is the first one without a right answer."""
        self.first_wrong = self.first_wrong or {
            "request": request,
            "got": got,
            "expected": expected,
        }

    def clear(self) -> None:
        """Set all counts to zero, except connects, and forget first_wrong."""
        self.clear_answers()
        self.errors.clear()
        self.first_wrong = {}

    def clear_answers(self) -> None:
        """Set all counts to zero, except errors and connects. The histogram objects stay the
        same.
        """
        self.sent = self.answered = self.wrong = 0
        self.last_ns = self.own_ns = self.held_ns = self._slice_end_ns = 0
        self.latency.clear()
        if self.lag:
            self.lag.clear()
        self.slowest.clear()
        self.slices.clear()

    def end_lead(self, from_ns: int, until_ns: int) -> int:
        """Reset all counts except errors and connects. Return how many answers were counted before
        the reset. Without an error, first_wrong was an answer that no longer counts.

        from_ns, until_ns: the counted time of the slice, which a request of the lead may reach into
        """
        answered, last_ns = self.answered, self.last_ns
        self.clear_answers()
        if not self.errors:
            self.first_wrong = {}
        self.last_ns = min(max(from_ns, last_ns), until_ns)
        self.held_ns = self.last_ns - from_ns
        return answered

    def merge(self, other: "Tally") -> None:
        """Add the counts of *other* to the counts of this object."""
        self.sent += other.sent
        self.answered += other.answered
        self.wrong += other.wrong
        self.errors += other.errors
        self.first_wrong = self.first_wrong or other.first_wrong
        self.latency.merge(other.latency)
        self.connect.merge(other.connect)
        if other.lag:
            self.lag = self.lag or Histogram()
            self.lag.merge(other.lag)
        self.slowest.merge(other.slowest)
        # adds the last answers, so *other* changes
        other.slices.close(other.answered)
        self.slices.merge(other.slices)

    def to_result(self, started_ns: int, finished_ns: int) -> Json:
        """Return the counts for a client's result line, with the start and end time on this host's
        monotonic clock.

        connect, lag, slow, slices and first_wrong are missing if they are empty.
        """
        optional = {
            "connect": self.connect.count and self.connect.to_json(),
            "lag": self.lag and self.lag.count and self.lag.to_json(),
            "slow": self.slowest.to_json(),
            "slices": self.slices.to_json(),
            "first_wrong": self.first_wrong,
        }
        return {
            "started_ns": started_ns,
            "finished_ns": finished_ns,
            "completion_ns": max(
                1, finished_ns - started_ns
            ),  # a slice may end before requests count
            "requests": self.sent,
            "answered": self.answered,
            "wrong": self.wrong,
            "errors": dict(self.errors),
            "latency": self.latency.to_json(),
            **{name: value for name, value in optional.items() if value},
        }
