"""Requests of a user's service: what clients send and which answers are correct, from YAML or flags."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from config.options import USER_SERVICE, Given, Option, applying, by_key, expect_keys, parsed, whole
from config.text_yaml import read_yaml
from core.errors import BadInput
from core.messages import listed, message
from core.request_plan import Request, RequestPlan
from core.user_service import FRAMED

MOST_WEIGHT = 10**6
MOST_RATE = 10**8
LONGEST_THINK_TIME_S = 10.0**6
_LINE = re.compile(r"(?:(?P<method>[A-Z]{1,16}) +)?(?P<path>/[^\s#]*)")


def parse_headers(texts: Sequence[str]) -> dict[str, str]:
    """{name: value} from every 'Name: value'. Raises BadInput."""
    headers = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value.replace("\t", " ").isprintable():
            header = Given(value=text, name="header")
            raise header.wrong(message("NAME: VALUE, such as Accept: application/json"))
        headers[name] = value.strip()
    return headers


def _headers(given: Given) -> dict[str, str]:
    if isinstance(given.value, list):
        return parse_headers(given.value)
    if not isinstance(given.value, dict):
        raise given.wrong(message("a mapping such as {example}", example="{Accept: application/json}"))
    return parse_headers([f"{name}: {Given(value=text, name=name).text()}" for name, text in given.value.items()])


def _utf8(given: Given) -> str:
    try:
        given.text().encode()
    except UnicodeEncodeError:
        raise given.wrong(message("a text that can be sent as UTF-8")) from None
    return given.text()


def _json(given: Given) -> Any:
    try:
        return json.loads(given.text())
    except (ValueError, RecursionError) as error:
        short = Given(value=given.text()[:200], name=given.name)
        raise short.wrong(message("JSON such as {example} ({error})", example='{"id": 3}', error=str(error))) from None


def _digest(given: Given) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", str(given.value)):
        raise given.wrong(message("the 64 hex digits that sha256sum prints"))
    return str(given.value).lower()


def _method_and_path(given: Given) -> tuple[str, str]:
    text = given.text()
    if text == "GET":
        return "GET", ""
    match = _LINE.fullmatch(text.strip())
    if match is None or not text.isprintable():
        raise given.wrong(message("a method and a path that begins with /, such as GET /items/3"))
    return match["method"] or "GET", match["path"]


def parse_time(given: Given) -> float:
    """Seconds from '10ms', '0.5s' or '0.5'. Raises BadInput."""
    return given.seconds({"ms": 0.001, "s": 1.0}, LONGEST_THINK_TIME_S, "10ms")


def path_of(given: Given) -> str:
    """The path of a file that can be read. Raises BadInput."""
    return str(given.file())


REQUEST = applying(
    USER_SERVICE,
    Option("--request R", message("method and path: GET /items/3"), _method_and_path, repeated=True),
    Option(
        "", message("how often it is sent, relative to the others (default: 1)"), whole(1, MOST_WEIGHT), key="weight"
    ),
    Option("--header H", message("NAME: VALUE; in YAML, a mapping"), _headers, key="headers", repeated=True),
    Option("--body TEXT", message("what is sent with it"), _utf8),
    Option("", message("a file to send in place of body, relative to the YAML file"), path_of, key="body_file"),
    Option("--expect-status N", message("status of a correct answer (default: 200)"), whole(100, 999)),
    Option("--expect-json JSON", message("what a correct answer contains; objects may have more keys"), _json),
    Option("", message("SHA-256 of the body of a correct answer, in hex"), _digest, key="expect_sha256"),
)
FILE = applying(
    USER_SERVICE,
    Option("--requests FILE", message("requests in a YAML file; in YAML, also the list itself")),
    Option("--think-time T", message("pause between an answer and the next request: 10ms; not with rate"), parse_time),
    Option("", message("requests per second of each client, as RATE"), whole(0, MOST_RATE), key="rate"),
)
REQUEST_KEYS, FILE_KEYS = (tuple(by_key(options)) for options in (REQUEST, FILE))


def load_requests(path: Path) -> RequestPlan:
    """The request plan in a YAML file. Raises BadInput naming file, key, value and what is accepted."""
    content = read_yaml(path, "--requests")
    try:
        given = {"requests": content} if isinstance(content, list) else content
        if not isinstance(given, dict) or not given.keys() <= set(FILE_KEYS) or "requests" not in given:
            raise BadInput("it must be a list of requests, or a mapping with keys of {keys}.", keys=listed(FILE_KEYS))
        return request_plan(given, path.parent)
    except BadInput as error:
        raise BadInput("{path}: {error}", path=str(path), error=error.message) from error


def request_plan(given: Mapping[str, Any], folder: Path) -> RequestPlan:
    """From texts by FILE_KEYS; body files are relative to *folder*. Raises BadInput.

    Without `requests`, the target's own path is requested.
    """
    requests = given.get("requests", ["GET"])
    if not isinstance(requests, list) or not requests:
        raise BadInput("requests is empty; it must be a list such as `- request: GET /items/3`.")
    values = parsed(FILE, {key: given[key] for key in FILE_KEYS if key in given}, folder)
    return RequestPlan(
        requests=tuple(_request(request, folder) for request in requests),
        think_time_s=values.get("think_time", 0.0),
        rate=values.get("rate", 0),
    )


def _request(given: Any, folder: Path) -> Request:
    given = {"request": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or "request" not in given:
        raise BadInput("the request {value} lacks the key request, such as GET /items/3.", value=repr(given))
    expect_keys(message("a request"), given, REQUEST_KEYS)
    if "body" in given and "body_file" in given:
        raise BadInput("a request has body and body_file; give only one of them.")
    values = parsed(REQUEST, given, folder)
    method, path = values.pop("request")
    return Request(method=method, path=path, **values)


def expect_sendable(plan: RequestPlan, protocol: str) -> None:
    """Raises BadInput for what a frame cannot carry: headers, and a body that is not a JSON object."""
    for request in plan.requests if protocol == FRAMED else ():
        if request.headers:
            raise BadInput(
                "{request} has headers {names}, but frames have none; leave them out, or use http.",
                request=str(request),
                names=listed(request.headers),
            )
        body = request.body_bytes()
        if not _is_object(body):
            raise BadInput(
                "the body of {request} is {body!r}; a frame carries it as params, so it must be a JSON object, such "
                "as '{{\"target\": 10}}'.",
                request=str(request),
                body=body[:80].decode(errors="replace"),
            )


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body or b"{}"), dict)
    except (ValueError, RecursionError):
        return False
