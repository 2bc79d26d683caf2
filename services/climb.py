"""How many workers may serve at once: found out by what they serve, as .NET's thread pool climbs its hill.

All begin. The first trial is of one alone, the best under a GIL; then twice or half as many are tried now and then.
More stay if throughput rises by GAIN, fewer if it does not fall by LOSS: a worker that raises nothing costs switches.
What fails is tried again later and later.
Source: github.com/dotnet/runtime, PortableThreadPool.HillClimbing.
"""

WINDOW_NS, WINDOW_REQUESTS = 10_000_000, 100
LONGEST_WINDOW_NS = 200_000_000
SETTLE_NS = 4_000_000  # until sockets are where they are to be
GAIN, LOSS = 1.05, 0.98
LATER, LONGEST_WAIT = 4, 64  # windows between two trials: so many times more after one that failed
SHIFT = 1.5  # a load that changed by so much makes what was learnt void


class Climb:
    """active: how many are to serve at once, from 1 to *most*; a fixed number where *fixed* is given."""

    def __init__(self, most: int, fixed: int = 0) -> None:
        self.active = min(fixed or most, most)
        self._most = most
        self._fixed = bool(fixed)
        self._start: tuple[int, int] | None = None
        self._settled_ns = 0
        self._rate = 0.0
        self._before = 0
        self._wait = self._left = 1
        self._to_one = True
        self._up = False

    def __repr__(self) -> str:
        return f"Climb({self.active} of {self._most}, {self._rate:.0f} requests/s)"

    def pause(self) -> None:
        """What has been served since the last call says nothing; a trial under way is given up."""
        self._start = None
        if self._before:
            self.active, self._before = self._before, 0

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
        if passed_ns > LONGEST_WINDOW_NS:  # hardly any load: nothing can be learnt from it
            self._start = requests, now_ns
        elif passed_ns >= WINDOW_NS and served >= WINDOW_REQUESTS:
            self._start = requests, now_ns
            rate = served / passed_ns * 1e9
            if self._before:
                self._judge(rate, now_ns)
            else:
                self._learn(rate, now_ns, min(connections, self._most))

    def _change(self, active: int, now_ns: int) -> None:
        self.active, self._start, self._settled_ns = active, None, now_ns + SETTLE_NS

    def _judge(self, rate: float, now_ns: int) -> None:
        """The end of a trial."""
        grew = self.active > self._before
        if rate >= self._rate * (GAIN if grew else LOSS):
            self._rate, self._wait = rate, 1
        else:
            self._change(self._before, now_ns)
            self._up, self._wait = not grew, min(LATER * self._wait, LONGEST_WAIT)
        self._before, self._left, self._to_one = 0, self._wait, False

    def _learn(self, rate: float, now_ns: int, useful: int) -> None:
        """A window between trials."""
        if self._rate and 1 / SHIFT < rate / self._rate < SHIFT:
            self._rate = (self._rate + rate) / 2
        else:
            self._rate, self._wait, self._left = rate, 1, 2
        self._left -= 1
        if self._left <= 0:
            self._try(now_ns, useful)

    def _try(self, now_ns: int, useful: int) -> None:
        serving = min(self.active, useful)
        fewer = 1 if self._to_one else max(serving // 2, 1)
        wanted = min(2 * serving, useful) if self._up else fewer
        if wanted == serving:  # as far as this way goes, and it came from the other
            self._up, self._left = not self._up, LATER**2
        else:
            self._before = self.active
            self._change(wanted, now_ns)
