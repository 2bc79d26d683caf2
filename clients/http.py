"""Send HTTP/1.1 requests to a user's service. Responses may be chunked, or end with the connection.

RFC 9112 and RFC 9110 say what is an answer. Tls secures connections.

PlanWorker (user_service.py) has one connection at a time and calls ask(), which it times. lab/
calls ask() to see whether a service answers, and in stress tests. native/loadgen reads answers
alike.
"""

import select
import socket
from contextlib import suppress
from time import monotonic

from clients.channel import (
    BODILESS,
    HTTP,
    READ_BYTES,
    BadHead,
    CallFailed,
    Head,
    connect,
    head_parser,
    shown_bytes,
    split_head,
)
from core.child import TIMEOUT
from core.messages import Json
from core.wire import (
    MAX_BODY_BYTES,
    MAX_CHUNK_LINE_BYTES,
    MAX_FRAMING_BYTES,
    MAX_HEAD_BYTES,
    MAX_INTERIM,
    SWITCHING,
)

IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE")  # RFC 9110, 9.2.2
TLS_FAILED = "tls"  # code of an error (docs/child-contract.md)
HTTP1, H2 = "http/1.1", "h2"  # names of ALPN


class Tls:
    """The TLS settings of a client's connections.

    quiet: the error of reading if a TLS record without application data came
    """

    def __init__(self, settings: Json, protocol: str) -> None:
        """Make the TLS settings of a client.

        settings: `ca` and `insecure`, as in core.user_service.Command.tls
        protocol: what the service must agree to by ALPN if it is not HTTP/1.1
        Raises CallFailed if the file `ca` cannot be read.
        """
        import ssl  # imported here because it adds to the memory of clients without TLS

        self.quiet = ssl.SSLWantReadError
        try:
            self._context = ssl.create_default_context(cafile=settings["ca"] or None)
        except OSError as error:
            raise CallFailed(TLS_FAILED, f"{settings['ca']}: {error}") from None
        self._protocol = protocol
        self._context.set_alpn_protocols([protocol])
        if settings["insecure"]:
            self._context.check_hostname = False
            self._context.verify_mode = ssl.CERT_NONE

    def secured(self, sock: socket.socket, address: str) -> socket.socket:
        """Do the TLS handshake on *sock*. Return the TLS socket, which now owns it. On an error,
        close it and raise CallFailed with the reason.
        """
        host = "localhost" if address.startswith("/") else address.rpartition(":")[0].strip("[]")
        try:
            secured = self._context.wrap_socket(sock, server_hostname=host)
        except OSError as error:
            sock.close()
            code = TIMEOUT if isinstance(error, TimeoutError) else TLS_FAILED
            raise CallFailed(code, str(error)) from error
        if self._protocol not in (HTTP1, secured.selected_alpn_protocol()):
            secured.close()
            raise CallFailed(TLS_FAILED, f"the service did not choose {self._protocol} by ALPN")
        return secured


def is_readable(sock: socket.socket) -> bool:
    """Return whether the socket has data to read, or the other side has closed it."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


class HttpConnection:
    """A connection for HTTP/1.1. CallFailed says what failed: connect, closed, reset, extra,
    garbled or timeout.

    The deadline is for a whole answer, although a socket's timeout restarts with every byte. The
    first send and receive use only the socket's timeout, which costs nothing. Later ones read the
    clock.
    usable: whether the connection can be used for another request; False if the service has
        announced its close
    head: the head of the last answer
    """

    __slots__ = (
        "_deadline_s",
        "_parse_head",
        "_sock",
        "_tls",
        "_until",
        "_waits",
        "head",
        "usable",
    )

    def __init__(self, address: str, deadline_s: float, tls: Tls | None = None) -> None:
        sock = connect(address, deadline_s)
        self._sock = tls.secured(sock, address) if tls else sock
        self._tls = tls
        self._deadline_s = deadline_s
        self._until = 0.0
        self._waits = 0
        self._parse_head = head_parser()
        self.head = b""
        self.usable = True

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request, and return the status and the body of its response."""
        if self._waits > 1:
            self._sock.settimeout(self._deadline_s)
        self._waits = 0
        self._until = monotonic() + self._deadline_s
        with suppress(
            OSError
        ):  # the service has closed the connection, but its last answer can still be read
            self._send(sent)
        head, rest = self._head(self._read_first())
        interim = 0
        while head.status < 200 and head.status != SWITCHING:  # RFC 9110, 15.2
            interim += 1
            if interim > MAX_INTERIM:
                raise CallFailed("garbled")
            head, rest = self._head(rest)
        self.usable = head.keep
        if method == "HEAD" or head.status in BODILESS:
            return head.status, _whole(rest, 0)
        if head.status == SWITCHING:
            self.usable = False  # the data that follows is not HTTP
            return head.status, b""
        return head.status, self._body(head, rest)

    def is_stale(self) -> bool:
        """Return whether the service has closed the connection, or sent data, between requests."""
        readable = is_readable(self._sock)
        if self._tls is None or not readable:
            return readable
        self._sock.settimeout(0)
        try:
            self._sock.recv(1)
        except self._tls.quiet:  # session tickets come unasked
            return False
        except OSError:
            return True
        finally:
            self._sock.settimeout(self._deadline_s)
        return True

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()

    def _send(self, data: bytes) -> None:
        """Send *data*. Raises CallFailed("timeout"), and OSError if the service has closed the
        connection.
        """
        try:
            sent = self._sock.send(data)
            while sent < len(data):
                self._shorten()
                self._waits = 2
                sent += self._sock.send(memoryview(data)[sent:])
        except TimeoutError as error:
            raise CallFailed(TIMEOUT) from error

    def _receive(self) -> bytes:
        """Return the next received bytes, or b"" if the service has ended the stream. Raises
        CallFailed.
        """
        if self._waits:
            self._shorten()
        self._waits += 1
        try:
            return self._sock.recv(READ_BYTES)
        except TimeoutError as error:
            raise CallFailed(TIMEOUT) from error
        except OSError as error:
            raise CallFailed("reset") from error

    def _shorten(self) -> None:
        left_s = self._until - monotonic()
        if left_s <= 0:
            raise CallFailed(TIMEOUT)
        self._sock.settimeout(left_s)

    def _head(self, data: bytes) -> tuple[Head, bytes]:
        """Read the head of a response. Return the head, and the bytes of the body that were read
        together with it.

        data: bytes of the response that were already read
        """
        end, start = split_head(data)
        while not end:
            if len(data) > MAX_HEAD_BYTES or not HTTP.startswith(data[: len(HTTP)]):
                raise _unreadable(data)
            data += self._read()
            end, start = split_head(data)
        try:
            head = self._parse_head(data[:end])
        except BadHead:
            raise _unreadable(data) from None
        self.head = head.lines
        return head, data[start:]

    def _body(self, head: Head, rest: bytes) -> bytes:
        if head.is_chunked:
            return self._chunks(rest)
        if head.length is None:
            self.usable = False
            return self._read_to_end(rest)
        if head.length > MAX_BODY_BYTES:
            raise CallFailed("garbled")
        if len(rest) == head.length:
            return rest
        return _whole(self._read_to(rest, head.length), head.length)

    def _chunks(self, data: bytes) -> bytes:
        """Return the body of a chunked response. Trailers are discarded. Source: RFC 9112, 7.1."""
        body, framing_bytes = bytearray(), 0
        while True:
            line, data = self._line(data)
            size = _chunk_size(line)
            framing_bytes += len(line) + 4
            if len(body) + size > MAX_BODY_BYTES or framing_bytes > MAX_FRAMING_BYTES:
                raise CallFailed("garbled")
            if size == 0:
                break
            data = self._read_to(data, size + 2)
            if data[size : size + 2] != b"\r\n":
                raise CallFailed("garbled")
            body += data[:size]
            data = data[size + 2 :]
        trailers = 0
        while line:
            line, data = self._line(data)
            trailers += len(line) + 2
            if trailers > MAX_CHUNK_LINE_BYTES:
                raise CallFailed("garbled")
        _whole(data, 0)
        return bytes(body)

    def _line(self, data: bytes) -> tuple[bytes, bytes]:
        """Add bytes from the service to *data* until it contains a whole line. Return the line, and
        the other bytes.
        """
        while (end := data.find(b"\r\n")) < 0:
            if len(data) > MAX_CHUNK_LINE_BYTES:
                raise CallFailed("garbled")
            data += self._read()
        return data[:end], data[end + 2 :]

    def _read_to(self, data: bytes, size: int) -> bytes:
        """Read from the service until *data* has at least *size* bytes. Return *data* with the new
        bytes.
        """
        parts, have = [data], len(data)
        while have < size:
            parts.append(self._read())
            have += len(parts[-1])
        return b"".join(parts)

    def _read_to_end(self, data: bytes) -> bytes:
        parts, have = [data], len(data)
        while more := self._receive():
            parts.append(more)
            have += len(more)
            if have > MAX_BODY_BYTES:
                raise CallFailed("garbled")
        return b"".join(parts)

    def _read_first(self) -> bytes:
        """Return the first bytes of an answer. Raises CallFailed, which says whether the connection
        was a kept one.
        """
        try:
            return self._read()
        except CallFailed as failed:
            if failed.code == TIMEOUT:
                raise
            kept = "kept" if self.head else "new"
            reason = f"no answer, because the service {failed.code} a {kept} connection"
            raise CallFailed(failed.code, reason, was_kept=bool(self.head)) from failed

    def _read(self) -> bytes:
        data = self._receive()
        if not data:
            raise CallFailed("closed", "half an answer, because the service closed the connection")
        return data


def _unreadable(data: bytes) -> CallFailed:
    """Return the error for an answer whose head cannot be parsed.

    If the answer is not HTTP, the error shows its first bytes.
    """
    return CallFailed(
        "garbled", "" if data.startswith(HTTP) else f"{shown_bytes(data)}, which is not HTTP"
    )


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits.isalnum():  # int() would accept signs and underscores, too
        raise CallFailed("garbled")
    try:
        return int(digits, 16)
    except ValueError:
        raise CallFailed("garbled") from None


def _whole(data: bytes, size: int) -> bytes:
    if len(data) > size:
        raise CallFailed("extra", "more bytes than one answer")
    return data
