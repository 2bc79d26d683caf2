"""Parse the head of an HTTP/1.1 response. Source: RFC 9112, sections 6.3 and 9.3."""

import re

from core.limits import MAX_HEAD_BYTES, STATUSES

HEAD_END = b"\r\n\r\n"
BODILESS = (204, 304)
SWITCHING = 101
_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})[^\r\n]*\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_CODING = re.compile(rb"\r\ntransfer-encoding:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[^\r\n]*close", re.IGNORECASE)
_KEEP = re.compile(rb"\r\nconnection:[^\r\n]*keep-alive", re.IGNORECASE)
_DIGITS = re.compile(rb"[0-9]{1,12}")


class BadHead(ValueError):
    """The error for a response head that has no status, contradicts itself, or is too long."""


class Head:
    """The parsed head of an HTTP response.

    length: length of the body in bytes; None if the head does not give it
    keep: whether the connection may be used for another request
    """

    __slots__ = ("is_chunked", "keep", "length", "status")

    def __init__(self, head: bytes) -> None:
        """Parse *head*: the status line and the header lines, but not the empty line after them.

        Raises BadHead if there is no status, or if the head gives two lengths of its body.
        """
        status = _STATUS.match(head)
        if status is None or int(status[2]) not in STATUSES:
            raise BadHead
        self.status = int(status[2])
        self.length, self.is_chunked = _framing(head)
        self.keep = not _CLOSE.search(head) and (status[1] == b"1" or bool(_KEEP.search(head)))

    @property
    def is_interim(self) -> bool:
        """Return whether this is an interim response: 1xx, except 101. A final response follows (RFC 9110, 15.2)."""
        return self.status < 200 and self.status != SWITCHING


def _framing(head: bytes) -> tuple[int | None, bool]:
    lengths, codings = set(_LENGTH.findall(head)), _CODING.findall(head)
    if len(lengths) + len(codings) > 1 or not all(_DIGITS.fullmatch(length) for length in lengths):
        raise BadHead
    if codings and not codings[0].lower().endswith(b"chunked"):
        raise BadHead
    return (int(lengths.pop()) if lengths else None), bool(codings)


class KnownHeads:
    """A cache of parsed heads, because most responses of a connection have one of a few identical heads."""

    __slots__ = ("_heads",)
    _MOST = 64

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}

    def read(self, head: bytes) -> Head:
        """Return the response head *head* in parsed form, from the cache if it is known. Raises BadHead."""
        known = self._heads.get(head)
        if known is not None:
            return known
        if len(head) > MAX_HEAD_BYTES:
            raise BadHead
        if len(self._heads) >= self._MOST:
            self._heads.clear()
        read = self._heads[head] = Head(head)
        return read
