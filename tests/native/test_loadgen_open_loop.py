"""loadgen's open loop: requests are sent when they are due, and a server that stalls cannot hide it."""

import socket

from tests.native.loadgen_peers import HELLO, Scripted, loadgen, read_http, reported, says, scripted

STALL_S = 1.0
RATE = 300


def stalling(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """One request of all waits for a second, and with one connection all others wait behind it."""
    if server.requests == RATE:
        server.stall(STALL_S)
    connection.sendall(HELLO)
    return True


def test_a_stall_of_a_second_shows_in_the_corrected_percentile_and_not_in_the_raw_one() -> None:
    with scripted(stalling, read_http) as server:
        report = reported("-n", 3 * RATE, "--rate", RATE, server.url, status=0)
    raw, corrected = report["latency"], report["latency_corrected"]
    assert raw["count"] == corrected["count"] == 3 * RATE
    assert raw["p99_ns"] < 0.1e9
    assert corrected["p99_ns"] > 0.9e9
    assert corrected["p90_ns"] > 0.5e9  # a third of the requests was due in the stall, and waited for half of it
    assert raw["max_ns"] >= STALL_S * 1e9
    assert report["overdue"] == 0


def test_requests_are_spread_over_the_time_and_none_is_sent_before_it_is_due() -> None:
    with scripted(says(HELLO), read_http) as server:
        report = reported("-c", 4, "-t", 2, "-n", 201, "--rate", 400, server.url, status=0)
    assert report["answered"] == 201
    assert 0.5e9 <= report["wall_ns"] < 1.5e9
    assert report["latency_corrected"]["min_ns"] >= report["latency"]["min_ns"]


def test_what_was_due_and_not_sent_when_time_was_over_is_told() -> None:
    with scripted(stalling, read_http) as server:
        flags = ("-d", "1500ms", "--rate", RATE, server.url)
        report = reported(*flags, status=0)
        text = loadgen("--report", "vmbench", *flags).stdout
    assert 50 < report["overdue"] < 1.5 * RATE
    assert report["answered"] + report["overdue"] in range(int(1.5 * RATE) - 5, int(1.5 * RATE) + 2)
    assert f"Open loop: {RATE} requests/s were to be sent" in text


def test_each_report_shows_both_figures() -> None:
    with scripted(says(HELLO), read_http) as server:
        flags = ("-n", 50, "--rate", 1000, server.url)
        ab, vmbench = loadgen(*flags).stdout, loadgen("--report", "vmbench", *flags).stdout
    assert "\nCorrected: " in ab
    assert "(ms), from the intended send\n" in ab
    assert "(ms), from the actual send\n" in ab
    assert "\nCorrected latency: min " in vmbench
    assert "\nLatency: min " in vmbench
