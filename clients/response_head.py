"""The head of an HTTP/1.1 response: what it says, once, and nothing else. Source: RFC 9112, sections 6.3 and 9.3."""

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
    """It says no status, says two things at once, or is too long."""


class Head:
    """What one head says. length: of the body in bytes, None if it is not told; keep: whether another may follow."""

    __slots__ = ("is_chunked", "keep", "length", "status")

    def __init__(self, head: bytes) -> None:
        """head: from the status line up to the empty line, with the line end of its last header.

        Raises BadHead if it says no status, or two things at once of its body.
        """
        status = _STATUS.match(head)
        if status is None or int(status[2]) not in STATUSES:
            raise BadHead
        self.status = int(status[2])
        self.length, self.is_chunked = _framing(head)
        self.keep = not _CLOSE.search(head) and (status[1] == b"1" or bool(_KEEP.search(head)))

    @property
    def is_interim(self) -> bool:
        """Return whether the answer is still to come (RFC 9110, 15.2). After 101 comes another protocol."""
        return self.status < 200 and self.status != SWITCHING


def _framing(head: bytes) -> tuple[int | None, bool]:
    lengths, codings = set(_LENGTH.findall(head)), _CODING.findall(head)
    if len(lengths) + len(codings) > 1 or not all(_DIGITS.fullmatch(length) for length in lengths):
        raise BadHead
    if codings and not codings[0].lower().endswith(b"chunked"):
        raise BadHead
    return (int(lengths.pop()) if lengths else None), bool(codings)


class KnownHeads:
    """Most responses of a connection have one of few heads, byte for byte: each is read once."""

    __slots__ = ("_heads",)
    _MOST = 64

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}

    def read(self, head: bytes) -> Head:
        """What *head* says. Raises BadHead."""
        known = self._heads.get(head)
        if known is not None:
            return known
        if len(head) > MAX_HEAD_BYTES:
            raise BadHead
        if len(self._heads) >= self._MOST:
            self._heads.clear()
        read = self._heads[head] = Head(head)
        return read
