"""What every HTTP alternative answers: system 3's protocol (docs/child-contract.md), whatever the server."""

from http import HTTPStatus
from urllib.parse import parse_qsl

from core.work import Refused, decode, error_answer, route

CONTENT_TYPE = "application/json"
IDLE_S = 75  # a kept connection may be silent so long: clients connect first and are released later
STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


def http_answer(method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
    """Status and body of the answer. Never raises: what a handler raises becomes a 500."""
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
