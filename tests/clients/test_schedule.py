"""An open loop: requests are sent when they are due, and what a stall held up counts from then."""

import socket
from itertools import pairwise
from statistics import fmean, stdev

import pytest

from clients.schedule import OVER, Arrivals, Pace
from core.histogram import Histogram
from core.wire import frame
from tests.clients.driving import cached, client, counts, services
from tests.clients.scripted import RIGHT
from tests.native.loadgen_peers import Scripted, says

STALL_S = 0.1
RATE, REQUESTS = 200, 100


def stalls_once(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    if server.requests == 40:
        server.stall(STALL_S)
    return says(frame(RIGHT))(server, connection, request)


def test_a_stall_of_100_ms_is_in_the_p99_of_an_open_loop() -> None:
    with (
        services(stalls_once) as addresses,
        client(cached, addresses, NUM_REQUESTS_PER_CLIENT=REQUESTS, RATE=RATE) as one,
    ):
        result = one.run()
    assert counts(result) == (REQUESTS, 0, {})
    latency = Histogram.from_json(result["latency"])
    assert latency.max_ns >= 0.099e9
    # At 200/s 20 requests are due in the stall. They wait 100, 95, 90, ... 5 ms: 95 is the second of 100, 50 the
    # 11th. A machine that is busy only adds to that.
    assert latency.quantile(0.99) >= 0.094e9
    assert latency.quantile(0.90) >= 0.049e9
    assert result["overdue"] == 0


def test_requests_are_due_at_even_distances_before_the_end_and_each_is_taken_once() -> None:
    arrivals = Arrivals(Pace(3), 1_000_000_000, 2_000_000_000)
    assert [arrivals.take() for _ in range(4)] == [1_000_000_000, 1_333_333_333, 1_666_666_667, OVER]
    assert arrivals.due() == 3
    assert Arrivals(Pace(10), 0, 950_000_000).due() == 10
    assert Arrivals(Pace(10), 0, 950_000_000, 4).due() == 4


def test_the_gaps_of_a_poisson_process_have_the_mean_and_the_deviation_of_the_rate() -> None:
    arrivals = Arrivals(Pace(1000, True), 0, 20_000_000_000)
    times = list(iter(arrivals.take, OVER))
    gaps_s = [(later - earlier) / 1e9 for earlier, later in pairwise(times)]
    # 20,000 gaps: the standard errors of mean and deviation are 0.7 % and 1 %; six of each are allowed
    assert fmean(gaps_s) == pytest.approx(0.001, rel=0.042)
    assert stdev(gaps_s) == pytest.approx(0.001, rel=0.06)
