"""The WSGI application (PEP 3333) that the WSGI servers serve."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from services.alternatives.counts import Counts
from services.alternatives.http_answer import CONTENT_TYPE, STATUS_LINES, http_answer

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication


def wsgi_app(counts: Counts) -> "WSGIApplication":
    """An application that counts what it answers."""

    def app(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else b""
        code, reply = http_answer(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"], body)
        counts.add()
        start_response(STATUS_LINES[code], [("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(reply)))])
        return (reply,)

    return app
