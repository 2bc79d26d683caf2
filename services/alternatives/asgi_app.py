"""The ASGI 3 application that the ASGI servers serve; the calculation runs in the event loop, as in system 3."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.alternatives.counts import Counts
from services.alternatives.http_answer import CONTENT_TYPE, http_answer

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
AsgiApp = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def asgi_app(counts: Counts) -> AsgiApp:
    """An application that counts what it answers. It has no lifespan events and says so by raising."""

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        code, reply = http_answer(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), body)
        counts.add()
        length = b"%d" % len(reply)
        headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", length)]
        await send({"type": "http.response.start", "status": code, "headers": headers})
        await send({"type": "http.response.body", "body": reply})

    return app
