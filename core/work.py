"""The requests that every system answers, and their handlers. They do not depend on
the transport.

Services call answer() for each request in frames, HTTP services route(). Clients send
calc_request() and check what comes back (clients/call_tally.py). calc() is the work that gilscope
measures: a change of it alters all results (docs/decisions/001-calc-loop.md). The native services
answer in the same way.
"""

import json
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from core.messages import Json

# as the highest CALC_TARGET (core/cell.py)
CALC_TARGET_LIMIT = 10**9
# key of params: the answer must say when its handler began
BEGUN = "begun"

_decode = json.JSONDecoder().raw_decode


class Refused(Exception):
    """The error of a request that is answered with an error code."""

    def __init__(self, code: int, err: str) -> None:
        super().__init__(err)
        self.code = code


def calc(target: int) -> int:
    """Count from 0 to *target* in steps of one, in Python code."""
    n = 0
    for _ in range(target):
        n += 1
    return n


def _calc(params: Json) -> bytes:
    target = params.get("target")
    if type(target) is not int or not 0 <= target <= CALC_TARGET_LIMIT:
        raise Refused(400, f"params.target must be a whole number from 0 to {CALC_TARGET_LIMIT}")
    start = perf_counter_ns()
    count = calc(target)
    calc_ns = perf_counter_ns() - start
    if BEGUN in params:
        return b'{"code": 200, "msg": "%d", "err": "", "calc_ns": %d, "begun_ns": %d}' % (
            count,
            calc_ns,
            start,
        )
    return b'{"code": 200, "msg": "%d", "err": "", "calc_ns": %d}' % (count, calc_ns)


def _echo(params: Json) -> bytes:
    text = params.get("msg")
    if type(text) is not str:
        raise Refused(400, "params.msg must be a string")
    return json.dumps({"code": 200, "msg": text, "err": "", "calc_ns": 0}).encode()


Handler = Callable[[Json], bytes]
# handlers by URL and method; a handler returns the whole answer as JSON
ROUTES: dict[str, dict[str, Handler]] = {
    "/calc": {"POST": _calc},
    "/": {"GET": _echo, "POST": _echo},
}


def decode(body: bytes) -> Any:
    """Decode the JSON value in *body*. Raises Refused(400) unless *body* is one JSON value in
    UTF-8.
    """
    try:
        text = body.decode().strip(" \t\r\n")
        value, end = _decode(text)
        if end != len(text):
            raise Refused(400, "the body goes on after its JSON value")
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not UTF-8 JSON: {error}") from error
    return value


def route(method: str, url: str) -> Handler:
    """Return the handler of *url* for *method*. Raises Refused with 404 or 405."""
    methods = ROUTES.get(url)
    if methods is None:
        raise Refused(404, f"no such url; there are {', '.join(ROUTES)}")
    handler = methods.get(method)
    if handler is None:
        raise Refused(405, f"no such method here; accepted: {', '.join(methods)}")
    return handler


def answer(body: bytes) -> bytes:
    """Return the answer to the request *body*, without a length prefix. If a handler fails, the
    answer has code 500.
    """
    try:
        request = decode(body)
        if type(request) is not dict:
            raise Refused(400, "the request is not a JSON object")
        method, url, params = request.get("method"), request.get("url"), request.get("params")
        if type(method) is not str or type(url) is not str or type(params) is not dict:
            raise Refused(
                400, "the request needs method and url, both strings, and params, an object"
            )
        return route(method, url)(params)
    except Refused as refused:
        return error_answer(refused.code, str(refused))
    except Exception as error:
        return error_answer(500, f"{type(error).__name__}: {error}")


def error_answer(code: int, err: str) -> bytes:
    """Return an answer with the error *code* and the text *err*."""
    return json.dumps({"code": code, "msg": "", "err": err, "calc_ns": 0}).encode()


def calc_request(target: int, payload_bytes: int = 0, begun: bool = False) -> Json:
    """Return the request that every client sends, as JSON values, with *payload_bytes* of filler
    text.

    begun: whether to ask for begun_ns in the answer: when the handler began, on this host's
        monotonic clock
    """
    params: dict[str, Any] = {"target": target}
    if begun:
        params[BEGUN] = True
    if payload_bytes:
        params["filler"] = "x" * payload_bytes
    return {"method": "POST", "url": "/calc", "params": params}
