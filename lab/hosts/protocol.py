"""The protocol between runner and agent. A message is a line: MARK, and a JSON object.

The runner sends calls: {"call": 3, "what": "write", "with": {"child": 1, "text": "go"}}. The agent answers each call
with {"reply": 3, "answer": ...} or {"reply": 3, "error": ...}. The agent also reports its children's output, {"child":
1, "stream": "out", "text": ...}, with an empty text at the end; and their exit, {"child": 1, "status": 0}.
"""

import json
from collections.abc import Iterator
from typing import Any

from lab.output import HeadTailBuffer

MARK = b"gilscope "  # lab/hosts/boot.py has it, too
BYTES = "surrogateescape"  # how bytes that are no UTF-8 become text
MOST_BYTES = 256 << 20  # of a line
LEASE_S = 6.0  # a side that sends nothing for this time is considered gone
BEAT_S = 1.5
SESSION = "SSH_CONNECTION"  # the environment variable of an SSH session: ssh(1)
KEPT_ALIVE_S = 2.0  # the interval of ssh's keep-alive messages
KEPT_ALIVE_COUNT = 3  # ssh closes the connection after this many keep-alive messages without an answer


def encoded(**fields: Any) -> bytes:
    """Return one message of the protocol."""
    return MARK + json.dumps(fields).encode() + b"\n"


def _decoded(line: bytes | bytearray) -> dict[str, Any]:
    """Decode a message. Raises ValueError, also for deep nesting."""
    try:
        decoded = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(decoded, dict):
        raise ValueError(repr(line[:60]))
    return decoded


class MessageReader:
    """A parser that splits a stream of bytes into messages.

    noise: the other lines of the stream, such as the output of a login shell
    """

    def __init__(self) -> None:
        self._unread = bytearray()
        self.noise = HeadTailBuffer()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Add received bytes, and yield the messages that are now complete. Raises ValueError for a bad message."""
        self._unread += data
        if len(self._unread) > MOST_BYTES:
            raise ValueError(repr(bytes(self._unread[:60])))
        if b"\n" not in data:
            return
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            if line.startswith(MARK):
                yield _decoded(line.removeprefix(MARK))
            else:
                self.noise.add(bytes(line) + b"\n")
