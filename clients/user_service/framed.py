"""Send frames (core.wire) to a user's service. The status of an answer is the `code` in its JSON."""

import json

from clients.channel import CallFailed, connect
from clients.user_service.http import Deadline, is_readable
from core.request_plan import Request
from core.secret import revealed
from core.wire import Frames, frame


def message(request: Request, address: str, prefix: str = "") -> bytes:
    """Return the request as a frame. Raises OSError, or BadInput if the request's body is not a JSON object."""
    asked = {"method": request.method, "url": prefix + revealed(request.path), "params": request.params()}
    return frame(json.dumps(asked).encode())


class FramedConnection:
    """A connection for frames. CallFailed says what failed: connect, closed, reset, extra, garbled or timeout."""

    __slots__ = ("_deadline", "_frames", "_sock", "usable")
    head = b""

    def __init__(self, address: str, deadline_s: float) -> None:
        self._sock = connect(address, deadline_s)
        self._deadline = Deadline(self._sock, deadline_s)
        self._frames = Frames()
        self.usable = True

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request frame. Return the answer's status (its `code`) and the whole answer. Raises CallFailed."""
        self._deadline.begin()
        try:
            self._deadline.send(sent)
        except OSError as error:
            raise CallFailed("reset") from error
        bodies: list[bytes] = []
        while not bodies and self._frames.refused_bytes is None:
            data = self._deadline.receive()
            if not data:
                raise CallFailed("closed")
            bodies = self._frames.feed(data)
        if len(bodies) > 1 or self._frames.partial:
            raise CallFailed("extra")
        try:
            return int(json.loads(bodies[0])["code"]), bodies[0]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise CallFailed("garbled") from error

    def is_stale(self) -> bool:
        """Return whether the service has closed the connection, or sent data, between requests."""
        return is_readable(self._sock)

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()
