"""An open loop: requests are sent when they are due, and what a stall held up counts from then."""

import socket
import threading
from itertools import count
from pathlib import Path

import pytest

from clients.schedule import due_within
from core.histogram import Histogram
from core.wire import frame
from tests.clients.driving import cached, client, counts, services
from tests.clients.scripted import RIGHT, request_from

STALL_S = 0.1
RATE, REQUESTS = 200, 100


def stalls_once(sock: socket.socket) -> None:
    for number in count(1):
        if not request_from(sock):
            return
        if number == 40:
            threading.Event().wait(STALL_S)
        sock.sendall(frame(RIGHT))


@pytest.mark.parametrize("rate", [RATE, 0])
def test_a_stall_of_100_ms_is_in_the_p99_of_an_open_loop_and_in_one_request_of_a_closed_one(
    short_folder: Path, rate: int
) -> None:
    with (
        services(short_folder, stalls_once) as (service,),
        client(cached, [[service.address]], NUM_REQUESTS_PER_CLIENT=REQUESTS, RATE=rate) as one,
    ):
        result = one.run()
    assert counts(result) == (REQUESTS, 0, {})
    latency = Histogram.from_json(result["latency"])
    assert latency.max_ns >= 0.099e9
    if rate:
        # At 200/s 20 requests are due in the stall. They wait 100, 95, 90, ... 5 ms: 95 is the second of 100, 50 the
        # 11th. A machine that is busy only adds to that.
        assert latency.quantile(0.99) >= 0.094e9
        assert latency.quantile(0.90) >= 0.049e9
    else:
        assert latency.total_ns <= result["completion_ns"]  # of one after the other, whatever else is held up
    assert result.get("overdue") == (0 if rate else None)


def test_connections_take_turns_and_together_keep_the_rate() -> None:
    # 10 requests/s over 3 connections: due at 0, 0.3, 0.6, 0.9 s; at 0.1, 0.4, 0.7 s; at 0.2, 0.5, 0.8 s
    assert [due_within(950_000_000, 10, place, 3) for place in range(3)] == [4, 3, 3]
    assert [due_within(150_000_000, 10, place, 3) for place in range(3)] == [1, 1, 0]
