"""The requests that clients send to a user's service, their placeholders such as {{user}}, and the
expected answers.

config/user_service makes a RequestPlan of flags or YAML, clients get its to_json() in their first
line, and result.json saves it without secrets. clients/user_service.py sends the requests, or
native/loadgen, which must choose and check them in the same way. Requests with placeholders need
native/loadgen, because they depend on a session (Request.needs_session).
"""

import hashlib
import json
import re
import zlib
from bisect import bisect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

from core.messages import Json
from core.secret import Secret, Text, as_printed, revealed
from core.wire import MAX_BODY_BYTES, MAX_ROUTES, SWITCHING

# how many requests with it the virtual user has sent; the number of the virtual user, from 1
COUNTER, USER = "counter", "user"
# placeholders whose value the client makes; every other one stands for a saved value
GENERATED = {COUNTER, USER, "random.uuid", "random.int"}
# groups: random.int, its two bounds; or another name
PLACE = re.compile(
    rb"\{\{ *(?:(random\.int) +(-?[0-9]{1,9}) +(-?[0-9]{1,9})"
    rb"|(counter|user|random\.uuid|[A-Za-z_][A-Za-z0-9_]*)) *\}\}"
)


class Placeholder(NamedTuple):
    """A placeholder in a request, for a generated or a saved value.

    low, high: the bounds of random.int
    """

    name: str
    low: int = 0
    high: int = 0


def placeholders(text: bytes, saved: frozenset[str] | None = None) -> list[Placeholder]:
    """Return the placeholders in the text of a request, such as {{user}}, in order.

    saved: the names of saved values; if None, any name is a placeholder
    """
    found = [
        Placeholder((match[1] or match[4]).decode(), int(match[2] or 0), int(match[3] or 0))
        for match in PLACE.finditer(text)
    ]
    return [one for one in found if saved is None or one.name in saved | GENERATED]


SHOWN_BYTES = 200  # characters of a body or value that an error shows
# one in so many characters of a body that is shown may be no text, and two more
MOST_UNREADABLE = 10
_CODING = re.compile(rb"\r\ncontent-encoding:[ \t]*([!-~]+)", re.IGNORECASE)
_MASK = (1 << 64) - 1  # for arithmetic of 64 bits
CODINGS = ("gzip", "x-gzip", "deflate")  # of Content-Encoding, which decoded() removes
ANSWER_DEADLINE_S = 10.0  # an answer that takes longer is an error and ends its connection


ANY: Any = (
    object()
)  # marks answers that may have any body; None cannot, because it means JSON's null


class Wrong(NamedTuple):
    """A wrong answer in words: what the client got, and what it expected."""

    got: str
    expected: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request and its expected answer.

    weight: how often the request is sent, relative to the other requests of the plan
    path: path with query; empty for the path of the target itself
    body: text to send
    body_file: a file to send in place of `body`
    expect_json: the expected value; of an object, only the given keys are compared. ANY if any body
        is right. For a Secret, the value is JSON text
    expect_sha256: digest of the whole body in hex; "" if any body is right
    title: name of the request in failures; "" for method and path
    first: whether each virtual user sends the request once, before the requests that count
    save: values of the answer that later requests use as {{name}}: a name to {"json": pointer},
        {"header": name} or {"regex": pattern}
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
    first: bool = False
    save: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.title or f"{self.method} {self.path or '/'}"

    def to_json(self) -> Json:
        """Return the request as JSON values and Secret objects. Omit expect_json if every body is
        accepted.
        """
        stored = {**vars(self)}
        for name in ("first", "save"):
            if not stored[name]:
                del stored[name]
        if self.expect_json is ANY:
            del stored["expect_json"]
        elif isinstance(self.expect_json, Secret):
            stored["expect_json_text"] = stored.pop("expect_json")
        return stored

    @classmethod
    def from_json(cls, stored: Json) -> "Request":
        """Decode a request that to_json() encoded."""
        known = {**stored}
        if "expect_json_text" in known:
            text = known.pop("expect_json_text")
            known["expect_json"] = text if isinstance(text, Secret) else json.loads(text)
        return cls(**known)

    @property
    def needs_session(self) -> bool:
        """Return whether what is sent depends on the virtual user or on earlier answers."""
        texts = [
            revealed(text).encode(errors="replace") for text in (self.path, *self.headers.values())
        ]
        with suppress(OSError):
            texts.append(self.body_bytes())
        return (
            self.first or bool(self.save) or any(placeholders(text, frozenset()) for text in texts)
        )

    def body_bytes(self) -> bytes:
        """Return the body as bytes. Raises OSError if body_file cannot be read."""
        if self.body_file:
            return Path(self.body_file).read_bytes()
        return revealed(self.body).encode(errors="surrogateescape")


@dataclass(frozen=True, kw_only=True)
class RequestPlan:
    """The requests that every client sends to a user's service, and their think time.

    think_time_s: how long each connection waits between an answer and its next request
    """

    requests: tuple[Request, ...] = (Request(),)
    think_time_s: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the requests, each once, in the order of the plan."""
        return tuple(dict.fromkeys(map(str, self.requests)))

    @property
    def routes(self) -> tuple[str, ...]:
        """Return the names of the routes, which are measured one by one: requests of one name are
        one route. () if fewer than two routes are measured, or if there are more than MAX_ROUTES.
        """
        measured = {str(request) for request in self.requests if not request.first}
        return self.names if len(measured) > 1 and len(self.names) <= MAX_ROUTES else ()

    @property
    def has_only_handshakes(self) -> bool:
        """Return whether every request asks for another protocol, whose messages are not sent."""
        return all(request.expect_status == SWITCHING for request in self.requests)

    @property
    def has_files(self) -> bool:
        """Return whether the body of a request is in a file."""
        return any(request.body_file for request in self.requests)

    def to_json(self) -> Json:
        """Return the plan as JSON values and Secret objects. The caller must hide or reveal the
        secrets.
        """
        return {
            "requests": [request.to_json() for request in self.requests],
            "think_time_s": self.think_time_s,
        }

    @classmethod
    def from_json(cls, stored: Json) -> "RequestPlan":
        """Decode a request plan that to_json() encoded."""
        return cls(**{**stored, "requests": tuple(map(Request.from_json, stored["requests"]))})


def wrong(request: Request, status: int, body: bytes, head: bytes = b"") -> Wrong | None:
    """Compare an answer with what *request* expects. Return the difference, or None if the answer
    is right.

    head: the lines of the answer's head
    """
    if status != request.expect_status:
        got = f"status {status}: {_beginning(body, head)}" if body else f"status {status}"
        return Wrong(got=got, expected=str(request.expect_status))
    if request.expect_json is not ANY and (
        difference := _wrong_json(request.expect_json, body, head)
    ):
        return difference
    digest = hashlib.sha256(body).hexdigest() if request.expect_sha256 else ""
    if digest == request.expect_sha256:
        return None
    got = f"a body of {len(body)} bytes with sha256 {digest}: {shown(body)}"
    return Wrong(got=got, expected=request.expect_sha256)


def decoded(head: bytes, body: bytes) -> bytes:
    """Return *body* without the Content-Encoding that *head* names. Raises ValueError if it cannot
    be decoded.
    """
    found = _CODING.search(head)
    coding = found[1].decode().lower() if found else "identity"
    if coding == "identity":
        return body
    if coding not in CODINGS:
        raise ValueError(f"a body with Content-Encoding {coding}, which this client cannot decode")
    # + 32: with the header of gzip or of zlib
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    with suppress(zlib.error):
        plain = decoder.decompress(body, MAX_BODY_BYTES)
        if decoder.eof and not decoder.unused_data:
            return plain
    raise ValueError(f"a body that is not valid {coding}, or too large")


def _beginning(body: bytes, head: bytes) -> str:
    """Return the first characters of a body, or why it cannot be shown."""
    try:
        return shown(decoded(head, body))
    except ValueError as error:
        return str(error)


def _wrong_json(expected: Any, body: bytes, head: bytes) -> Wrong | None:
    try:
        body = decoded(head, body)
    except ValueError as error:
        return Wrong(got=str(error), expected="JSON")
    try:
        actual = json.loads(body)
    except (ValueError, RecursionError):
        return Wrong(got=f"body {shown(body)}", expected="JSON")
    difference = _difference("", expected, actual)
    return difference and Wrong(
        got=f"body {shown(body)}: {difference.got}", expected=difference.expected
    )


def _difference(where: str, expected: Any, actual: Any) -> Wrong | None:
    """Return the first difference between *actual* and *expected*. Additional keys of an object are
    ignored.
    """
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        expected, actual = dict(enumerate(expected)), dict(enumerate(actual))
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        same = expected == actual and isinstance(expected, bool) == isinstance(
            actual, bool
        )  # 1 is not true
        return (
            None
            if same
            else Wrong(got=f"{where or 'it'} is {_text(actual)}", expected=_text(expected))
        )
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
    """Return the first characters of a body that is text. Return the size in bytes of any other
    body.
    """
    # a character has 4 bytes at most
    text = body[: SHOWN_BYTES * 4].decode(errors="replace")
    unreadable = sum(
        letter == "\ufffd" or (letter < " " and not letter.isspace()) for letter in text
    )
    if unreadable > 2 + len(text) // MOST_UNREADABLE:
        return f"({len(body)} bytes that are not text)"
    return _cut(as_printed(text)) or "(empty)"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_BYTES else text[:SHOWN_BYTES] + "..."


class Random:
    """A generator of the native client's random numbers. Python and native clients send the same
    requests for one seed.

    Source: xorshift64*, as in native/contract/src/random.rs.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed * 0x9E3779B97F4A7C15 & _MASK | 1

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to below *limit*, which is at most 2^32."""
        state = self._state
        state ^= state >> 12
        state ^= state << 25 & _MASK
        self._state = state = state ^ state >> 27
        return ((state * 0x2545F4914F6CDD1D & _MASK) >> 32) * limit >> 32


def order(requests: Sequence[Request], seed: int, length: int) -> list[int]:
    """Return about *length* indices of requests in random order. The native client has the same
    order for a seed.

    Each round of the order has every request as often as its weight says, so shares are right in a
    short time, too. If one round is longer than *length*, the requests are drawn by weight.
    Requests with `first` are left out.
    """
    weights = [request.weight * (not request.first) for request in requests]
    random, sums = Random(seed), [*accumulate(weights)]
    least = gcd(*weights) or 1
    if sums[-1] // least > length:
        return [bisect(sums, random.below(sums[-1])) for _ in range(length)]
    shares = [[number] * (weight // least) for number, weight in enumerate(weights)]
    round_of, picks = [*chain(*shares)], list[int]()
    while len(picks) < length:
        for last in range(len(round_of) - 1, 0, -1):
            other = random.below(last + 1)
            round_of[last], round_of[other] = round_of[other], round_of[last]
        picks += round_of
    return picks
