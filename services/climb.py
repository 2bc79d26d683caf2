"""How many workers may serve at once: found out by what they serve, as .NET's thread pool climbs its hill.

Now and then twice or half as many are tried for a while. More stay if throughput rises by GAIN, fewer if it does not
fall by LOSS: a worker that raises nothing costs switches. What fails is tried again later and later.
Source: github.com/dotnet/runtime, PortableThreadPool.HillClimbing.
"""

WINDOW_NS = 20_000_000
WINDOW_REQUESTS = 200
GAIN, LOSS = 1.05, 0.98
LONGEST_WAIT = 64  # windows between two trials
SHIFT = 1.3  # a load that changed by so much makes what was learnt void


class Climb:
    """active: how many are to serve at once, from 1 to *most*; a fixed number where *fixed* is given."""

    def __init__(self, most: int, fixed: int = 0) -> None:
        self.active = min(fixed or 1, most)
        self._most = most
        self._fixed = bool(fixed)
        self._since_ns = self._since_requests = 0
        self._rate = 0.0
        self._before = 0
        self._wait = self._left = 1
        self._up = True
        self._settling = True

    def __repr__(self) -> str:
        return f"Climb({self.active} of {self._most}, {self._rate:.0f} requests/s)"

    def observe(self, requests: int, now_ns: int) -> None:
        """*requests* have been served so far; call it often."""
        if self._fixed:
            return
        served, passed_ns = requests - self._since_requests, now_ns - self._since_ns
        if passed_ns < WINDOW_NS or served < WINDOW_REQUESTS:
            if passed_ns > 50 * WINDOW_NS:  # hardly any load: nothing can be learnt from it
                self._begin_window(requests, now_ns)
            return
        self._begin_window(requests, now_ns)
        if self._settling:
            self._settling = False
        elif self._before:
            self._judge(served / passed_ns * 1e9)
        else:
            self._learn(served / passed_ns * 1e9)

    def _begin_window(self, requests: int, now_ns: int) -> None:
        self._since_requests, self._since_ns = requests, now_ns

    def _judge(self, rate: float) -> None:
        """The end of a trial."""
        grew = self.active > self._before
        if rate >= self._rate * (GAIN if grew else LOSS):
            self._rate, self._wait = rate, 1
        else:
            self.active, self._up = self._before, not grew
            self._wait = min(2 * self._wait, LONGEST_WAIT)
            self._settling = True
        self._before, self._left = 0, self._wait

    def _learn(self, rate: float) -> None:
        """A window between trials."""
        if self._rate and not 1 / SHIFT < rate / self._rate < SHIFT:
            self._wait = self._left = 1
        self._rate = rate
        self._left -= 1
        if self._left <= 0:
            self._try()

    def _try(self) -> None:
        wanted = min(2 * self.active, self._most) if self._up else max(self.active // 2, 1)
        if wanted == self.active:
            self._up = not self._up
            wanted = min(2 * self.active, self._most) if self._up else max(self.active // 2, 1)
        self._before, self.active, self._settling = self.active, wanted, True
