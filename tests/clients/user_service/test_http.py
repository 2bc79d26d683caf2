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

from clients import http as user_http
from clients.channel import CallFailed
from clients.http import HttpConnection
from clients.prepared_requests import bytes_of
from core.request_plan import Request
from tests.clients.scripted import TABLES, ScriptedSocket, opened
from tests.native.loadgen_peers import response

ANSWERS = [(text.encode("latin-1"), status, body.encode(), usable) for text, status, body, usable in TABLES["answers"]]
FRAMING = b"1;%s\r\nx\r\n" % (b"e" * 16_000)  # nearly all of it is no content
FAULTS = [  # test_both_clients plays all of them
    *((text.encode("latin-1"), code) for text, code in TABLES["faults"]),
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
    connection = opened(user_http, CONNECTION, ScriptedSocket([response()], BrokenPipeError()))
    assert connection.ask(b"x", "GET") == (200, b"Hello, World!")


def test_a_request_has_the_headers_that_it_needs_and_those_that_were_asked_for_and_none_twice() -> None:
    assert bytes_of(Request(path="/a"), "h:80", "/v1") == b"GET /v1/a HTTP/1.1\r\nHost: h:80\r\n\r\n"
    assert bytes_of(Request(path=""), "/run/x.sock") == b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    posted = bytes_of(Request(method="POST", path="/a", headers={"host": "b", "A": "c"}, body="{}"), "h:80")
    assert posted == (
        b"POST /a HTTP/1.1\r\nContent-Length: 2\r\nContent-Type: application/json\r\nhost: b\r\nA: c\r\n\r\n{}"
    )
    long = bytes_of(Request(method="POST", headers={"content-length": "2", "Content-Type": "x"}, body="{}"), "h:80")
    assert long == b"POST / HTTP/1.1\r\nHost: h:80\r\ncontent-length: 2\r\nContent-Type: x\r\n\r\n{}"
