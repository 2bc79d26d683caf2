"""What people's services do with connections and answers: the Python and the native client say the same of it."""

import gzip
import json
import socket
import zlib
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

import pytest

from core.method import Method, Warmup
from core.request_plan import Request, RequestPlan
from tests.clients.scripted import TABLES
from tests.clients.user_service.both import native, python, start_native, start_python
from tests.clients.user_service.sessions import told
from tests.clients.user_service.test_http import ANSWERS, FAULTS
from tests.native.loadgen_peers import (
    HELLO,
    Read,
    Script,
    Scripted,
    closes_when_idle,
    on_each_connection,
    read_http,
    reset,
    response,
    says,
    scripted,
)
from tests.native.test_loadgen_http2 import answer, read_request

Client = Callable[..., dict[str, Any]]


def measure(
    run: Client, script: Script, *requests: Request, think_time_s: float = 0.0, **params: Any
) -> dict[str, Any]:
    """The result of a plan's requests to a service that plays a script, and what the service was asked, as `asked`."""
    own = told(RequestPlan(requests=requests or (Request(),), think_time_s=think_time_s))
    few = {"NUM_REQUESTS_PER_CLIENT": 20, "NUM_CONNECTIONS_PER_CLIENT": 1, **params}
    with scripted(script, read_http) as server:
        return {**run({**own, "answer_deadline_s": 5.0}, server.address, **few), "asked": server.asked}


@pytest.fixture(params=[python, native], ids=["python", "native"])
def measured(request: pytest.FixtureRequest) -> Client:
    """measure() of both clients."""
    return partial(measure, request.param)


@pytest.mark.parametrize(("answer", "status", "body", "usable"), ANSWERS)
def test_an_answer_is_whole_however_it_is_framed(
    measured: Client, answer: bytes, status: int, body: bytes, usable: bool
) -> None:
    digest = sha256(body).hexdigest()
    result = measured(says(answer, keep=usable), Request(expect_status=status, expect_sha256=digest))
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})
    assert (result["reconnects"], result["resent"]) == (0 if usable else 19, 0)


def test_a_head_request_has_no_body_whatever_its_length_says(measured: Client) -> None:
    result = measured(says(HELLO.removesuffix(b"hello")), Request(method="HEAD"))
    assert (result["answered"], result["errors"], result["reconnects"]) == (20, {}, 0)


@pytest.mark.parametrize(("answer", "code"), FAULTS)
def test_what_is_no_answer_is_a_failure_by_its_cause(measured: Client, answer: bytes, code: str) -> None:
    result = measured(says(answer, keep=False), Request(method="POST"))
    assert (result["answered"], result["errors"]) == (0, {code: 10})


def test_a_service_that_dies_is_given_up_after_failures_in_a_row(measured: Client) -> None:
    def dying(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if server.requests > 5:
            server.die()
            return False
        connection.sendall(HELLO)
        return True

    result = measured(dying, Request(method="POST"))
    assert (result["requests"], result["answered"], result["errors"].pop("connect")) == (20, 5, 9)
    assert list(result["errors"]) in (["closed"], ["reset"])


HANGS_UP = says(b"", keep=False)
PACES: list[dict[str, Any]] = [{}, {"think_time_s": 0.01}, {"RATE": 100}]


@pytest.mark.parametrize(
    ("method", "ending", "pace"),
    [
        ("GET", HANGS_UP, PACES[0]),
        ("OPTIONS", reset, PACES[0]),
        ("PUT", HANGS_UP, PACES[1]),
        ("DELETE", HANGS_UP, PACES[2]),
    ],
)
def test_a_kept_connection_that_ends_without_an_answer_costs_no_idempotent_request(
    measured: Client, method: str, ending: Script, pace: dict[str, Any]
) -> None:
    result = measured(on_each_connection(4, ending), Request(method=method), **pace)
    assert (result["answered"], result["errors"]) == (20, {})
    assert (result["resent"], result["reconnects"]) == (4, 4)
    assert result["latency"]["count"] == 20


@pytest.mark.parametrize("pace", PACES, ids=["closed", "thinking", "at a rate"])
def test_a_service_that_hangs_up_after_each_answer_without_a_word_costs_no_request(
    measured: Client, pace: dict[str, Any]
) -> None:
    result = measured(says(HELLO, keep=False), **pace)
    assert (result["answered"], result["errors"], result["reconnects"]) == (20, {}, 19)
    assert result["resent"] <= 19


IDLE_CASES = [
    (start_python, "http", read_http, lambda request: HELLO),
    (start_native, "http", read_http, lambda request: HELLO),
    (start_native, "http2", read_request, lambda stream: answer(int(stream))),
]


@pytest.mark.parametrize(("start", "protocol", "read", "answered"), IDLE_CASES)
def test_a_post_is_answered_although_its_connection_was_closed_while_it_was_idle_before_the_slice(
    start: Any, protocol: str, read: Read, answered: Callable[[bytes], bytes]
) -> None:
    own = told(RequestPlan(requests=(Request(method="POST"),)), protocol=protocol)
    method = Method(duration_s=0.2, warmup=Warmup(seconds=0.1))
    with (
        scripted(closes_when_idle(answered), read) as server,
        start(own, server.address, NUM_CONNECTIONS_PER_CLIENT=4, method=method) as say,
    ):
        results = [say("warm")]
        for word in ["slice", "slice", "slice", "go"]:
            server.wait_for_closes()
            results.append(say(word))
    for result in results[1:]:
        assert (result["errors"], result["answered"]) == ({}, result["requests"])
    if protocol == "http":  # by HTTP/2 it connects more often than once a slice
        assert (server.connections, results[-1]["reconnects"], results[-1]["resent"]) == (4 * len(results), 4, 0)


@pytest.mark.parametrize("start", [start_python, start_native])
def test_a_wrong_answer_of_the_warm_up_or_of_the_lead_of_a_slice_is_not_shown_as_one_that_counts(start: Any) -> None:
    def wrong_at_first(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(response(200, b"wrong" if server.requests <= 11 else b"right"))
        return True

    own = told(RequestPlan(requests=(Request(expect_sha256=sha256(b"right").hexdigest()),)))
    how = {"NUM_CONNECTIONS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 20}
    with (
        scripted(wrong_at_first, read_http) as server,
        start(own, server.address, method=Method(warmup=Warmup(share=0.5)), **how) as say,
    ):
        say("warm")
        assert server.requests == 10
        results = [say("slice"), say("go")]
    for result in results:  # the first request of the slice is one of its lead, unless the machine is busy
        assert ("first_wrong" in result) == (result["wrong"] > 0)
    assert (results[1]["answered"], results[1]["wrong"]) == (20, 0)


@pytest.mark.parametrize("ending", [HANGS_UP, reset], ids=["closed", "reset"])
def test_a_post_is_not_sent_twice_and_the_error_says_why_it_failed(measured: Client, ending: Script) -> None:
    result = measured(on_each_connection(4, ending), Request(method="POST"))
    (code,) = result["errors"]
    assert (result["answered"], result["errors"][code], result["resent"]) == (16, 4, 0)
    assert result["first_wrong"]["got"] == f"no answer, because the service {code} a kept connection"


@pytest.mark.parametrize(("answer", "keep", "got"), TABLES["words"])
def test_what_is_no_answer_is_said_in_words(measured: Client, answer: str, keep: bool, got: str) -> None:
    result = measured(says(answer.encode("latin-1"), keep=keep))
    assert result["answered"] == result["resent"] == 0
    assert sum(result["errors"].values()) == 10
    assert result["first_wrong"] == {"request": "GET /", "got": got, "expected": "an answer"}


@pytest.mark.parametrize(("line", "end"), [(b"\r\n", b"\n"), (b"\n", b"\n")])
def test_a_lone_line_feed_ends_a_line_of_a_head(measured: Client, line: bytes, end: bytes) -> None:
    head = [b"HTTP/1.1 500 Internal Server Error", b"Content-Length: 9", b"Set-Cookie: a=b", b""]
    result = measured(says(line.join(head) + end + b"a\r\n\r\nb\n\nc"))
    assert (result["answered"], result["errors"]) == (20, {"500": 20})


TEXT = json.dumps({"total": 400, "token": "abc", "filler": list(range(1000))}).encode()
GZIP, GZIPPED = gzip.compress(TEXT, mtime=0), "content-encoding: gzip\r\n"
# One block that is not compressed, and the end. Source: RFC 7932, 9.2.
BROTLI = bytes.fromhex("d00010") + b'{"total": 400}' + b"\x03"
ZSTD = bytes.fromhex(  # made by libzstd of: {"total": 400, "token": "abc", "more": "xxx..."}
    "28b52ffd60560095010074027b22746f74616c223a203430302c2022746f6b656e223a2022616263222c20226d6f726578227d020028381594"
    "753e01"
)


@pytest.mark.parametrize(
    ("coding", "body"), [("gzip", GZIP), ("GZIP", GZIP), ("deflate", zlib.compress(TEXT)), ("identity", TEXT)]
)
def test_the_json_of_a_coded_body_is_compared(measured: Client, coding: str, body: bytes) -> None:
    result = measured(says(response(200, body, f"content-encoding: {coding}\r\n")), Request(expect_json={"total": 400}))
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})


@pytest.mark.parametrize(
    ("coding", "body", "wrong"),
    [
        ("br", BROTLI, 0),
        ("zstd", ZSTD, 0),
        ("br", TEXT, 20),
        ("zstd", GZIP, 20),
    ],
)
def test_only_the_native_client_decodes_brotli_and_zstandard(coding: str, body: bytes, wrong: int) -> None:
    asked = (says(response(200, body, f"content-encoding: {coding}\r\n")), Request(expect_json={"total": 400}))
    result = measure(native, *asked)
    assert (result["answered"], result["wrong"]) == (20, wrong)
    if wrong:
        assert result["first_wrong"]["got"] == f"a body that is not valid {coding}, or too large"
    said = measure(python, *asked)["first_wrong"]["got"]
    assert said == f"a body with Content-Encoding {coding}, which this client cannot decode"


def test_the_values_of_a_coded_body_are_saved() -> None:
    first = Request(path="/a", first=True, save={"token": {"json": "/token"}, "all": {"regex": "total.: ([0-9]+)"}})
    second = Request(path="/{{token}}/{{all}}", expect_json={"total": 400})
    result = measure(native, says(response(200, GZIP, GZIPPED)), first, second)
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})
    assert [request.split()[1] for request in result["asked"]] == [b"/a", *[b"/abc/400"] * 20]


@pytest.mark.parametrize(
    ("coding", "body", "got"),
    [
        ("gzip", gzip.compress(b'{"total": 3}', mtime=0), 'body {"total": 3}'),
        ("compress", GZIP, "a body with Content-Encoding compress, which this client cannot decode"),
        ("gzip", TEXT, "a body that is not valid gzip, or too large"),
        ("gzip", GZIP[:-9], "a body that is not valid gzip, or too large"),
        ("gzip", GZIP + b"more", "a body that is not valid gzip, or too large"),
        ("identity", GZIP[:300], "body (300 bytes that are not text)"),
        ("identity", "caf\u00e9 \u4e2d\n\u00e9".encode()[:-1], "body caf\u00e9 \u4e2d \ufffd"),
    ],
)
def test_what_a_wrong_body_is_shown_as_is_text(measured: Client, coding: str, body: bytes, got: str) -> None:
    result = measured(says(response(200, body, f"content-encoding: {coding}\r\n")), Request(expect_json={"total": 400}))
    assert (result["answered"], result["wrong"]) == (20, 20)
    assert result["first_wrong"]["got"].startswith(got)


@pytest.mark.parametrize(
    ("coding", "body", "got"),
    [
        ("identity", b'{"detail": "no name"}', 'status 422: {"detail": "no name"}'),
        ("identity", b"a" * 300, f"status 422: {'a' * 200}..."),
        ("identity", b"", "status 422"),
        ("identity", GZIP[:300], "status 422: (300 bytes that are not text)"),
        ("gzip", gzip.compress(b"no name", mtime=0), "status 422: no name"),
        ("gzip", GZIP[:-9], "status 422: a body that is not valid gzip, or too large"),
    ],
)
def test_of_an_answer_with_another_status_the_beginning_is_shown(
    measured: Client, coding: str, body: bytes, got: str
) -> None:
    result = measured(says(response(422, body, f"content-encoding: {coding}\r\n")), Request())
    assert (result["answered"], result["errors"]) == (20, {"422": 20})
    assert result["first_wrong"] == {"request": "GET /", "got": got, "expected": "200"}


def test_a_body_that_is_no_text_or_becomes_too_large_is_not_shown(measured: Client) -> None:
    result = measured(says(response(200, GZIP, GZIPPED)), Request(expect_sha256="0" * 64))
    assert result["first_wrong"]["got"].endswith(" bytes that are not text)")
    answer = says(response(200, gzip.compress(bytes(33 << 20)), GZIPPED))
    result = measured(answer, Request(expect_json={"total": 400}), NUM_REQUESTS_PER_CLIENT=1)
    assert result["first_wrong"]["got"] == "a body that is not valid gzip, or too large"
    assert result.get("max_rss_bytes", 0) < 150 << 20


EIGHT_KIB = b"2000\r\n" + b"x" * 8192 + b"\r\n"


@pytest.mark.parametrize(
    ("size", "chunks"), [(0, b""), (8192, EIGHT_KIB), (20_000, EIGHT_KIB * 2 + b"e20\r\n" + b"x" * 3616 + b"\r\n")]
)
def test_a_request_is_sent_in_chunks_if_the_plan_says_so(measured: Client, size: int, chunks: bytes) -> None:
    seen = []

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        while not request.endswith(b"0\r\n\r\n"):
            request += connection.recv(65536)
        seen.append(request)
        connection.sendall(HELLO)
        return True

    request = Request(method="POST", headers={"Transfer-Encoding": "chunked"}, body="x" * size)
    result = measured(play, request)
    assert (result["answered"], result["errors"]) == (20, {})
    (sent,) = set(seen)
    head, _, body = sent.partition(b"\r\n\r\n")
    assert b"Content-Length" not in head
    assert body == chunks + b"0\r\n\r\n"
