"""loadgen against servers that answer late, wrong, in halves, not at all, and that die: it counts, and it ends."""

import socket
from pathlib import Path

import pytest

from tests.native.loadgen_peers import (
    HELLO,
    Read,
    Script,
    Scripted,
    counted,
    echo,
    loadgen,
    nobody_listens,
    read_frame,
    read_http,
    read_message,
    reported,
    says,
    scripted,
    silent,
)

Answers = dict[str, tuple[Script, dict[str, object]]]


def shifted(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """As many bytes, the last two exchanged."""
    connection.sendall(request[:98] + request[99:] + request[98:99])
    return True


FINE = {"wrong": 0, "errors": {}, "answered": 20}
# What becomes of 20 requests on one connection: ten faults in a row are enough.
ANSWERS: dict[str, Answers] = {}
ANSWERS["http"] = {
    "at once": (says(HELLO), {**FINE, "body_bytes": 100}),
    "silent": (silent, {"answered": 0, "errors": {"timeout": 10}, "given_up": 1}),
}
ANSWERS["framed"] = {
    "right": (says(counted(200, "50")), {**FINE, "calc_ns": 100}),
    "wrong": (says(counted(200, "51")), {**FINE, "wrong": 20}),
    "refused": (says(counted(500, "")), {**FINE, "errors": {"500": 20}}),
    "no JSON": (says(b"\x00\x00\x00\x04\xff{]["), {"answered": 20, "errors": {"garbled": 20}}),
    "half, then closed": (says(counted(200, "50")[:9], keep=False), {"answered": 0, "errors": {"closed": 10}}),
}
ANSWERS["echo"] = {
    "right": (echo, {**FINE, "received_bytes": 2000, "sent_bytes": 2000}),
    "of other bytes": (shifted, {**FINE, "wrong": 20}),
    "of more": (says(bytes(101)), {"answered": 0, "errors": {"extra": 10}}),
}
READ: dict[str, Read] = {"http": read_http, "framed": read_frame, "echo": read_message}
FLAGS = {"http": "", "framed": "--calc-target 50", "echo": "--message-bytes 100"}


@pytest.mark.parametrize(("protocol", "name"), [(protocol, name) for protocol in ANSWERS for name in ANSWERS[protocol]])
def test_every_answer_is_counted_by_what_it_is(protocol: str, name: str) -> None:
    script, expected = ANSWERS[protocol][name]
    status = 0 if expected["errors"] == {} and not expected["wrong"] else 1
    patience = ("--timeout", "50ms") if script is silent else ()
    with scripted(script, READ[protocol]) as server:
        target = server.url if protocol == "http" else server.address
        flags = ("--protocol", protocol, *FLAGS[protocol].split())
        report = reported(*flags, "-n", 20, *patience, target, status=status)
    assert {key: report[key] for key in expected} == expected
    assert report.get("latency", {"count": 0})["count"] == report["answered"]


def test_without_keep_alive_each_request_has_a_connection_and_says_so(short_folder: Path) -> None:
    with scripted(says(HELLO), read_http, short_folder) as server:
        report = reported("-n", 10, "--keep-alive", "false", server.url, status=0)
    assert (report["answered"], report["connect"]["count"], server.connections) == (10, 10, 10)
    assert report["total"]["min_ns"] > report["latency"]["min_ns"]
    assert all(b"\r\nConnection: close\r\n" in request for request in server.asked)


def test_a_request_is_what_the_flags_say(tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b"\x00\xff")
    with scripted(says(HELLO), read_http) as server:
        reported("-n", 1, "-H", "X-A: b", "-H", "Host: h", "--body-file", str(body), server.url, status=0)
        reported("-n", 1, server.url, status=0)
    assert server.asked == [
        b"POST /a HTTP/1.1\r\nX-A: b\r\nHost: h\r\nContent-Length: 2\r\n\r\n\x00\xff",
        b"GET /a HTTP/1.1\r\nHost: " + server.address.encode() + b"\r\n\r\n",
    ]


def test_the_wall_time_of_a_duration_goes_on_while_a_server_hangs() -> None:
    def hanging(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        return (silent if server.requests > 50 else says(HELLO))(server, connection, request)

    with scripted(hanging, read_http) as server:
        report = reported("-d", "500ms", "--timeout", "200ms", server.url, status=1)
    assert (report["answered"], report["given_up"]) == (50, 0)
    assert report["unanswered"] == report["errors"]["timeout"] >= 2
    assert 0.5e9 <= report["wall_ns"] < 6e9  # no request is begun once time is over
    assert report["requests_per_s"] == pytest.approx(50 / report["wall_ns"] * 1e9)


def test_where_nothing_listens_it_says_so() -> None:
    with nobody_listens() as address:
        done = loadgen("-n", 1, f"http://{address}/a")
    assert (done.returncode, done.stdout) == (1, "")
    assert address in done.stderr
