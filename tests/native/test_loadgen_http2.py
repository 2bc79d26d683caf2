"""loadgen and HTTP/2 servers that flood: a server by hand, whose frames are those of RFC 9113."""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest

from core.request_plan import Request, RequestPlan
from tests.clients.user_service.both import native
from tests.clients.user_service.sessions import told
from tests.native.loadgen_peers import Scripted, exactly, scripted
from tests.tables import each_row

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS = 1, 4
OK = b"\x88"  # :status 200, by the static table of HPACK
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

GET, POST = Request(), Request(method="POST")
Play = Callable[[Scripted, socket.socket, int], bool]


def frame(kind: int, stream: int = 0, payload: bytes = b"", flags: int = 0) -> bytes:
    """One frame."""
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def answer(stream: int, status: bytes = OK) -> bytes:
    """A whole answer without a body."""
    return frame(HEADERS, stream, status, END_STREAM | END_HEADERS)


def read_request(connection: socket.socket) -> bytes:
    """Take frames until one is a request, and return its stream's number."""
    if connection.recv(1, socket.MSG_PEEK) == b"P":
        exactly(connection, len(PREFACE))
        connection.sendall(frame(SETTINGS))
    while True:
        size, kind, _, stream = struct.unpack("!IBBI", b"\0" + exactly(connection, 9))
        exactly(connection, size)
        if kind == HEADERS:
            return bytes(str(stream), "ascii")


def result_of(play: Play, request: Request = GET, limit_s: float = 1.0, **params: int) -> dict[str, Any]:
    """The result of 20 requests to a server that plays so for each, which it is told by the number of its stream."""
    own = told(RequestPlan(requests=(request,)), protocol="http2", answer_deadline_s=limit_s)
    with scripted(lambda server, connection, stream: play(server, connection, int(stream)), read_request) as server:
        return native(own, server.address, **params)


def drain(connection: socket.socket) -> None:
    """Read and forget."""
    with suppress(OSError):
        while connection.recv(1 << 20):
            pass


FLOODS = {
    "pings": frame(PING, payload=b"12345678"),
    "window updates": frame(WINDOW_UPDATE, payload=b"\0\0\0\1"),
    "settings": frame(SETTINGS),
    "empty data": frame(DATA, 1),
    "unknown frames": frame(99, payload=b"x" * 100),
}


@pytest.mark.parametrize(
    ("name", "reads"),
    [*((name, True) for name in FLOODS), ("pings", False), ("settings", False)],  # which the client replies to
)
def test_a_server_that_floods_costs_an_error_and_neither_memory_nor_time(name: str, *, reads: bool) -> None:
    def play(server: Scripted, connection: socket.socket, stream: int) -> bool:
        if reads:
            threading.Thread(target=drain, args=(connection,), daemon=True).start()
        while not server.stopped.is_set():
            connection.sendall(FLOODS[name] * 1000)
        return False

    began = monotonic()
    result = result_of(play, limit_s=0.5, NUM_REQUESTS_PER_CLIENT=4)
    assert monotonic() - began < 10.0
    assert result["answered"] == 0
    assert set(result["errors"]) <= {"garbled", "timeout"}
    assert result["max_rss_bytes"] < 150 * 2**20


def test_a_server_that_always_has_more_to_send_delays_no_deadline_and_no_other_connection() -> None:
    def play(server: Scripted, connection: socket.socket, stream: int) -> bool:
        if server.connections > 1 and stream == 1 and not chosen:
            chosen.append(connection)
        while chosen and connection is chosen[0]:
            connection.sendall(FLOODS["pings"] * 20)
            server.stall(0.001)
        connection.sendall(answer(stream))
        return True

    chosen: list[socket.socket] = []
    result = result_of(play, NUM_REQUESTS_PER_CLIENT=400, NUM_CONNECTIONS_PER_CLIENT=2)
    assert len(chosen) == 1
    assert result["errors"] == {"timeout": 1}
    assert result["answered"] >= 200  # all of the other connection
    assert result["completion_ns"] < 5e9


def sends(frames: Callable[[int], bytes]) -> Play:
    """Send these frames to each request."""

    def play(server: Scripted, connection: socket.socket, stream: int) -> bool:
        connection.sendall(frames(stream))
        return True

    return play


def every_fifth(frames: Callable[[int], bytes], *, closes: bool = True) -> Play:
    """Answer, but send these frames to each fifth request, and perhaps close."""

    def play(server: Scripted, connection: socket.socket, stream: int) -> bool:
        is_fifth = server.requests % 5 == 0
        connection.sendall(frames(stream) if is_fifth else answer(stream))
        return not (is_fifth and closes)

    return play


def test_pings_between_answers_are_answered_and_cost_no_request() -> None:
    result = result_of(sends(lambda stream: FLOODS["pings"] * 10 + answer(stream) + FLOODS["settings"] * 10))
    assert (result["answered"], result["errors"], result["reconnects"]) == (20, {}, 0)


def going_away(last: int, code: int = 0) -> bytes:
    """GOAWAY: streams after *last* were not served."""
    return frame(GOAWAY, 0, struct.pack("!II", last, code))


ENDS: dict[str, Callable[[int], bytes]] = {
    "before the answer": lambda stream: going_away(stream) + answer(stream),
    "after the answer": lambda stream: answer(stream) + going_away(stream),
    "in the answer": lambda stream: (
        frame(HEADERS, stream, OK, END_HEADERS) + going_away(stream) + frame(DATA, stream, b"ok", END_STREAM)
    ),
    "twice": lambda stream: going_away(2**31 - 1) + answer(stream) + going_away(stream),
}


@each_row
@pytest.mark.parametrize("name", ENDS)
def test_a_server_that_goes_away_costs_no_request(name: str, *, closes: bool) -> None:
    result = result_of(every_fifth(ENDS[name], closes=closes))
    assert (result["answered"], result["errors"]) == (20, {})
    assert 3 <= result["reconnects"] <= 4


def refused(stream: int) -> bytes:
    """RST_STREAM with REFUSED_STREAM."""
    return frame(RESET, stream, b"\0\0\0\7")


# What the server does, what it is asked, and the counts: answers, errors, requests that were sent again.
CASES: dict[str, tuple[Play, Request, tuple[int, dict[str, int], int]]] = {
    "refuses a POST": (every_fifth(refused, closes=False), POST, (20, {}, 4)),
    "does not begin a POST": (every_fifth(lambda stream: going_away(stream - 2)), POST, (20, {}, 4)),
    "refuses everything": (sends(refused), GET, (0, {"reset": 10}, 10)),
    "may have begun a POST": (every_fifth(going_away), POST, (16, {"closed": 4}, 0)),
    "fails at a POST": (every_fifth(lambda stream: going_away(stream, 2)), POST, (16, {"closed": 4}, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_only_a_request_that_the_server_did_not_begin_is_sent_again_and_only_once(name: str) -> None:
    play, request, expected = CASES[name]
    result = result_of(play, request)
    assert (result["answered"], result["errors"], result["resent"]) == expected


GRPC = Request(method="POST", headers={"Content-Type": "application/grpc", "TE": "trailers"})


def literal(name: str, value: str) -> bytes:
    """A header field of HPACK without indexing or Huffman coding. Source: RFC 7541, 6.2.2."""
    return b"".join([b"\0", bytes([len(name)]), name.encode(), bytes([len(value)]), value.encode()])


@each_row
@pytest.mark.parametrize("has_trailers", [True, False], ids=["trailers", "head alone"])
def test_a_call_by_grpc_is_right_if_its_status_is_0(status: str, wrong: int, *, has_trailers: bool) -> None:
    field = literal("grpc-status", status) if status else literal("x", "0")

    def call(stream: int) -> bytes:
        data = frame(HEADERS, stream, OK, END_HEADERS) + frame(DATA, stream, b"\0\0\0\0\1x")
        trailers = frame(HEADERS, stream, field, END_STREAM | END_HEADERS)
        return data + trailers if has_trailers else answer(stream, OK + field)

    result = result_of(sends(call), GRPC)
    assert (result["answered"], result["wrong"], result["errors"]) == (20, wrong, {})
    if wrong:
        got = f"grpc-status {status or 'missing'}"
        assert result["first_wrong"] == {"request": "POST /", "got": got, "expected": "grpc-status 0"}
