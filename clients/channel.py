"""Channels: blocking connections from a client to a service, whose answers are frames, HTTP/1.1 or
anything else.

Source of the parser of HTTP responses: RFC 9112, sections 6.3 and 9.3.

FramedChannel and HttpChannel are for systems that answer as core.work does, StreamChannel is for
protocols of users. http.py shares the parsing of heads. ask() is what clients time, so
it must do nothing else. The protocol Channel is in core/system.py.
"""

import json
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from time import monotonic
from typing import Any

from core.cell import Cell
from core.child import TIMEOUT
from core.system import MORE
from core.wire import (
    HEADER,
    MAX_ANSWER_BYTES,
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    STATUSES,
    frame,
)
from core.work import calc_request

HTTP = b"HTTP/1."  # how each readable answer begins
BODILESS = (204, 304)  # statuses whose answers have no body
_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})[^\r\n]*\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_CODING = re.compile(rb"\r\ntransfer-encoding:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[^\r\n]*close", re.IGNORECASE)
_KEEP = re.compile(rb"\r\nconnection:[^\r\n]*keep-alive", re.IGNORECASE)
_DIGITS = re.compile(rb"[0-9]{1,12}")
_BARE_LF = re.compile(rb"(?<!\r)\n")


class BadHead(ValueError):
    """The error for a response head that has no status, contradicts itself, or is too long."""


def split_head(data: bytes) -> tuple[int, int]:
    """Find the end of the HTTP response head in *data*.

    Return the length of the head, and the offset at which the body starts. The length is 0 if the
    head is incomplete. A lone LF ends a line, too. Source: RFC 9112, 2.2.
    """
    end = data.find(b"\n\r\n") + 1
    bare = data.find(b"\n\n", 0, end or None) + 1
    return (bare, bare + 1) if bare else (end, end + 2)


class Head:
    """The parsed head of an HTTP response.

    lines: its lines, each with CR and LF
    length: length of the body in bytes; None if the head does not give it
    keep: whether the connection may be used for another request
    """

    __slots__ = ("is_chunked", "keep", "length", "lines", "status")

    def __init__(self, head: bytes) -> None:
        """Parse *head*: the status line and the header lines, but not the empty line after them.

        Raises BadHead if there is no status, if the head gives two lengths of its body, or if it is
        too long.
        """
        if len(head) > MAX_HEAD_BYTES:
            raise BadHead
        self.lines = head = _BARE_LF.sub(b"\r\n", head)
        status = _STATUS.match(head)
        if status is None or int(status[2]) not in STATUSES or head.count(b"\n") > MAX_HEADERS + 1:
            raise BadHead
        self.status = int(status[2])
        self.length, self.is_chunked = _framing(head)
        self.keep = not _CLOSE.search(head) and (status[1] == b"1" or bool(_KEEP.search(head)))


def _framing(head: bytes) -> tuple[int | None, bool]:
    lengths, codings = set(_LENGTH.findall(head)), _CODING.findall(head)
    if len(lengths) + len(codings) > 1 or not all(_DIGITS.fullmatch(length) for length in lengths):
        raise BadHead
    if codings and not codings[0].lower().endswith(b"chunked"):
        raise BadHead
    return (int(lengths.pop()) if lengths else None), bool(codings)


def head_parser() -> Callable[[bytes], Head]:
    """Return a parser for the heads of one connection. It keeps known heads, because most responses
    have one of a few. Its Head objects are therefore shared, and must not be changed.

    The parser raises BadHead.
    """
    return lru_cache(maxsize=64)(Head)


READ_BYTES = 64 * 1024  # most bytes that one recv() returns
SHOWN_BYTES = 60  # how much is shown of an answer that cannot be read


def shown_bytes(data: bytes) -> str:
    """Return the first bytes of an answer as text, with escape sequences."""
    rest = f"... ({len(data)} bytes)" if len(data) > SHOWN_BYTES else ""
    return f"`{data[:SHOWN_BYTES].decode('latin-1').encode('unicode_escape').decode()}`{rest}"


class CallFailed(Exception):
    """The error that is raised if a request gets no usable answer.

    code: connect, closed, reset, timeout, extra, garbled, encode or tls
    reason: the cause in words, if it is known
    was_kept: whether the service closed a connection that it had kept, before any byte of the
        answer
    """

    def __init__(self, code: str, reason: str = "", *, was_kept: bool = False) -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason
        self.was_kept = was_kept


def connect(address: str, deadline_s: float | None = None) -> socket.socket:
    """Connect to *address*: host:port, or a Unix socket's path (starts with '/'). Raises
    CallFailed.
    """
    try:
        if address.startswith("/"):
            return _connect_unix(address, deadline_s)
        host, _, port = address.rpartition(":")
        sock = socket.create_connection((host.strip("[]"), int(port)), deadline_s)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    except TimeoutError as error:
        raise CallFailed(TIMEOUT) from error
    except OSError as error:
        raise CallFailed("connect") from error


def _connect_unix(path: str, deadline_s: float | None) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(deadline_s)
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


class StreamChannel:
    """A connection whose answers have no common format. A function finds the answer in the bytes
    that have arrived.

    decode: returns the answer that the bytes are, or MORE if its last bytes are missing. May raise
        CallFailed
    deadline_s: how long to wait for the first bytes of an answer, and then for all others; None for
        no limit
    """

    __slots__ = ("_deadline_s", "_decode", "sock")

    def __init__(
        self, address: str, decode: Callable[[bytes], Any], deadline_s: float | None = None
    ) -> None:
        self.sock = connect(address, deadline_s)
        self._decode = decode
        self._deadline_s = deadline_s

    def ask(self, message: bytes) -> Any:
        """Send one request, and return its answer as decode() returned it. Raises CallFailed."""
        try:
            self.sock.sendall(message)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service has closed the connection, but its last answer can still be read
        except TimeoutError as error:
            raise CallFailed(
                TIMEOUT, f"no answer, and the request was not read in {self._deadline_s:g} s"
            ) from error
        data = self._read()
        answer = self._decode(data)
        return self._rest(data) if answer is MORE else answer

    def _rest(self, data: bytes) -> Any:
        """Read the rest of an answer that begins with *data*, and return the answer. Raises
        CallFailed.
        """
        # without a limit, until_s is not used
        until_s = monotonic() + (self._deadline_s or 0.0)
        answer: Any = MORE
        while answer is MORE:
            if len(data) > MAX_BODY_BYTES:
                raise CallFailed("garbled", f"{shown_bytes(data)}, which does not end")
            if self._deadline_s:
                left_s = until_s - monotonic()
                if left_s <= 0:
                    raise _incomplete(TIMEOUT, data)
                self.sock.settimeout(left_s)
            data += self._read(data)
            answer = self._decode(data)
        if self._deadline_s:
            self.sock.settimeout(self._deadline_s)
        return answer

    def _read(self, begun: bytes = b"") -> bytes:
        """Return the next bytes of an answer that begins with *begun*. Raises CallFailed."""
        try:
            # at least what has come so far, so that a long answer is copied few times
            data = self.sock.recv(max(READ_BYTES, len(begun)))
        except OSError as error:
            raise _incomplete(
                TIMEOUT if isinstance(error, TimeoutError) else "reset", begun
            ) from error
        if not data:
            raise _incomplete("closed", begun)
        return data

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()


def _incomplete(code: str, begun: bytes) -> CallFailed:
    return CallFailed(code, f"{shown_bytes(begun)}, which is incomplete ({code})" if begun else "")


def frame_body(data: bytes) -> Any:
    """Return the body of the frame *data* (core.wire), or MORE if its last bytes are missing.
    Raises CallFailed.
    """
    if len(data) < HEADER.size:
        return MORE
    (size,) = HEADER.unpack_from(data)
    if not 0 <= size <= MAX_ANSWER_BYTES:
        raise CallFailed("garbled", f"{shown_bytes(data)}, which is not a frame")
    return _whole(data, HEADER.size, size)


def http_body(parse_head: Callable[[bytes], Head], data: bytes) -> Any:
    """Return the body of the HTTP response *data*, or MORE if its last bytes are missing. Raises
    CallFailed.

    The response must have a Content-Length.
    """
    end, start = split_head(data)
    if not end and len(data) <= MAX_HEAD_BYTES:
        return MORE
    length = None
    with suppress(BadHead):
        length = parse_head(data[:end]).length
    if length is None or length > MAX_ANSWER_BYTES:
        raise CallFailed("garbled", f"{shown_bytes(data)}, which is not HTTP with a Content-Length")
    return _whole(data, start, length)


def _whole(data: bytes, start: int, size: int) -> Any:
    """Return the body of an answer: the *size* bytes after *start*. Return MORE if not all of them
    have arrived.

    Raises CallFailed if there are more bytes.
    """
    missing = start + size - len(data)
    if missing < 0:
        raise CallFailed("extra", f"{shown_bytes(data)}, which goes on after its end")
    return MORE if missing else data[start:]


class FramedChannel(StreamChannel):
    """A channel that sends and receives frames in the format of core.wire."""

    __slots__ = ()

    def __init__(self, address: str) -> None:
        super().__init__(address, frame_body)


class HttpChannel(StreamChannel):
    """A channel for HTTP/1.1 with keep-alive. Answers must have a Content-Length."""

    __slots__ = ()

    def __init__(self, address: str) -> None:
        super().__init__(address, partial(http_body, head_parser()))


def framed_message(cell: Cell, begun: bool = False) -> bytes:
    """Return the calculation request that the clients of *cell* send, as a frame (core.wire).

    begun: whether the answer must say when its handler began
    """
    return frame(json.dumps(calc_request(cell.calc_target, cell.payload_bytes, begun)).encode())


def http_message(cell: Cell, begun: bool = False) -> bytes:
    """Return the calculation request that the clients of *cell* send, as HTTP/1.1 POST with its
    params as the body.
    """
    request = calc_request(cell.calc_target, cell.payload_bytes, begun)
    body = json.dumps(request["params"]).encode()
    head = (
        f"{request['method']} {request['url']} HTTP/1.1\r\n"
        "Host: localhost\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
