"""When a connection sends: at once, after a think time, or at fixed times whatever became of the requests before."""

from math import ceil
from time import perf_counter_ns, sleep


class Schedule:
    """A think time before each request but the first, or fixed times, every *every_ns* from *first_ns* on."""

    __slots__ = ("_every_ns", "_next_ns", "_think_s")

    def __init__(self, think_s: float, first_ns: int = 0, every_ns: int = 0) -> None:
        self._think_s = think_s
        self._next_ns = first_ns
        self._every_ns = every_ns

    @property
    def waits(self) -> bool:
        """Return whether there is a wait before a request."""
        return bool(self._think_s or self._every_ns)

    def wait(self, number: int) -> int:
        """Wait until request *number* is due; the time it was due, ns on the monotonic clock, or 0 for now."""
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
    """That of connection *place* of those that take turns, so that together they send *rate* requests/s, evenly."""
    return Schedule(0.0, started_ns + round(place * 1e9 / rate), round(connections * 1e9 / rate))


def due_within(duration_ns: int, rate: int, place: int, connections: int) -> int:
    """How many requests at_rate() has before *duration_ns* are over."""
    first_ns, every_ns = round(place * 1e9 / rate), round(connections * 1e9 / rate)
    return max(0, ceil((duration_ns - first_ns) / every_ns))
