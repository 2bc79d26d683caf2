"""What a service says: answers, and scripted bytes in place of a socket."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar

import pytest

from tests.tables import table

TABLES: dict[str, Any] = table(__file__, "answers.yaml")
RIGHT = b'{"code": 200, "msg": "1000", "err": "", "calc_ns": 24123}'
WRONG = b'{"code": 200, "msg": "999", "err": "", "calc_ns": 24123}'
FULL = b'{"code": 503, "msg": "", "err": "the cache is full", "calc_ns": 0}'


Made = TypeVar("Made")


class ScriptedSocket:
    """recv() gives one piece at a time, then end of file; an error among the pieces is raised in its place."""

    def __init__(self, pieces: Iterable[bytes | OSError], send_error: OSError | None = None) -> None:
        self._pieces = list(pieces)
        self._send_error = send_error
        self.sent: list[bytes] = []
        self.closed = False

    def sendall(self, message: bytes) -> None:
        if self._send_error is not None:
            raise self._send_error
        self.sent.append(message)

    def send(self, message: bytes) -> int:
        self.sendall(bytes(message))
        return len(message)

    def settimeout(self, deadline_s: float) -> None:
        """Its pieces come at once."""

    def recv(self, limit: int) -> bytes:
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, OSError):
            raise piece
        if len(piece) > limit:
            self._pieces.insert(0, piece[limit:])
        return piece[:limit]

    def close(self) -> None:
        self.closed = True


def opened(module: ModuleType, make: Callable[[str], Made], scripted: ScriptedSocket) -> Made:
    """What *make* makes of an address if *module* connects to it by that socket."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "connect", lambda address, deadline_s: scripted)
        return make("/scripted")
