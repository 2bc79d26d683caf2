"""What runner and agent say to each other: frames of a length, a kind and a number, over one stream each way."""

import struct
from collections.abc import Iterator
from enum import IntEnum

HEAD = struct.Struct(">IBI")
CLOCK = struct.Struct(">q")
MOST_BYTES = 1 << 20
MOST_REPLY_BYTES = 256 << 20
RELAY_BYTES = 64 << 10
LEASE_S = 6.0  # without a word for so long, the other side is gone
BEAT_S = 1.5
KEPT_ALIVE_S = 2.0  # so often a connection on which nothing is said has an empty segment, by the kernel or SSH
KEPT_ALIVE_COUNT = 3  # so many without an answer are the end of it


class Kind(IntEnum):
    """What a frame is about. number: of the child, or of the call.

    START (JSON: command, variables), IN, CLOSE, KILL, WINDOW (JSON), CALL (JSON) and BEAT go to the agent;
    OUT, ERR, EXIT (JSON: status, or error), REPLY (JSON, its first parts as PART) and BEAT (its clock, ns) come back.
    An empty OUT is the end.
    """

    START = 1
    IN = 2
    CLOSE = 3
    KILL = 4
    WINDOW = 5
    CALL = 6
    BEAT = 7
    OUT = 8
    ERR = 9
    EXIT = 10
    REPLY = 11
    PART = 12


class BadFrame(ValueError):
    """The other side does not speak frames."""


def frame(kind: Kind, number: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return HEAD.pack(len(payload), kind, number) + payload


class Frames:
    """Cuts a stream into frames."""

    def __init__(self) -> None:
        self._unread = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Kind, int, bytes]]:
        """The frames that are whole now. Raises BadFrame."""
        self._unread += data
        while len(self._unread) >= HEAD.size:
            size, kind, number = HEAD.unpack_from(self._unread)
            if size > MOST_BYTES or not Kind.START <= kind <= Kind.PART:
                raise BadFrame(repr(bytes(self._unread[:60])))
            if len(self._unread) < HEAD.size + size:
                return
            payload = bytes(self._unread[HEAD.size : HEAD.size + size])
            del self._unread[: HEAD.size + size]
            yield Kind(kind), number, payload
