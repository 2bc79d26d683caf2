"""Schedules say when a connection sends its next request: at once, after a think time, or when the
request is due.

drive.py and user_service.py call wait() before each request of their timed loops, on the
thread of the connection. Bursts in prepared_requests.py is another Schedule. A due
time is in ns on the host's monotonic clock; the latency of a request counts from it.
"""

import threading
from collections.abc import Callable, Iterator
from itertools import count, islice
from random import expovariate
from time import perf_counter_ns, sleep
from typing import NamedTuple, Protocol

OVER = -1  # what wait() returns if no more requests are due
# a time that the monotonic clock does not reach
NEVER_NS = 1 << 62


class Schedule(Protocol):
    """A schedule that says when one connection sends its next request.

    waits: whether wait() can block
    """

    waits: bool

    def wait(self, number: int, until_ns: int = NEVER_NS) -> int:
        """Wait until request *number* may be sent. Return its due time in ns (0 if it has none), or
        OVER.

        OVER means that no request is left.
        until_ns: no request starts after this time, so wait() may return OVER in place of waiting
            for longer
        """


class Pace(NamedTuple):
    """The rate at which requests are sent, in requests/s (0: as fast as possible).

    poisson: whether gaps are random
    """

    rate: float = 0
    poisson: bool = False


class ThinkTime:
    """A schedule that pauses *think_s* seconds between an answer and the next request."""

    __slots__ = ("_think_s", "waits")

    def __init__(self, think_s: float) -> None:
        self._think_s = think_s
        self.waits = bool(think_s)

    def wait(self, number: int, until_ns: int = NEVER_NS) -> int:
        """Pause for the think time, except before the first request."""
        if number and self._think_s:
            # after the pause, no request could start in time
            if perf_counter_ns() + self._think_s * 1e9 >= until_ns:
                return OVER
            sleep(self._think_s)
        return 0


class Arrivals:
    """The due times of requests at a fixed rate: evenly spaced, or with the random gaps of a
    Poisson process.

    first_ns: when the first may be due; until_ns: no request is due from then on; most: how many
        are due at most
    """

    def __init__(self, pace: Pace, first_ns: int, until_ns: int, most: int | None = None) -> None:
        even = (first_ns + round(number * 1e9 / pace.rate) for number in count())
        times = _poisson(pace.rate, first_ns) if pace.poisson else even
        self._times = islice(times, most)
        self._until_ns = until_ns
        self._taken = 0
        self._lock = threading.Lock()

    def take(self) -> int:
        """Return the due time of the next request, or OVER if no request is left. Any thread may
        call this method.
        """
        with self._lock:
            due_ns = next(self._times, OVER)
            if due_ns == OVER or due_ns >= self._until_ns:
                return OVER
            self._taken += 1
        return due_ns

    def due(self) -> int:
        """Drop all remaining requests, which are then not sent. Return how many requests were due
        in total.
        """
        for _ in iter(self.take, OVER):
            pass
        return self._taken


class AtRate:
    """The schedule of a connection that sends its requests at the due times in *arrivals*.

    record_lag: called with the time in ns from when a request was due until it is sent, if the
        connection waited for it. That time is the load generator's own.
    """

    __slots__ = ("_record_lag", "_take")
    waits = True

    def __init__(self, arrivals: Arrivals, record_lag: Callable[[int], None]) -> None:
        self._take = arrivals.take
        self._record_lag = record_lag

    def wait(self, number: int, until_ns: int = NEVER_NS) -> int:
        """Wait until the next request is due."""
        due_ns = self._take()
        left_ns = due_ns - perf_counter_ns()
        if due_ns != OVER and left_ns > 0:
            sleep(left_ns / 1e9)
            self._record_lag(max(0, perf_counter_ns() - due_ns))
        return due_ns


def _poisson(rate: float, first_ns: int) -> Iterator[int]:
    due_ns = float(first_ns)
    while True:
        due_ns += expovariate(rate) * 1e9
        yield round(due_ns)
