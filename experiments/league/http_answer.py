"""The WSGI (PEP 3333), ASGI 3 and Flask applications for the HTTP servers of other projects.

Their protocol is that of system 3 (docs/child-contract.md).

alt_systems.py has the commands that serve wsgi_app, asgi_app and flask_app(), and http_server.py
calls http_answer(). All of it runs in the server's process for each request, under the measured
runtime. Only flask_app() needs a library.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from core.work import Refused, decode, error_answer, route

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

    from flask import Flask

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

CONTENT_TYPE = "application/json"
STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}

# Waitress warns about requests that wait for a thread. A load generator makes requests wait on
# purpose.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def http_answer(method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
    """Return status and body of the answer. An exception of a handler gives status 500."""
    try:
        return 200, route(method, path)(_params(query, body))
    except Refused as refused:
        return refused.code, error_answer(refused.code, str(refused))
    except Exception as error:
        return 500, error_answer(500, f"{type(error).__name__}: {error}")


def _params(query: str, body: bytes) -> dict[str, object]:
    if not body:
        return dict(parse_qsl(query))
    params = decode(body)
    if type(params) is not dict:
        raise Refused(400, "the request's body is not a JSON object")
    return params


def wsgi_app(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
    """Answer a WSGI request."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    code, reply = http_answer(
        environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"], body
    )
    start_response(
        STATUS_LINES[code], [("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(reply)))]
    )
    return (reply,)


async def asgi_app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer an ASGI request. The calculation runs in the event loop, as in the Tornado service
    (system 3).

    Raises NotImplementedError for lifespan events, which are not supported.
    """
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    body = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body"):
            break
    code, reply = http_answer(
        scope["method"], scope["path"], scope["query_string"].decode("latin-1"), body
    )
    length = b"%d" % len(reply)
    headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", length)]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": reply})


def flask_app() -> "Flask":
    """Return a Flask application with one view for each URL and method.

    Refused requests get gilscope's JSON; 404 and 405 are Flask's own pages.
    Source: flask.palletsprojects.com/en/stable/patterns/appfactories/
    """
    from flask import Flask, Response, request

    app = Flask("calculator")
    # looked up once, because Flask has already chosen the view
    calculate = route("POST", "/calc")

    @app.post("/calc")  # type: ignore[untyped-decorator]
    def calc() -> Response:
        params = request.get_json()
        if type(params) is not dict:
            raise Refused(400, "the request's body is not a JSON object")
        return Response(calculate(params), content_type=CONTENT_TYPE)

    @app.errorhandler(Refused)  # type: ignore[untyped-decorator]
    def refuse(refused: Refused) -> Response:
        body = error_answer(refused.code, str(refused))
        return Response(body, refused.code, content_type=CONTENT_TYPE)

    return app
