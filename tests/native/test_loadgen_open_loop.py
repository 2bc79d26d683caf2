"""loadgen's open loop: requests are sent when they are due, and a server that stalls cannot hide it."""

import socket
from collections import Counter
from threading import Event, Lock

import pytest

from tests.native.loadgen_peers import (
    DEADLINE_S,
    HELLO,
    Scripted,
    read_http,
    reported,
    scripted,
    silent,
)

STALL_S = 0.6
RATE = 300


def stalls_once(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """One request of all waits, and with one connection all others wait behind it."""
    if server.requests == RATE // 2:
        server.stall(STALL_S)
    connection.sendall(HELLO)
    return True


@pytest.mark.alone
def test_a_stall_shows_in_the_corrected_percentile_and_not_in_the_raw_one() -> None:
    with scripted(stalls_once, read_http) as server:
        report = reported("-n", 2 * RATE, "--rate", RATE, server.url, status=0)
    raw, corrected = report["latency"], report["latency_corrected"]
    assert raw["count"] == corrected["count"] == 2 * RATE
    assert raw["p99_ns"] < 0.1e9
    assert corrected["p99_ns"] > 0.5e9
    assert corrected["p90_ns"] > 0.3e9  # 180 of the 600 were due in the stall: 90 waited for half of it or more
    assert raw["max_ns"] >= STALL_S * 1e9
    assert report["overdue"] == 0


def test_what_is_due_is_sent_by_whichever_thread_has_a_free_connection() -> None:
    """Two of three connections, and so all of one thread, are held until all other requests have come by the third."""
    came: Counter[socket.socket] = Counter()
    counting, all_came = Lock(), Event()

    def holding(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        with counting:
            came[connection] += 1
            is_held = connection in list(came)[:2]
            if came.total() == 50:
                all_came.set()
        if is_held:
            all_came.wait(DEADLINE_S / 4)
        connection.sendall(HELLO)
        return True

    with scripted(holding, read_http) as server:
        report = reported("-c", 3, "-t", 2, "-n", 50, "--rate", 200, server.url, status=0)
    assert (report["answered"], report["overdue"]) == (50, 0)
    assert sorted(came.values()) == [1, 1, 48]


def test_requests_that_fail_count_in_the_corrected_latency() -> None:
    with scripted(silent, read_http) as server:
        flags = ("-n", 20, "--rate", 100, "--timeout", "100ms", server.url)
        report = reported(*flags, status=1)
    assert (report["answered"], report["unanswered"]) == (0, 10)
    assert report["latency_corrected"]["count"] == 10
    assert report["latency_corrected"]["min_ns"] >= 100_000_000
    assert report["overdue"] == 10
