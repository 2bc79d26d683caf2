"""Request plans from YAML files and flags: what clients ask a user's own service. docs/own-service.md has the keys."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from config.text_yaml import read_yaml
from core.errors import BadInput
from core.request_plan import ANY, Request, RequestPlan

REQUEST_KEYS = (
    "request",
    "weight",
    "headers",
    "body",
    "body_file",
    "expect_status",
    "expect_json",
    "expect_sha256",
)
FILE_KEYS = ("requests", "think_time", "rate")
MOST_WEIGHT = 10**6
MOST_RATE = 10**8
_LINE = re.compile(r"(?:(?P<method>[A-Z]{1,16}) +)?(?P<path>/[^\s#]*)")
_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(ms|s)?")


def load_requests(path: Path) -> RequestPlan:
    """The request plan in a YAML file. Raises BadInput naming file, key, value and what is accepted."""
    content = read_yaml(path, "--requests")
    try:
        given = {"requests": content} if isinstance(content, list) else content
        if not isinstance(given, dict) or not given.keys() <= set(FILE_KEYS) or "requests" not in given:
            raise BadInput(f"it must be a list of requests, or a mapping with keys of {', '.join(FILE_KEYS)}.")
        return request_plan(given, path.parent)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def request_plan(given: Mapping[str, Any], folder: Path) -> RequestPlan:
    """From `requests`, `think_time` and `rate`, texts as a file or flags have them; body files are found in *folder*.

    Without `requests`, the target's own path is asked for. Raises BadInput.
    """
    asked = given.get("requests", [{"request": "GET"}])
    if not isinstance(asked, list) or not asked:
        raise BadInput("requests is empty; it must be a list such as `- request: GET /items/3`.")
    rate = str(given.get("rate", "0"))
    return RequestPlan(
        requests=tuple(_request(one, folder) for one in asked),
        think_time_s=parse_time(str(given.get("think_time", "0"))),
        rate=_whole("rate", rate, 0, MOST_RATE),
    )


def parse_time(text: str) -> float:
    """Seconds from '10ms', '0.5s' or '0.5'. Raises BadInput."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"think time is {text}; it must be a time such as 10ms or 0.5s.")
    return float(match[1]) / (1000 if match[2] == "ms" else 1)


def parse_headers(texts: Sequence[str]) -> dict[str, str]:
    """{name: value} from every 'Name: value'. Raises BadInput."""
    headers = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value.replace("\t", " ").isprintable():
            raise BadInput(f"header is {text!r}; it must be NAME: VALUE, such as 'Accept: application/json'.")
        headers[name] = value.strip()
    return headers


def _request(given: Any, folder: Path) -> Request:
    given = {"request": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or "request" not in given:
        raise BadInput(f"the request {given!r} does not say `request`; it must, such as `request: GET /items/3`.")
    for key in given:
        if key not in REQUEST_KEYS:
            raise BadInput(f"a request has an unknown key {key!r}; accepted are {', '.join(REQUEST_KEYS)}.")
    method, path = _method_and_path(_text("request", given["request"]))
    headers = given.get("headers", {})
    if not isinstance(headers, dict):
        raise BadInput(f"headers is {headers!r}; it must be a mapping such as {{Accept: application/json}}.")
    return Request(
        method=method,
        path=path,
        weight=_whole("weight", str(given.get("weight", "1")), 1, MOST_WEIGHT),
        headers=parse_headers([f"{name}: {_text(name, value)}" for name, value in headers.items()]),
        body=_text("body", given.get("body", "")),
        body_file=_body_file(given, folder),
        expect_status=_whole("expect_status", str(given.get("expect_status", "200")), 100, 999),
        expect_json=_json(given["expect_json"]) if "expect_json" in given else ANY,
        expect_sha256=_digest(str(given.get("expect_sha256", ""))),
    )


def _method_and_path(text: str) -> tuple[str, str]:
    if text == "GET":
        return "GET", ""
    match = _LINE.fullmatch(text.strip())
    if match is None or not text.isprintable():
        raise BadInput(f"request is {text!r}; it must be a method and a path that begins with /, such as GET /items/3.")
    return match["method"] or "GET", match["path"]


def _body_file(given: Mapping[str, Any], folder: Path) -> str:
    if "body_file" not in given:
        return ""
    if "body" in given:
        raise BadInput("a request has body and body_file; give only one of them.")
    path = (folder / _text("body_file", given["body_file"])).absolute()
    try:
        path.open("rb").close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"body_file is {given['body_file']!r}; {path} cannot be read: {why}.") from None
    return str(path)


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise BadInput(f"{name} is {given!r}; it must be a text. Put it in quotes: '{{\"id\": 3}}'.")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{name} is {given!r}, which cannot be sent as UTF-8; it must be a text.") from None
    return given


def _json(given: Any) -> Any:
    try:
        return json.loads(_text("expect_json", given))
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"expect_json is {_text('expect_json', given)[:200]!r}, which is not JSON ({error}); "
            "such as '{\"id\": 3}'."
        ) from None


def _digest(text: str) -> str:
    if text and not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise BadInput(f"expect_sha256 is {text!r}; it must be the 64 hex digits that sha256sum prints.")
    return text.lower()


def _whole(name: str, text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise BadInput(f"{name} is {text}; it must be a whole number from {low} to {high}.")
    return int(text)
