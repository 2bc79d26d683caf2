"""The WSGI and the ASGI application, called as their specifications say: PEP 3333, asgi.readthedocs.io."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from experiments.league.http_answer import asgi_app, http_answer, wsgi_app

ASKED = [
    ("POST", "/calc", b'{"target": 7}', 200, "7"),
    ("POST", "/", b'{"msg": "hello"}', 200, "hello"),
    ("POST", "/nope", b"{}", 404, ""),
    ("PUT", "/calc", b"{}", 405, ""),
    ("POST", "/calc", b'{"target": 1e3}', 400, ""),
    ("POST", "/calc", b"not json", 400, ""),
    ("POST", "/calc", b"[7]", 400, ""),
    ("POST", "/calc", b"", 400, ""),
]


def run(awaited: Awaitable[None]) -> None:
    async def wait() -> None:
        await awaited

    asyncio.run(wait())


Answer = tuple[int, str, bytes]


def by_wsgi(method: str, path: str, body: bytes) -> Answer:
    """Status, content length and body of the answer to a request."""
    environ: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, "wsgi.input": io.BytesIO(body)}
    environ |= {
        "SCRIPT_NAME": "",
        "CONTENT_LENGTH": str(len(body)),
        "QUERY_STRING": "",
        "CONTENT_TYPE": "application/json",
    }
    setup_testing_defaults(environ)
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], error: object = None) -> Callable[[bytes], object]:
        started.append((status, headers))
        return lambda data: None

    answered = validator(wsgi_app)(environ, start_response)
    reply = b"".join(answered)
    answered.close()  # type: ignore[attr-defined]
    ((status, headers),) = started
    return int(status.partition(" ")[0]), dict(headers)["Content-Length"], reply


def by_asgi(method: str, path: str, body: bytes) -> Answer:
    """The same; the request's body comes in two parts."""
    parts: list[dict[str, Any]] = [
        {"type": "http.request", "body": body[:5], "more_body": True},
        {"type": "http.request", "body": body[5:]},
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    scope = {"type": "http", "method": method, "path": path, "query_string": b""}
    run(asgi_app(scope, receive, send))
    start, content = sent
    return start["status"], dict(start["headers"])[b"content-length"].decode(), content["body"]


@pytest.mark.parametrize("ask", [by_wsgi, by_asgi])
@pytest.mark.parametrize(("method", "path", "body", "code", "msg"), ASKED)
def test_an_application_answers_as_the_protocol_says(
    ask: Callable[..., Answer], method: str, path: str, body: bytes, code: int, msg: str
) -> None:
    status, length, reply = ask(method, path, body)
    assert (status, length, json.loads(reply)["msg"]) == (code, str(len(reply)), msg)


def test_the_asgi_application_says_that_it_has_no_lifespan() -> None:
    async def never(*_: object) -> Any:
        raise AssertionError("it is not to ask or answer")

    with pytest.raises(NotImplementedError, match="lifespan"):
        run(asgi_app({"type": "lifespan"}, never, never))


def test_without_a_body_the_query_holds_the_parameters() -> None:
    code, reply = http_answer("GET", "/", "msg=hello+you", b"")
    assert (code, json.loads(reply)["msg"]) == (200, "hello you")
