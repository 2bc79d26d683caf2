"""What runner and agent say to each other: frames of a JSON object and bytes, over one stream each way.

A runner calls: {"call": 3, "what": "write", "with": {"child": 1}}, and the bytes that the call is about. An agent
answers each call, {"reply": 3, "answer": ...} or {"reply": 3, "error": ...}, and says what its children do:
{"child": 1, "stream": "out"}, with what was written, or with nothing at the end; {"child": 1, "status": 0}.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

SIZES = struct.Struct(">II")
MOST_BYTES = 256 << 20  # text that is no frame has greater numbers
HELLO = b"gilscope "  # begins the lines that come before frames; others are of the login
LEASE_S = 6.0  # without a word for so long, the other side is gone
BEAT_S = 1.5
SESSION = "SSH_CONNECTION"  # the environment variable of a session: ssh(1)
KEPT_ALIVE_S = 2.0  # so often ssh says a word where nobody else does
KEPT_ALIVE_COUNT = 3  # so many without an answer are the end of the connection


class BadFrame(ValueError):
    """The other side does not speak frames."""


def frame(told: Mapping[str, Any], data: bytes = b"") -> bytes:
    """Return one frame."""
    words = json.dumps(told).encode()
    return SIZES.pack(len(words), len(data)) + words + data


class FrameReader:
    """Cuts a stream into frames. unread: what has come of it already"""

    def __init__(self, unread: bytes = b"") -> None:
        self._unread = bytearray(unread)

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yield the frames that are whole now. Raises BadFrame."""
        self._unread += data
        while len(self._unread) >= SIZES.size:
            words, size = SIZES.unpack_from(self._unread)
            if max(words, size) > MOST_BYTES:
                raise BadFrame(repr(bytes(self._unread[:60])))
            start, end = SIZES.size + words, SIZES.size + words + size
            if len(self._unread) < end:
                return
            told, payload = json.loads(self._unread[SIZES.size : start]), bytes(self._unread[start:end])
            del self._unread[:end]
            yield told, payload
