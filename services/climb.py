"""How many workers may serve at once: found out by what they serve, as .NET's thread pool climbs its hill.

All begin. The first trial is of one alone, the best under a GIL; it is made again where it failed by little. Then
twice or half as many are tried now and then. A trial is held against the best of the latest windows: what disturbs a
machine only ever slows a service, so the best says what this many can do. More stay if throughput rises by GAIN,
fewer if it does not fall by LOSS, or reaches the median of those windows where they differ by more: a worker that
raises nothing costs switches, and among many services on few cores it takes from them what it does not use. What
fails is tried again later and later.
Source: github.com/dotnet/runtime, PortableThreadPool.HillClimbing.
"""

from collections import deque

WINDOW_NS, WINDOW_REQUESTS = 10_000_000, 100
LONGEST_WINDOW_NS = 200_000_000
SETTLE_NS = 4_000_000  # until sockets are where they are to be
GAIN, LOSS = 1.02, 0.98
NEARLY = 0.9  # a trial that reaches so much of what it had to gets a second window
LATEST = 8  # windows
FIRST, LATER, LONGEST_WAIT = 2, 4, 128  # windows until a trial: so many times more after one that failed
SOON = 2  # the same, after one that reached what some windows before it had
SHIFT = 1.5  # a load that changed by so much makes what was learnt void


class Direction:
    """Trials of more or of fewer workers: wait windows lie between two, left until the next."""

    __slots__ = ("left", "wait")

    def __init__(self) -> None:
        self.left = self.wait = FIRST

    def failed(self, times: int) -> None:
        self.left = self.wait = min(times * self.wait, LONGEST_WAIT)


class Climb:
    """active: how many are to serve at once, from 1 to *most*; a fixed number where *fixed* is given."""

    def __init__(self, most: int, fixed: int = 0) -> None:
        self.active = min(fixed or most, most)
        self._most = most
        self._fixed = bool(fixed)
        self._start: tuple[int, int] | None = None
        self._settled_ns = 0
        self._rates: deque[float] = deque(maxlen=LATEST)
        self._known = 0.0
        self._before = 0
        self._second = False
        self._to_one = True
        self._up, self._down = Direction(), Direction()

    def __repr__(self) -> str:
        return f"Climb({self.active} of {self._most}, {self._known:.0f} requests/s)"

    @property
    def trying(self) -> bool:
        """Whether a trial is under way, or the first is soon."""
        return not self._fixed and (bool(self._before) or len(self._rates) < FIRST)

    def pause(self) -> None:
        """What has been served since the last call says nothing; a trial under way is given up."""
        self._start = None
        if self._before:
            self.active, self._before, self._second = self._before, 0, False

    def observe(self, requests: int, now_ns: int, connections: int) -> None:
        """*requests* have been served so far; call it often.

        connections: that have been served lately; more workers than these cannot help
        """
        if self._fixed:
            return
        if self._start is None:
            if now_ns >= self._settled_ns:
                self._start = requests, now_ns
            return
        served, passed_ns = requests - self._start[0], now_ns - self._start[1]
        if passed_ns > LONGEST_WINDOW_NS and served < WINDOW_REQUESTS:  # hardly any load: nothing is learnt from it
            self._start = requests, now_ns
        elif passed_ns >= WINDOW_NS and served >= WINDOW_REQUESTS:
            self._start = requests, now_ns
            if self._before:
                self._judge(served / passed_ns * 1e9)
            else:
                self._learn(served / passed_ns * 1e9)
            if not self._before:
                self._try(now_ns, min(connections, self._most))

    def _judge(self, rate: float) -> None:
        """A window of a trial. One that succeeds is followed by the next one in its direction."""
        grew = self.active > self._before
        tried, other = (self._up, self._down) if grew else (self._down, self._up)
        usual, best = sorted(self._rates)[(len(self._rates) - 1) // 2], max(self._rates)
        wanted = best * GAIN if grew else min(best * LOSS, usual)
        if NEARLY * wanted <= rate < wanted and not self._second:
            self._second = True
            return
        if rate >= wanted:
            self._rates.clear()
            self._rates.append(rate)
            self._known = rate
            tried.left, tried.wait = 0, FIRST
            other.left = other.wait = LATER * FIRST
            self._to_one = False
        else:
            self.active, self._start = self._before, None
            failed_clearly = grew or rate < NEARLY * min(self._rates)
            tried.failed(LATER if failed_clearly else SOON)
            self._to_one &= not failed_clearly
        self._before, self._second = 0, False

    def _learn(self, rate: float) -> None:
        """A window between trials."""
        self._rates.append(rate)
        best = max(self._rates)
        if not self._known / SHIFT < best < self._known * SHIFT:
            self._known, self._up, self._down = best, Direction(), Direction()
        for direction in (self._up, self._down):
            direction.left = max(direction.left - 1, 0)

    def _try(self, now_ns: int, useful: int) -> None:
        """Begin the trial that is due, if there is one."""
        serving = min(self.active, useful)
        more, fewer = min(2 * serving, useful), 1 if self._to_one else max(serving // 2, 1)
        if not self._up.left and more > self.active:
            wanted = more
        elif not self._down.left and fewer < self.active:
            wanted = fewer
        else:
            return
        self._before, self.active = self.active, wanted
        self._start, self._settled_ns = None, now_ns + SETTLE_NS
