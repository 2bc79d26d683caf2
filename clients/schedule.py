"""Schedules: when a connection sends its next request. Either at once, after a think time, or at fixed times."""

from math import ceil
from time import perf_counter_ns, sleep


class Schedule:
    """A schedule with a think time before each request but the first, or with fixed times.

    Fixed times begin at *first_ns* and repeat every *every_ns*, even if earlier requests are late.
    """

    __slots__ = ("_every_ns", "_next_ns", "_think_s")

    def __init__(self, think_s: float, first_ns: int = 0, every_ns: int = 0) -> None:
        self._think_s = think_s
        self._next_ns = first_ns
        self._every_ns = every_ns

    @property
    def waits(self) -> bool:
        """Return whether the schedule waits before requests."""
        return bool(self._think_s or self._every_ns)

    def wait(self, number: int) -> int:
        """Wait until request *number* is due. Return its due time in ns on the monotonic clock, or 0 without one."""
        if not self._every_ns:
            if number and self._think_s:
                sleep(self._think_s)
            return 0
        intended_ns = self._next_ns
        self._next_ns += self._every_ns
        late_ns = perf_counter_ns() - intended_ns
        if late_ns < 0:
            sleep(-late_ns / 1e9)
        return intended_ns


def at_rate(rate: int, place: int, connections: int, started_ns: int) -> Schedule:
    """Return the schedule of connection *place* of *connections*, which take turns at *rate* requests/s in total."""
    return Schedule(0.0, started_ns + round(place * 1e9 / rate), round(connections * 1e9 / rate))


def due_within(duration_ns: int, rate: int, place: int, connections: int) -> int:
    """Return how many requests at_rate() schedules within *duration_ns*."""
    first_ns, every_ns = round(place * 1e9 / rate), round(connections * 1e9 / rate)
    return max(0, ceil((duration_ns - first_ns) / every_ns))
