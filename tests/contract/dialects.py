"""What services are asked and answer: frames, HTTP, and bytes that come back. Nothing of it is taken from core."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from tests.contract.peers import CALC, Peer, framed, request
from tests.tables import table

LIMIT_BYTES = 16 * 2**20
BAD = (400, "")
TABLES = table(__file__, "requests.yaml")
NO_PARAMS = (b"[" * 100_000, b'{"a":' * 100_000)
NO_REQUESTS = (*NO_PARAMS, b"[" * 100_000 + b"]" * 100_000, CALC.decode().encode("utf-16"))
LONG_NUMBER = b"1" + b"0" * 5000
SURROGATE = "\u4e2d\n\x00\ud800"


def http(method: str, target: str, body: bytes = b"", *headers: str) -> bytes:
    """One HTTP/1.1 request."""
    length = [f"Content-Length: {len(body)}"] if body else []
    head = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *headers, *length])
    return head.encode() + b"\r\n\r\n" + body


CHUNKED = http("POST", "/calc", b"", "Transfer-Encoding: chunked")


def noise(size_bytes: int) -> bytes:
    """Bytes that are not the same twice, so that nothing lost or doubled goes unseen."""
    return Random(size_bytes).randbytes(size_bytes)


class Dialect:
    """calc: a request, and its msg. table: code and msg of requests after which a connection is kept.

    closing: requests after which it is closed, with the code that comes before, 0 where that is the server's affair
    fail: a request to the route /fail
    """

    calc: bytes = framed(CALC)
    msg = "7"
    fail = framed(request("/fail"))
    table: Mapping[bytes, tuple[int, str]] = {
        **{framed(body): BAD for body in NO_REQUESTS},
        framed(b'{"method": "POST", "url": "/calc", "params": {"target": %s}}' % LONG_NUMBER): BAD,
        framed(request("/", "GET", msg=SURROGATE)): (200, SURROGATE),
        **{framed(body.encode("latin-1")): (code, "".join(msg)) for body, code, *msg in TABLES["frames"]},
    }
    closing: Mapping[bytes, int] = {
        b"\xff\xff\xff\xffmore": 413,
        b"\x80\0\0\0": 413,
        b"\x7f\xff\xff\xff": 413,
        b"\x01\0\0\x01": 413,
        b"\x01\0\0\x01" + b"x" * (LIMIT_BYTES + 1): 413,
    }

    def echo(self, text: str) -> bytes:
        """A request whose answer's msg is *text*."""
        return framed(request("/", msg=text))

    def read(self, peer: Peer, request: bytes) -> tuple[int, str]:
        """Code and msg of the next answer, which is the one to *request*."""
        return checked(peer.answer())

    def ask(self, peer: Peer, request: bytes) -> tuple[int, str]:
        """Code and msg of the answer to *request*."""
        peer.send(request)
        return self.read(peer, request)


def checked(answer: dict[str, Any]) -> tuple[int, str]:
    """Code and msg of an answer that has all that belongs to one, and says why where it has none."""
    assert set(answer) == {"code", "msg", "err", "calc_ns"}
    assert (answer["code"] == 200) is (answer["err"] == "")
    assert type(answer["calc_ns"]) is int
    assert answer["calc_ns"] >= 0
    return answer["code"], answer["msg"]


class Http(Dialect):
    """System 3 and the alternatives over HTTP."""

    calc = http("POST", "/calc", b'{"target": 7}')
    fail = http("POST", "/fail", b"{}")
    table: Mapping[bytes, tuple[int, str]] = {
        **{http("POST", "/calc", body): BAD for body in NO_PARAMS},
        http("POST", "/calc", b'{"target": %s}' % LONG_NUMBER): BAD,
        CHUNKED + b'4\r\n{"ta\r\n9\r\nrget": 7}\r\n0\r\n\r\n': (
            200,
            "7",
        ),
        **{
            http(method, target, body.encode("latin-1")): (code, "".join(msg))
            for method, target, body, code, *msg in TABLES["http"]
        },
    }
    closing: Mapping[bytes, int] = {
        http("POST", "/calc", b"", f"Content-Length: {LIMIT_BYTES + 1}"): 413,
        http("POST", "/calc", b"", f"Content-Length: {2**31}"): 413,
        http("POST", "/calc", b"", f"Content-Length: {2**70}"): 413,
        http("POST", "/calc", b"x" * (LIMIT_BYTES + 1)): 413,
        CHUNKED + 18 * (b"100000\r\n" + b"x" * 2**20 + b"\r\n"): 0,
        b"\x00\x00\x00\x3b{}\r\n\r\n": 0,
        http("POST", "/calc", b"", "Content-Length: -1"): 0,
        http("POST", "/calc", b"", "Content-Length: many"): 0,
        http("POST", "/calc", b'{"target": 7}', "Content-Length: 5"): 0,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000: 0,
    }

    def echo(self, text: str) -> bytes:
        return http("POST", "/", json.dumps({"msg": text}).encode())

    def read(self, peer: Peer, request: bytes) -> tuple[int, str]:
        status, body = peer.response()
        answer = json.loads(body)
        assert answer["code"] == status
        return checked(answer)


class Body(Dialect):
    """http-echo: a body comes back as it was."""

    calc, msg = http("GET", "/"), "Hello, World!"
    table: Mapping[bytes, tuple[int, str]] = {
        calc: (200, msg),
        http("POST", "/any", b"x" * 1_000_000): (200, "x" * 1_000_000),
        http("DELETE", "/"): (405, ""),
    }
    closing: Mapping[bytes, int] = {
        http("GET", "/", b"", "Connection: close"): 200,
        b"not http\r\n\r\n": 400,
        b"\x00\x00\x00\x02{}": 400,
        http("POST", "/", b"", "Content-Length: -1"): 400,
        http("POST", "/", b"", "Transfer-Encoding: chunked") + b"0\r\n\r\n": 400,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000: 400,
    }

    def echo(self, text: str) -> bytes:
        return http("POST", "/", text.encode())

    def read(self, peer: Peer, request: bytes) -> tuple[int, str]:
        status, body = peer.response()
        return status, body.decode() if status == 200 else ""


class Raw(Dialect):
    """The echo servers: every byte comes back."""

    calc, msg = noise(100), noise(100).decode("latin-1")
    table: Mapping[bytes, tuple[int, str]] = {
        noise(size): (200, noise(size).decode("latin-1")) for size in (1, 499, 501, 1000, 10 * 1024, 100 * 1024)
    }
    closing: Mapping[bytes, int] = {}

    def echo(self, text: str) -> bytes:
        return text.encode("latin-1")

    def read(self, peer: Peer, request: bytes) -> tuple[int, str]:
        return 200, peer.take(len(request)).decode("latin-1")


FRAMES, HTTP, BODY, RAW = Dialect(), Http(), Body(), Raw()
