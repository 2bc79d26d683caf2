"""loadgen as a client of the child contract: a drop-in for the clients of every system."""

import socket
from typing import Any

import pytest

from core.histogram import Histogram
from core.method import Method, Warmup
from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.contract.serving import serving, small_cell
from tests.native.loadgen_child import FRAMED, RIGHT, a_client, asked, released, told
from tests.native.loadgen_peers import (
    HELLO,
    Scripted,
    counted,
    read_frame,
    read_http,
    read_message,
    says,
    scripted,
    silent,
)
from tests.native.programs import USAGE

SYSTEMS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "1 unix": ("1", (*FRAMED, "--fresh"), {}),
    "1 tcp": ("1", (*FRAMED, "--fresh"), {"TRANSPORT": "tcp"}),
    "2 unix": ("2", FRAMED, {}),
    "2 tcp": ("2", FRAMED, {"TRANSPORT": "tcp"}),
    "2 fresh": ("2", FRAMED, {"REUSE_CLIENT": False}),
    "2 payload": ("2", FRAMED, {"PAYLOAD_BYTES": 110_000}),
    "3": ("3", ("--protocol", "http"), {}),
    "4 random": ("4", FRAMED, {"NUM_MULTI_SOCKET": 3}),
    "4 pinned": ("4", FRAMED, {"NUM_MULTI_SOCKET": 3, "CLIENT_BINDING": "pinned"}),
}


@pytest.mark.parametrize("variant", SYSTEMS)
def test_it_takes_the_place_of_the_python_client(variant: str, any_runtime: Runtime, sandbox: Sandbox) -> None:
    number, flags, params = SYSTEMS[variant]
    params = {**params, "NUM_REQUESTS_PER_CLIENT": 130}
    with serving(number, any_runtime, sandbox, NUM_WORKERS_PER_API_SERVICE=2, **params) as service:
        cell = small_cell(find(number), any_runtime, **params).to_json()
        method = Method(warmup=Warmup(share=0.5)).to_json()
        with a_client({**cell, "client_id": 0, "addresses": [service.addresses], "method": method}, *flags) as client:
            client.tell("warm")
            assert client.line() == {"warm": True}
            result = released(client)
        served = service.end()
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (130, 130, 0, {})
    assert served["requests"] == 195  # nobody told the service to count from nought
    fresh = "--fresh" in flags or params.get("REUSE_CLIENT") is False
    assert result.get("connect", {"count": 0})["count"] == (130 if fresh else 0)
    check_result(result)
    if variant.startswith("4"):
        used = [number for number in served["requests_by_socket"] if number]
        assert len(used) == (1 if "pinned" in variant else 3)


def check_result(result: dict[str, Any]) -> None:
    """All keys that the contract names, and histograms that core reads."""
    assert set(result) >= USAGE
    assert {name for name in USAGE if type(result[name]) is not int or result[name] < 0} == set()
    assert result["max_rss_bytes"] > 1_000_000
    assert result["finished_ns"] - result["started_ns"] == result["completion_ns"] > 0
    assert (result["gil_enabled_ready"], result["gil_enabled_end"]) == (False, False)
    assert result["calc_ns"] > 0
    latency = Histogram.from_json(result["latency"])
    assert latency.count == 130
    assert latency.quantile(0.5) == result["latency"]["p50_ns"]
    assert Histogram.from_json(result["waiting"]).count == 3  # requests 0, 64 and 128


def test_it_sends_the_frames_of_the_python_client_and_none_before_go() -> None:
    heard = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        heard.append(request)
        connection.sendall(counted(200, "50"))
        return True

    with scripted(noting, read_frame) as server, a_client(told([[server.address]]), *FRAMED) as client:
        assert heard == []
        result = released(client)
    assert (result["answered"], server.connections) == (20, 1)
    assert heard[0] == b'{"method": "POST", "url": "/calc", "params": {"target": 50, "begun": true}}'
    assert set(heard[1:]) == {b'{"method": "POST", "url": "/calc", "params": {"target": 50}}'}


def test_each_service_is_asked_beginning_with_the_clients_own() -> None:
    order = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        order.append(server.address)
        connection.sendall(counted(200, "50"))
        return True

    with scripted(noting, read_frame) as first, scripted(noting, read_frame) as second:
        cell = told([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1)
        result = asked({**cell, "client_id": 3}, *FRAMED)
    assert (result["requests"], result["answered"]) == (40, 40)
    assert order == [second.address] * 20 + [first.address] * 20


def test_several_connections_divide_the_requests() -> None:
    with scripted(RIGHT, read_frame) as server:
        result = asked(told([[server.address]], NUM_CONNECTIONS_PER_CLIENT=3), *FRAMED)
    assert (result["requests"], result["answered"], server.requests, server.connections) == (20, 20, 20, 3)


def test_a_duration_is_kept_and_divided_among_services_that_have_to_wait() -> None:
    with scripted(RIGHT, read_frame) as first, scripted(RIGHT, read_frame) as second:
        cell = told([[first.address], [second.address]], NUM_THREADS_PER_CLIENT=1, method=Method(duration_s=2.0))
        result = asked(cell, *FRAMED)
    assert result["requests"] == result["answered"] == first.requests + second.requests
    assert min(first.requests, second.requests) > 10
    assert 2.0e9 <= result["completion_ns"] < 4.0e9  # each in turn for the whole duration would be 4 s


def test_a_rate_is_kept_and_latency_counts_from_the_due_time() -> None:
    with scripted(RIGHT, read_frame) as server:
        result = asked(told([[server.address]], RATE=100, NUM_CONNECTIONS_PER_CLIENT=3), *FRAMED)
    assert (result["answered"], result["rate"], result["overdue"]) == (20, 100, 0)
    assert 4 < result["offered_rate"] <= 100.001  # a busy machine sends some late; nothing sends one early
    assert 0.19e9 <= result["completion_ns"] < 5e9
    assert Histogram.from_json(result["latency"]).count == 20


@pytest.mark.parametrize(("rate", "p99_is_of_the_stall"), [(200, True), (0, False)])
def test_a_stall_of_a_second_is_in_the_p99_of_an_open_loop_and_not_of_a_closed_one(
    rate: int, p99_is_of_the_stall: bool
) -> None:
    def stalls_once(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if server.requests == 40:
            server.stall(1.0)
        return RIGHT(server, connection, request)

    with scripted(stalls_once, read_frame) as server:
        result = asked(told([[server.address]], RATE=rate, NUM_REQUESTS_PER_CLIENT=100), *FRAMED)
    # At 200/s all 60 after the 40th are due in the stall. They wait 995, 990, ... ms: 995 is the second of 100.
    assert (Histogram.from_json(result["latency"]).quantile(0.99) >= 0.94e9) == p99_is_of_the_stall


def test_an_echo_has_the_size_that_the_cell_says() -> None:
    def echo(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(request)
        return True

    with scripted(echo, read_message) as server:
        cell = told([[server.address]], MESSAGE_BYTES=100, NODELAY=False, BUFFER_BYTES=65536)
        result = asked(cell, "--protocol", "echo")
    assert (result["answered"], result["sent_bytes"], result["received_bytes"]) == (20, 2000, 2000)


def test_a_path_is_asked_for_with_get_and_without_keep_alive_each_time_anew() -> None:
    with scripted(says(HELLO), read_http) as server:
        cell = told([[server.address]], KEEP_ALIVE=False)
        result = asked(cell, "--protocol", "http", "--path", "/x")
    assert (result["answered"], result["connect"]["count"], server.connections) == (20, 20, 20)


def test_faults_are_counted_as_the_contract_says() -> None:
    with scripted(says(counted(200, "51")), read_frame) as server:
        wrong = asked(told([[server.address]]), *FRAMED)
    assert (wrong["answered"], wrong["wrong"], wrong["errors"]) == (20, 20, {})
    with scripted(says(b"", keep=False), read_frame) as server:
        closed = asked(told([[server.address]]), *FRAMED)
    assert (closed["requests"], closed["answered"], closed["errors"]) == (20, 0, {"closed": 10})
    with scripted(silent, read_frame) as server:
        mute = asked(told([[server.address]]), *FRAMED, "--timeout", "100ms")
    assert (mute["answered"], mute["errors"]) == (0, {"timeout": 1})
