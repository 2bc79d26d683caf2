"""loadgen's open loop: requests are sent when they are due, and a server that stalls cannot hide it."""

import socket
from collections import Counter
from itertools import count
from threading import Event, Lock
from time import monotonic

import pytest

from tests.native.loadgen_peers import (
    DEADLINE_S,
    HELLO,
    Script,
    Scripted,
    loadgen,
    read_http,
    reported,
    says,
    scripted,
    silent,
)

STALL_S = 1.0
RATE = 300


def stalling() -> Script:
    """One request of all waits for a second, and with one connection all others wait behind it."""
    numbers = count(1)

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if next(numbers) == RATE:
            server.stall(STALL_S)
        connection.sendall(HELLO)
        return True

    return script


def test_a_stall_of_a_second_shows_in_the_corrected_percentile_and_not_in_the_raw_one() -> None:
    with scripted(stalling(), read_http) as server:
        report = reported("-n", 3 * RATE, "--rate", RATE, server.url, status=0)
    raw, corrected = report["latency"], report["latency_corrected"]
    assert raw["count"] == corrected["count"] == 3 * RATE
    assert raw["p99_ns"] < 0.1e9
    assert corrected["p99_ns"] > 0.9e9
    assert corrected["p90_ns"] > 0.5e9  # a third of the requests was due in the stall, and waited for half of it
    assert raw["max_ns"] >= STALL_S * 1e9
    assert report["overdue"] == 0


def test_a_server_that_stalls_as_a_whole_shows_with_several_threads_too() -> None:
    stalls: list[float] = []
    numbers = count(1)

    def all_wait(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if next(numbers) == RATE:
            stalls.append(monotonic() + STALL_S)
        if stalls:
            server.stall(max(0.0, stalls[0] - monotonic()))
        connection.sendall(HELLO)
        return True

    with scripted(all_wait, read_http) as server:
        report = reported("-c", 2, "-t", 2, "-n", 3 * RATE, "--rate", RATE, server.url, status=0)
    assert report["latency"]["p99_ns"] < 0.5e9
    assert report["latency_corrected"]["p99_ns"] > 0.9e9
    assert (report["answered"], report["overdue"]) == (3 * RATE, 0)


def test_one_stalled_connection_delays_its_own_request_and_no_other() -> None:
    with scripted(stalling(), read_http) as server:
        report = reported("-c", 2, "-t", 2, "-n", 3 * RATE, "--rate", RATE, server.url, status=0)
    corrected = report["latency_corrected"]
    assert corrected["max_ns"] >= STALL_S * 1e9
    # Whatever was due in the stall was sent over the other connection: else half of it would wait, the 10th for 0.93 s.
    assert corrected["p99_ns"] < 0.8e9
    assert report["offered_rate"] == pytest.approx(RATE, rel=0.25)
    assert 2.9e9 < report["wall_ns"] < 5e9


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


def test_requests_that_nobody_was_left_to_send_are_overdue() -> None:
    numbers, answering = count(1), Lock()

    def dying(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        with answering:  # the twentieth answer is on its way before the server dies
            if next(numbers) <= 20:
                connection.sendall(HELLO)
                return True
        server.die()
        return False

    with scripted(dying, read_http) as server:
        flags = ("-c", 2, "-t", 2, "-n", 500, "--rate", 1000, server.url)
        report = reported(*flags, status=1)
    assert (report["answered"], report["given_up"]) == (20, 2)
    assert report["overdue"] == 500 - report["sent"] > 400


def test_requests_that_fail_count_in_the_corrected_latency() -> None:
    with scripted(silent, read_http) as server:
        flags = ("-n", 20, "--rate", 100, "--timeout", "100ms", server.url)
        report = reported(*flags, status=1)
        text = loadgen("--report", "vmbench", *flags).stdout
    assert (report["answered"], report["unanswered"]) == (0, 10)
    assert report["latency_corrected"]["count"] == 10
    assert report["latency_corrected"]["min_ns"] >= 100_000_000
    assert "Unanswered: 10 requests failed; raw latencies do not include them; corrected" in text
    assert "Overdue: 10 requests were due and never sent, so corrected figures are lower bounds" in text


def test_requests_are_spread_over_the_time_and_none_is_sent_before_it_is_due() -> None:
    with scripted(says(HELLO), read_http) as server:
        report = reported("-c", 4, "-t", 2, "-n", 201, "--rate", 400, server.url, status=0)
    assert report["answered"] == 201
    assert 0.5e9 <= report["wall_ns"] < 5e9
    assert report["latency_corrected"]["min_ns"] >= report["latency"]["min_ns"]


def test_what_was_due_and_not_sent_when_time_was_over_is_told() -> None:
    with scripted(stalling(), read_http) as server:
        flags = ("-d", "1500ms", "--rate", RATE, server.url)
        report = reported(*flags, status=0)
        text = loadgen("--report", "vmbench", *flags).stdout
    assert 50 < report["overdue"] < 1.5 * RATE
    assert report["answered"] + report["overdue"] == 1.5 * RATE
    assert f" of {RATE} requests/s were sent" in text
    assert report["offered_rate"] < RATE


def test_each_report_shows_both_figures() -> None:
    with scripted(says(HELLO), read_http) as server:
        flags = ("-n", 50, "--rate", 1000, server.url)
        ab, vmbench = loadgen(*flags).stdout, loadgen("--report", "vmbench", *flags).stdout
    assert "\nCorrected: " in ab
    assert "(ms), from the intended send\n" in ab
    assert "(ms), from the actual send\n" in ab
    assert "\nCorrected latency: min " in vmbench
    assert "\nLatency: min " in vmbench
