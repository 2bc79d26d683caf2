"""HTTP of services that others wrote: however an answer is framed and however it arrives. Source: RFC 9112."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.channel import CallFailed
from clients.user_service import http as user_http
from clients.user_service.http import HttpConnection, message
from core.request_plan import Request
from tests.clients.scripted import ScriptedSocket, opened

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nhe\r\n3;name=value\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"
)
ANSWERS: list[tuple[bytes, int, bytes, bool]] = [
    (LENGTH, 200, b"hello", True),
    (CHUNKED, 201, b"hello", True),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    (b"HTTP/1.1 500 Internal Server Error\r\nCONTENT-LENGTH:0\r\n\r\n", 500, b"", True),
    (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
    (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True),
    (b"HTTP/1.0 200 OK\r\n\r\nto the end", 200, b"to the end", False),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + LENGTH, 200, b"hello", True),
    (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + CHUNKED, 201, b"hello", True),
    (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 101, b"", False),
]
FRAMING = b"1;%s\r\nx\r\n" % (b"e" * 16_000)  # nearly all of it is no content
# What a service sends before it closes the connection, and the error that this is. test_both_clients plays all of them.
FAULTS: list[tuple[bytes, str]] = [
    (b"", "closed"),
    (LENGTH[:-1], "closed"),
    (CHUNKED[:-2], "closed"),
    (LENGTH + b"x", "extra"),
    (CHUNKED + b"x", "extra"),
    (b"SSH-2.0-OpenSSH\r\n\r\n", "garbled"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "garbled"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello0\r\n\r\n", "garbled"),
    (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 97 + b"\r\n", "garbled"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + FRAMING * 600, "garbled"),
]
CONNECTION = partial(HttpConnection, deadline_s=1.0)


@pytest.mark.parametrize(("answer", "status", "body", "usable"), ANSWERS)
@given(cuts=st.lists(st.integers(0, 120), max_size=4))
def test_an_answer_is_whole_however_it_is_cut(
    answer: bytes, status: int, body: bytes, usable: bool, cuts: list[int]
) -> None:
    ends = sorted({0, *(cut for cut in cuts if cut < len(answer)), len(answer)})
    pieces = [answer[low:high] for low, high in pairwise(ends)]
    connection = opened(user_http, CONNECTION, ScriptedSocket(pieces))
    assert connection.ask(b"x", "GET") == (status, body)
    assert connection.usable is usable


def test_a_service_that_takes_a_request_too_slowly_is_given_up_in_time() -> None:
    here, there = socket.socketpair()
    with here, there, pytest.MonkeyPatch.context() as patched:
        patched.setattr(user_http, "connect", lambda address, deadline_s: here)
        here.settimeout(0.3)
        connection, ended = HttpConnection("/slow", 0.3), threading.Event()

        def take() -> None:
            while not ended.wait(0.01) and there.recv(1024):
                pass

        with ThreadPoolExecutor() as pool:
            pool.submit(take)
            began = monotonic()
            with pytest.raises(CallFailed) as caught:
                connection.ask(bytes(1 << 22), "POST")
            ended.set()
        assert (caught.value.code, monotonic() - began < 5.0) == ("timeout", True)


def test_what_a_service_said_before_it_closed_is_read() -> None:
    connection = opened(user_http, CONNECTION, ScriptedSocket([LENGTH], BrokenPipeError()))
    assert connection.ask(b"x", "GET") == (200, b"hello")


def test_a_request_has_the_headers_that_it_needs_and_those_that_were_asked_for_and_none_twice() -> None:
    assert message(Request(path="/a"), "h:80", "/v1") == b"GET /v1/a HTTP/1.1\r\nHost: h:80\r\n\r\n"
    assert message(Request(path=""), "/run/x.sock") == b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    posted = message(Request(method="POST", path="/a", headers={"host": "b", "A": "c"}, body="{}"), "h:80")
    assert posted == (
        b"POST /a HTTP/1.1\r\nContent-Length: 2\r\nContent-Type: application/json\r\nhost: b\r\nA: c\r\n\r\n{}"
    )
    long = message(Request(method="POST", headers={"content-length": "2", "Content-Type": "x"}, body="{}"), "h:80")
    assert long == b"POST / HTTP/1.1\r\nHost: h:80\r\ncontent-length: 2\r\nContent-Type: x\r\n\r\n{}"
