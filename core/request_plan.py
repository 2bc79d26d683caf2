"""The requests that clients send to a user's service, and their right answers. Both sides of a run read this."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from core.secret import Secret, Text, revealed

SHOWN_BYTES = 200
ANSWER_DEADLINE_S = 10.0  # an answer that has not come by then is an error, and the last of its connection


class Expectation(Enum):
    """ANY: whatever JSON an answer holds, or none at all. `None` cannot say that: it is what JSON calls null."""

    ANY = "any"


ANY = Expectation.ANY


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A wrong answer in words: what came and what was expected."""

    got: str
    expected: str

    def __str__(self) -> str:
        return f"{self.got}, expected {self.expected}"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request and its right answer.

    weight: how often it is sent, relative to the others of its plan
    path: with its query; empty for the path of the target itself
    body: text to send; body_file: a file to send instead
    expect_json: the expected value; of an object, only these keys are compared. ANY if any body is right. A Secret has
        it as text
    expect_sha256: of the whole body, in hex; "" if any body is right
    title: what failures call it; "" for method and path
    """

    method: str = "GET"
    path: Text = "/"
    weight: int = 1
    headers: Mapping[str, Text] = field(default_factory=dict)
    body: Text = ""
    body_file: str = ""
    expect_status: int = 200
    expect_json: Any = ANY
    expect_sha256: str = ""
    title: str = ""

    def __str__(self) -> str:
        return self.title or f"{self.method} {self.path or '/'}"

    def to_json(self) -> dict[str, Any]:
        """As in a plan, with its secrets (core.secret); without expect_json if any body is right."""
        stored = asdict(self)
        if self.expect_json is ANY:
            del stored["expect_json"]
        elif isinstance(self.expect_json, Secret):
            stored["expect_json_text"] = stored.pop("expect_json")
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Request":
        """The request that to_json wrote."""
        known = {name: value for name, value in stored.items() if name != "expect_json_text"}
        if "expect_json_text" in stored:
            text = stored["expect_json_text"]
            known["expect_json"] = text if isinstance(text, Secret) else json.loads(text)
        return cls(**known)

    def body_bytes(self) -> bytes:
        """What is sent after the head. Raises OSError where the file cannot be read."""
        return (
            Path(self.body_file).read_bytes()
            if self.body_file
            else revealed(self.body).encode(errors="surrogateescape")
        )


@dataclass(frozen=True, kw_only=True)
class RequestPlan:
    """think_time_s: how long each connection waits between an answer and its next request.

    rate: requests per second of one client, at fixed times; 0 = the next request follows each answer
    """

    requests: tuple[Request, ...] = (Request(),)
    think_time_s: float = 0.0
    rate: int = 0

    def to_json(self) -> dict[str, Any]:
        """As result.json and the first line of children have it, once each has treated the secrets in its way."""
        return {**asdict(self), "requests": [request.to_json() for request in self.requests]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "RequestPlan":
        """The plan that to_json wrote."""
        return cls(**{**stored, "requests": tuple(map(Request.from_json, stored["requests"]))})


def wrong(request: Request, status: int, body: bytes) -> Wrong | None:
    """What is wrong with an answer to *request*; None if it is right."""
    if status != request.expect_status:
        return Wrong(got=f"status {status}", expected=str(request.expect_status))
    if request.expect_json is not ANY and (difference := _wrong_json(request.expect_json, body)):
        return difference
    digest = hashlib.sha256(body).hexdigest() if request.expect_sha256 else ""
    if digest == request.expect_sha256:
        return None
    got = f"a body of {len(body)} bytes with sha256 {digest}: {shown(body)}"
    return Wrong(got=got, expected=request.expect_sha256)


def _wrong_json(expected: Any, body: bytes) -> Wrong | None:
    try:
        actual = json.loads(body)
    except (ValueError, RecursionError):
        return Wrong(got=f"body {shown(body)}", expected="JSON")
    difference = _difference("", expected, actual)
    return (
        None if difference is None else Wrong(got=f"body {shown(body)}: {difference.got}", expected=difference.expected)
    )


def _difference(where: str, expected: Any, actual: Any) -> Wrong | None:
    """The first place where *actual* is not *expected*; an object may have more keys than are expected of it."""
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        expected, actual = dict(enumerate(expected)), dict(enumerate(actual))
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)  # 1 is not true
        return None if same else Wrong(got=f"{where or 'it'} is {_text(actual)}", expected=_text(expected))
    for key, value in expected.items():
        place = f"{where}.{key}" if where else str(key)
        if key not in actual:
            return Wrong(got=f"{place} is not there", expected=_text(value))
        if difference := _difference(place, value, actual[key]):
            return difference
    return None


def _text(value: Any) -> str:
    return _cut(json.dumps(value))


def shown(body: bytes) -> str:
    """The beginning of a body, as text that can be printed."""
    text = body[: SHOWN_BYTES * 4].decode(errors="replace")
    return _cut("".join(letter if letter.isprintable() else " " for letter in text)) or "(empty)"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_BYTES else text[:SHOWN_BYTES] + "..."


def order(requests: Sequence[Request], seed: str, length: int) -> list[int]:
    """The order of requests: *length* indices drawn by weight, the same for the same seed."""
    weights = [request.weight for request in requests]
    return random.Random(seed).choices(range(len(requests)), weights, k=length)
