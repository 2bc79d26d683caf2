"""The session of a virtual user: its cookies, and its saved values, which replace placeholders in requests.

native/loadgen/src/request/session.rs must behave in the same way.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import reduce
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID as UUID4

from clients.channel import HEAD_END
from core.request_plan import COUNTER, INT, USER, UUID, Place, Random, Request, decoded, places
from core.secret import Redactor

MOST_COOKIES, MOST_VALUE_BYTES, MOST_SECRETS = 64, 4096, 64
VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_SET_COOKIE = re.compile(rb"\r\nset-cookie:[ \t]*([^\r\n]*)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LENGTH = re.compile(rb"\r\nContent-Length: [0-9]+")

Parts = Sequence[bytes | Place]


class Template:
    """A request with placeholders. fill() replaces them for a virtual user, and adds cookies and the body's length."""

    __slots__ = ("_body", "_head", "_line", "_takes_cookies", "_takes_number", "_tells_length", "names")

    def __init__(self, request: Request, sent: bytes, saved: frozenset[str], *, keeps_cookies: bool) -> None:
        """Split a request into fixed bytes and placeholders.

        sent: made by http.message()
        """
        head, _, body = sent.partition(HEAD_END)
        line, end, rest = head.partition(b"\r\n")
        lines = end + rest
        self._body = places(body, saved)
        given = {name.lower() for name in request.headers}
        self._tells_length = len(self._body) > 1 and "content-length" not in given
        if self._tells_length:
            lines = _LENGTH.sub(b"", lines, count=1)
        self._line, self._head = places(line, saved), places(lines, saved)
        self._takes_cookies = keeps_cookies and "cookie" not in given
        fields = [part for part in (*self._line, *self._head, *self._body) if isinstance(part, Place)]
        self._takes_number = any(field.name == COUNTER for field in fields)
        self.names = tuple(dict.fromkeys(field.name for field in fields if field.name in saved))

    @property
    def is_needed(self) -> bool:
        """Return whether the bytes of the request differ between users."""
        return len(self._line) + len(self._head) + len(self._body) > 3 or self._takes_cookies

    def fill(self, session: "Session") -> bytes:
        """Return the bytes of this request, filled in for *session*."""
        session.counter += self._takes_number
        line = b"".join(
            part if isinstance(part, bytes) else quote(session.field(part), VISIBLE).encode() for part in self._line
        )
        head, body = _filled(self._head, session), _filled(self._body, session)
        session.path = line.split(b" ", 2)[1].partition(b"?")[0]
        length = b"\r\nContent-Length: %d" % len(body) if self._tells_length else b""
        cookies = session.cookies.header(session.path) if self._takes_cookies else b""
        return b"".join((line, head, length, cookies, HEAD_END, body))


def _filled(parts: Parts, session: "Session") -> bytes:
    return b"".join(part if isinstance(part, bytes) else session.field(part) for part in parts)


class Session:
    """The session state of one virtual user.

    user: its number in the cell, which is also the seed of its random numbers
    """

    __slots__ = ("_random", "_secrets", "cookies", "counter", "is_logged_in", "path", "saved", "user")

    def __init__(self, user: int, host: str, *, is_secure: bool) -> None:
        self.user = user
        self.counter = 0
        self.path = b"/"
        self.is_logged_in = False
        self.saved: dict[str, bytes] = {}
        self.cookies = Cookies(host, is_secure=is_secure)
        self._random = Random(user)
        self._secrets: list[str] = []

    def field(self, place: Place) -> bytes:
        """Return the bytes that replace the placeholder *place*."""
        if place.name == INT:
            return b"%d" % (place.low + self._random.below(place.high - place.low + 1))
        if place.name == UUID:
            number = reduce(lambda number, _: number << 32 | self._random.below(1 << 32), range(4), 0)
            return str(UUID4(int=number, version=4)).encode()
        if place.name in (COUNTER, USER):
            return b"%d" % (self.counter if place.name == COUNTER else self.user)
        return self.saved.get(place.name, b"")

    def take(self, request: Request, head: bytes, status: int, body: bytes) -> str:
        """Save the cookies of an answer and the values that *request* names. Return which value is missing, or ""."""
        missing, values = "", [value.decode(errors="replace") for value in self.cookies.take(head, self.path)]
        for name, source in request.save.items() if status == request.expect_status else ():
            value = found(source, head, body)
            if value is None:
                missing = f"no value for {name} at {' '.join(*source.items())}"
                break
            self.saved[name] = value.encode(errors="replace")
            values.append(value)
        new = [value for value in values if value not in self._secrets]
        self._secrets = [*self._secrets, *new][-MOST_SECRETS:]
        return missing

    def redacted(self, text: str) -> str:
        """Return *text* without the cookies and values that the service gave to the virtual user of this session."""
        return Redactor(self._secrets).text(text)


def found(source: Mapping[str, str], head: bytes, body: bytes) -> str | None:
    """Return the value that *source* names in an answer, or None if it is absent, too long or not printable."""
    ((kind, where),) = source.items()
    with suppress(ValueError):
        body = decoded(head, body)
    text = head.decode("latin-1") if kind == "header" else body.decode(errors="replace")
    if kind == "json":
        value = _at(where, text)
    else:
        line = rf"(?i)\r\n{re.escape(where)}:[ \t]*([^\r\n]*?)[ \t]*\r\n"
        match = re.search(line if kind == "header" else where, text)
        value = match[1] if match else None
    return value if value and len(value) <= MOST_VALUE_BYTES and not _CONTROL.search(value) else None


def _at(pointer: str, text: str) -> str | None:
    """Return the text or number at a JSON pointer, as text, or None. Source: RFC 6901."""
    try:
        value: Any = json.loads(text)
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            value = value[int(key) if isinstance(value, list) and key.isdecimal() else key]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, int | float) else None


class Cookie(NamedTuple):
    """A cookie of a virtual user's session.

    path: the cookie is sent with requests to this path and to paths below it
    """

    name: bytes
    value: bytes
    path: bytes


class Cookies:
    """The cookies that one host set for one user. They follow RFC 6265, but without the list of public suffixes."""

    __slots__ = ("_host", "_kept", "_takes_secure")

    def __init__(self, host: str, *, is_secure: bool) -> None:
        self._host = host
        self._takes_secure = is_secure or host in LOOPBACK
        self._kept: list[Cookie] = []

    def take(self, head: bytes, path: bytes) -> list[bytes]:
        """Keep the cookies that an answer to a request for *path* sets. Return the values of the cookies."""
        lines = [line for line in _SET_COOKIE.findall(head) if len(line) <= MOST_VALUE_BYTES]
        return [value for line in lines if (value := self._keep(line, path))]

    def header(self, path: bytes) -> bytes:
        """Return the Cookie header line for a request for *path*, or b"" if no cookie applies."""
        sent = [b"%s=%s" % one[:2] for one in self._kept if _covers(one.path, path)]
        return b"\r\nCookie: " + b"; ".join(sent) if sent else b""

    def _keep(self, line: bytes, path: bytes) -> bytes:
        """Keep or delete the cookie that *line* sets. Return its value, or b"" if this host must not set it."""
        pair, *rest = line.split(b";")
        name, _, value = _stripped(pair)
        attributes = {key.lower(): text for key, _, text in map(_stripped, rest)}
        domain = attributes.get(b"domain", b"").lower().lstrip(b".").decode(errors="replace")
        is_foreign = domain and not f".{self._host}".endswith(f".{domain}")
        if not name or b"=" not in pair or is_foreign or (b"secure" in attributes and not self._takes_secure):
            return b""
        own = attributes.get(b"path", b"")
        cookie = Cookie(name, value, own if own.startswith(b"/") else path[: path.rfind(b"/")] or b"/")
        same = [place for place, one in enumerate(self._kept) if (one.name, one.path) == (name, cookie.path)]
        if _has_expired(attributes):
            self._kept = [one for place, one in enumerate(self._kept) if place not in same]
        elif same:
            self._kept[same[0]] = cookie
        elif len(self._kept) < MOST_COOKIES:
            self._kept = sorted([*self._kept, cookie], key=lambda one: -len(one.path))
        return value


def _stripped(pair: bytes) -> list[bytes]:
    return [part.strip(b" \t") for part in pair.partition(b"=")]


def _covers(cookie_path: bytes, path: bytes) -> bool:
    rest = path[len(cookie_path) :]
    return path.startswith(cookie_path) and (not rest or cookie_path.endswith(b"/") or rest.startswith(b"/"))


def _has_expired(attributes: Mapping[bytes, bytes]) -> bool:
    """Return whether a cookie has expired by its attributes. Max-Age has priority over Expires."""
    if re.fullmatch(rb"-?[0-9]{1,18}", age := attributes.get(b"max-age", b"")):
        return int(age) <= 0
    try:
        return parsedate_to_datetime(attributes[b"expires"].decode()).timestamp() <= time()
    except (KeyError, ValueError, OverflowError):
        return False
