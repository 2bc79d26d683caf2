"""HTTP/1.1 for a service of the user's: any status, any length, chunked or not, kept open or closed."""

import re
import select
import socket

from clients.channel import READ_BYTES, CallFailed
from core.request_plan import Request
from core.secret import revealed

_HEAD_END = b"\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})[^\r\n]*(?=\r\n)")
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,12})[ \t]*(?=\r\n)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r\n]*chunked", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[^\r\n]*close", re.IGNORECASE)
_KEEP = re.compile(rb"\r\nconnection:[^\r\n]*keep-alive", re.IGNORECASE)
_BODILESS = (204, 304)
_INTERIM = (100, 102, 103)  # more is to come: RFC 9110, 15.2
_SWITCHING = 101


def connect(address: str, deadline_s: float) -> socket.socket:
    """A connected socket: a Unix path starts with '/', anything else is host:port. Raises CallFailed('connect')."""
    try:
        if address.startswith("/"):
            return _connect_unix(address, deadline_s)
        host, _, port = address.rpartition(":")
        sock = socket.create_connection((host.strip("[]"), int(port)), deadline_s)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    except OSError as error:
        raise CallFailed("connect") from error


def is_readable(sock: socket.socket) -> bool:
    """Whether there is data to read, or the end."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _connect_unix(path: str, deadline_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(deadline_s)
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


def message(request: Request, address: str, prefix: str = "") -> bytes:
    """The request's bytes. prefix: the path of the target, before its own. Raises OSError for a body file."""
    body = request.body_bytes()
    names = {name.lower() for name in request.headers}
    headers = {} if "host" in names else {"Host": "localhost" if address.startswith("/") else address}
    if (body or request.method in ("POST", "PUT", "PATCH")) and not names & {"content-length", "transfer-encoding"}:
        headers |= {"Content-Length": str(len(body))}
    if body and "content-type" not in names:
        headers |= {"Content-Type": "application/json"}
    named = {name: revealed(value) for name, value in request.headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **named}.items())
    return f"{request.method} {prefix + revealed(request.path) or '/'} HTTP/1.1\r\n{lines}\r\n".encode() + body


class HttpConnection:
    """One connection. Errors are CallFailed: connect, closed, reset, extra, garbled or timeout.

    usable: whether another request may follow, which a service that closes the connection announces
    """

    __slots__ = ("_sock", "usable")

    def __init__(self, address: str, deadline_s: float) -> None:
        self._sock = connect(address, deadline_s)
        self.usable = True

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request; the status of its response and the body."""
        self._send(sent)
        version, code, head, rest = self._head(b"")
        while code in _INTERIM:
            version, code, head, rest = self._head(rest)
        self.usable = not _CLOSE.search(head) and (version == b"1" or bool(_KEEP.search(head)))
        if method == "HEAD" or code in _BODILESS:
            return code, _whole(rest, 0)
        if code == _SWITCHING:
            self.usable = False  # what comes now is no HTTP
            return code, b""
        return code, self._body(head, rest)

    def is_stale(self) -> bool:
        """Whether the service has closed it, or sent something unasked, while no request was under way."""
        return is_readable(self._sock)

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()

    def _head(self, data: bytes) -> tuple[bytes, int, bytes, bytes]:
        """Minor version, status, the head and the data after it. data: what has been read already."""
        while (end := data.find(_HEAD_END)) < 0:
            data += self._read()
        status = _STATUS.match(data)
        if status is None:
            raise CallFailed("garbled")
        return status[1], int(status[2]), data[: end + 2], data[end + 4 :]

    def _body(self, head: bytes, rest: bytes) -> bytes:
        length = _LENGTH.search(head)
        if length is not None and not _CHUNKED.search(head):
            size = int(length[1])
            if len(rest) == size:
                return rest
            return _whole(self._read_to(rest, size), size)
        if _CHUNKED.search(head):
            return self._chunks(rest)
        self.usable = False
        return self._read_to_end(rest)

    def _chunks(self, data: bytes) -> bytes:
        """The body of a chunked response; trailers are read and dropped. Source: RFC 9112, 7.1."""
        body = b""
        while True:
            line, data = self._line(data)
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise CallFailed("garbled") from None
            if size == 0:
                break
            data = self._read_to(data, size + 2)
            body, data = body + data[:size], data[size + 2 :]
        while line:
            line, data = self._line(data)
        _whole(data, 0)
        return body

    def _line(self, data: bytes) -> tuple[bytes, bytes]:
        while b"\r\n" not in data:
            data += self._read()
        line, _, rest = data.partition(b"\r\n")
        return line, rest

    def _read_to(self, data: bytes, size: int) -> bytes:
        """*data* and what comes after it, until there are *size* bytes at least."""
        parts, have = [data], len(data)
        while have < size:
            parts.append(self._read())
            have += len(parts[-1])
        return b"".join(parts)

    def _read_to_end(self, data: bytes) -> bytes:
        parts = [data]
        while more := self._receive():
            parts.append(more)
        return b"".join(parts)

    def _send(self, sent: bytes) -> None:
        try:
            self._sock.sendall(sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service has closed; what it said before is still to be read
        except TimeoutError as error:
            raise CallFailed("timeout") from error

    def _read(self) -> bytes:
        data = self._receive()
        if not data:
            raise CallFailed("closed")
        return data

    def _receive(self) -> bytes:
        try:
            return self._sock.recv(READ_BYTES)
        except TimeoutError as error:
            raise CallFailed("timeout") from error
        except OSError as error:
            raise CallFailed("reset") from error


def _whole(data: bytes, size: int) -> bytes:
    if len(data) > size:
        raise CallFailed("extra")
    return data
