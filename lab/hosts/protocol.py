"""The protocol between runner and agent. A message, called a frame, is a JSON object followed by bytes.

The runner sends calls: {"call": 3, "what": "write", "with": {"child": 1}}, with the bytes to write. The agent answers
each call with {"reply": 3, "answer": ...} or {"reply": 3, "error": ...}. The agent also reports its children's output,
{"child": 1, "stream": "out"} with the bytes, or without bytes at the end; and their exit, {"child": 1, "status": 0}.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

SIZES = struct.Struct(">II")
MOST_BYTES = 256 << 20  # text that is no frame gives greater sizes when its first bytes are read as numbers
HELLO = b"gilscope "  # prefix of our lines before the first frame; other lines are output of the login shell
LEASE_S = 6.0  # a side that sends nothing for this time is considered gone
BEAT_S = 1.5
SESSION = "SSH_CONNECTION"  # the environment variable of an SSH session: ssh(1)
KEPT_ALIVE_S = 2.0  # the interval of ssh's keep-alive messages
KEPT_ALIVE_COUNT = 3  # ssh closes the connection after this many keep-alive messages without an answer


class BadFrame(ValueError):
    """The error that the peer sent bytes that are not a valid message of the protocol."""


def frame(header: Mapping[str, Any], data: bytes = b"") -> bytes:
    """Encode one protocol message: the sizes of header and data, *header* as JSON, and *data*."""
    words = json.dumps(header).encode()
    return SIZES.pack(len(words), len(data)) + words + data


class FrameReader:
    """A parser that splits a stream of bytes into frames (protocol messages).

    unread: the first bytes of the stream, which were already read
    """

    def __init__(self, unread: bytes = b"") -> None:
        self._unread = bytearray(unread)

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Add received bytes, and yield the frames that are now complete. Raises BadFrame."""
        self._unread += data
        while len(self._unread) >= SIZES.size:
            words, size = SIZES.unpack_from(self._unread)
            if max(words, size) > MOST_BYTES:
                raise BadFrame(repr(bytes(self._unread[:60])))
            start, end = SIZES.size + words, SIZES.size + words + size
            if len(self._unread) < end:
                return
            header, payload = json.loads(self._unread[SIZES.size : start]), bytes(self._unread[start:end])
            del self._unread[:end]
            yield header, payload
