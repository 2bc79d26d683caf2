"""Pairs of services whose ratio is known, and the truth about each service by simulation of its closed loop."""

from dataclasses import dataclass, replace
from functools import cache
from heapq import heapify, heappop, heappush
from math import ceil, log
from random import Random

from tests.known.service import Behaviour, Pattern
from tests.tables import table

SIMULATED = 50_000
# A queue is measured in blocks of a finite length, so even a perfect measurement differs from the formula. Its
# percentiles lie within a range that holds 99 % of so many simulated measurements.
BLOCKS, MEASUREMENTS, OUTSIDE = 8, 400, 0.005


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Two services that the same load is sent to.

    base, other: the behaviours of the two arms; the ratio is other / base
    connections: how many connections send, each with one request at a time
    rate:        the requests per second that are due at random times (Poisson); 0 if connections send without a pause
    think_ms:    the pause between an answer and the next request
    slow_weight: the client sends /slow once in so many requests; 0 for never
    duration_s:  the time of one cell: whole periods of a stop
    warmup:      the warm-up, as --warmup takes it
    """

    base: Behaviour
    other: Behaviour
    connections: int = 16
    rate: int = 0
    think_ms: int = 0
    slow_weight: int = 0
    duration_s: float = 2.0
    warmup: str = "10%"

    @property
    def is_unsteady(self) -> bool:
        """Whether both services are slower at first."""
        return bool(self.base.cold_requests)

    @property
    def truths(self) -> tuple["Truth", "Truth"]:
        """Return the truth about both services."""
        if self.rate:
            base, other = (queue(one, self.rate, self.duration_s) for one in (self.base, self.other))
            return base, other
        both = [replace(one, slow_every=one.slow_every or self.slow_weight) for one in (self.base, self.other)]
        base, other = (simulate(one, self.connections, self.think_ms / 1e3) for one in both)
        return base, other

    @property
    def ratio(self) -> float:
        """Return the throughput of the other service divided by that of the base."""
        base, other = self.truths
        return other.rate / base.rate


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of a service: answers per second, and percentiles of the latency in ms.

    spread: the factors of p99 and of p99.9 between which a right measurement lies
    """

    rate: float
    p99_ms: float
    p999_ms: float
    spread: tuple[tuple[float, float], tuple[float, float]] = ((0.9, 1.1), (0.9, 1.1))


SAME = "same"
SCENARIOS: dict[str, Scenario] = {}
for title, row in table(__file__).items():
    arms = [Behaviour(**row.pop(arm)) for arm in ("base", "other")]
    SCENARIOS[title] = Scenario(base=arms[0], other=arms[1], **row)


@cache
def queue(behaviour: Behaviour, rate: int, duration_s: float) -> Truth:
    """Return the truth about an M/M/1 queue: the time in it is exponential. Source: L. Kleinrock, Queueing Systems."""
    mean_ms = 1e3 / (1e3 / behaviour.answer_ms - rate)
    percentiles_ms = mean_ms * log(100), mean_ms * log(1000)
    random = Random(1)
    found = [measured_queue(behaviour, rate, duration_s, random) for _ in range(MEASUREMENTS)]
    low_p99, high_p99, low_p999, high_p999 = (
        sorted(times)[round(share * (MEASUREMENTS - 1))] / true_ms
        for times, true_ms in zip(zip(*found, strict=True), percentiles_ms, strict=True)
        for share in (OUTSIDE, 1 - OUTSIDE)
    )
    p99_ms, p999_ms = percentiles_ms
    return Truth(rate=rate, p99_ms=p99_ms, p999_ms=p999_ms, spread=((low_p99, high_p99), (low_p999, high_p999)))


def measured_queue(behaviour: Behaviour, rate: int, duration_s: float, random: Random) -> tuple[float, float]:
    """Return p99 and p99.9 in ms of one perfect measurement in BLOCKS blocks, each after a warm-up of a tenth."""
    times_ms = []
    for _ in range(BLOCKS):
        pattern, free_s, now_s = Pattern(behaviour, random), 0.0, random.expovariate(rate)
        while now_s < 1.1 * duration_s:
            free_s = max(now_s, free_s) + pattern.begin_request(now_s)
            if now_s >= 0.1 * duration_s:
                times_ms.append(1e3 * (free_s - now_s))
            now_s += random.expovariate(rate)
    times_ms.sort()
    p99_ms, p999_ms = (times_ms[ceil(share * len(times_ms)) - 1] for share in (0.99, 0.999))
    return p99_ms, p999_ms


@cache
def simulate(behaviour: Behaviour, connections: int, think_s: float) -> Truth:
    """Return the truth about a service in a closed loop, from SIMULATED requests or a few more, in whole periods."""
    pattern = Pattern(behaviour, Random(1))
    # When something happens, on which connection, and when the request arrived that is answered then.
    events: list[tuple[float, int, float | None]] = [(number / 1e4, number, None) for number in range(connections)]
    heapify(events)
    period = behaviour.stop_every or 1
    count, free_s, now_s = period * ceil(SIMULATED / period), 0.0, 0.0
    latencies_s: list[float] = []
    while len(latencies_s) < count:
        now_s, number, arrived_s = heappop(events)
        if arrived_s is None:
            time_s = pattern.begin_request(now_s)
            free_s = max(now_s, free_s if behaviour.works else 0.0) + time_s
            heappush(events, (free_s, number, now_s))
        elif now_s < pattern.stopped_until_s:
            heappush(events, (pattern.stopped_until_s, number, arrived_s))
        else:
            latencies_s.append(now_s - arrived_s)
            heappush(events, (now_s + think_s, number, None))
    latencies_s.sort()
    p99_s, p999_s = (latencies_s[ceil(share * count) - 1] for share in (0.99, 0.999))
    return Truth(rate=count / now_s, p99_ms=p99_s * 1e3, p999_ms=p999_s * 1e3)
