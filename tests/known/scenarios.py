"""Pairs of services whose ratio is known, and the truth about each service by simulation of its closed loop."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from heapq import heapify, heappop, heappush
from math import ceil, log
from random import Random

from tests.known.service import Behaviour, Pattern

SIMULATED = 50_000


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
            return queue(self.base, self.rate), queue(self.other, self.rate)
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
    """What is true of a service: answers per second, and percentiles of the latency in ms."""

    rate: float
    p99_ms: float
    p999_ms: float


def sleeps(base_ms: float, other_ms: float, **more: float) -> Scenario:
    """Return two services that sleep. more: other fields of the scenario"""
    return Scenario(base=Behaviour(answer_ms=base_ms), other=Behaviour(answer_ms=other_ms), **more)  # type: ignore[arg-type]


def works(base_ms: float, other_ms: float, **more: float) -> Scenario:
    """Return two services that work, on one core at a time. more: other fields of the scenario"""
    arms = [Behaviour(answer_ms=work_ms, works=1) for work_ms in (base_ms, other_ms)]
    return Scenario(base=arms[0], other=arms[1], **{"connections": 8, **more})  # type: ignore[arg-type]


def _mixed(answer_ms: float, slow_ms: float, slow_every: int) -> Behaviour:
    return Behaviour(answer_ms=answer_ms, slow_ms=slow_ms, slow_every=slow_every)


FIVE_MS, COLD = Behaviour(answer_ms=5), Behaviour(answer_ms=20, cold_ms=60, cold_requests=320)
SAME = "same"
SCENARIOS: Mapping[str, Scenario] = {  # times in ms
    "sleep 300/600": sleeps(300, 600),
    "sleep 116/121": sleeps(116, 121),
    "sleep 86/99": sleeps(86, 99),
    "sleep 85/90": sleeps(85, 90),
    "sleep 119.5/120.5": sleeps(119.5, 120.5),
    "mix 1 + 1.2% of 150": Scenario(base=Behaviour(answer_ms=1), other=_mixed(1, 150, 83), connections=2, duration_s=6),
    "mix 2 + 0.5%/2% of 200": Scenario(base=_mixed(2, 200, 200), other=_mixed(2, 200, 50), connections=4, duration_s=4),
    "mix 5 + 0.5% of 400": Scenario(base=FIVE_MS, other=_mixed(5, 400, 200), connections=8, duration_s=4),
    "mix 20 + 2% of 500": Scenario(
        base=Behaviour(answer_ms=20), other=_mixed(20, 500, 50), connections=8, duration_s=4
    ),
    "mix 10 + 2% of 1000 in the base": Scenario(base=_mixed(10, 1000, 50), other=Behaviour(answer_ms=10), duration_s=8),
    "think 150 + 5/50": sleeps(5, 50, think_ms=150),
    "think 1000 + 5/255": sleeps(5, 255, think_ms=1000, duration_s=2.5),
    "work 2/3": works(2, 3),
    "work 10/12": works(10, 12),
    "work 40/80": works(40, 80, duration_s=4),
    "work 60/120": works(60, 120, connections=16, duration_s=4),
    "work 2/2.1": works(2, 2.1),
    SAME: works(2, 2),
    "stop 400 every 2000": Scenario(
        base=FIVE_MS, other=replace(FIVE_MS, stop_ms=400, stop_every=1280), connections=4, duration_s=4
    ),
    "stop 3000 every 10000": Scenario(
        base=FIVE_MS, other=replace(FIVE_MS, stop_ms=3000, stop_every=5600), connections=4, duration_s=10
    ),
    "weights 79/1 of 100/200": Scenario(  # 1.25 %, because at 1 % the p99 would be either kind of request
        base=Behaviour(answer_ms=10, slow_ms=100), other=Behaviour(answer_ms=10, slow_ms=200), slow_weight=80
    ),
    "M/M/1 10/12 at 60/s": Scenario(
        base=Behaviour(answer_ms=10, queued=1),
        other=Behaviour(answer_ms=12, queued=1),
        connections=64,
        rate=60,
        duration_s=12,
    ),
    "slow first": Scenario(base=COLD, other=COLD, duration_s=10, warmup="0"),  # shorter cells have only two slices
}


def queue(behaviour: Behaviour, rate: int) -> Truth:
    """Return the truth about an M/M/1 queue: the time in it is exponential. Source: L. Kleinrock, Queueing Systems."""
    mean_ms = 1e3 / (1e3 / behaviour.answer_ms - rate)
    return Truth(rate=rate, p99_ms=mean_ms * log(100), p999_ms=mean_ms * log(1000))


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
