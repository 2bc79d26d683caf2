"""Keep the slowest requests of a client and their times, to compare them with pauses of the service."""

from heapq import heappush, heapreplace, nlargest
from typing import Any

MOST = 512  # for a client process
FEWEST = 16  # for each of its tallies


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
        """Add a request that took longer than floor_ns. If the list is full, remove the fastest request."""
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
        """Return the latency above which this list has every request. Faster requests may be missing."""
        return max(self._above_ns, self.floor_ns)

    def to_json(self) -> dict[str, Any]:
        """Return the slowest requests for the client's result line, each as [start_ns, latency_ns, service_id]."""
        requests = [[start_ns, latency_ns, service_id] for latency_ns, start_ns, service_id in self._noted]
        return {"above_ns": self.above_ns, "requests": requests} if requests else {}


def shared(tallies: int) -> int:
    """Return how many slow requests each tally (a set of counts) keeps if a client has *tallies* tallies."""
    return max(FEWEST, MOST // tallies)
