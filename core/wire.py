"""Encode and decode frames: a 4-byte big-endian signed length, then that many bytes of UTF-8 JSON.

The framing is that of multiprocessing.connection, but nothing is unpickled. Source:
docs/child-contract.md.

services/ feed what each recv() returned to a Frames, and answer the bodies. clients/channel.py has
a decoder of its own, because a client waits for exactly one answer. This is in the path of measured
requests. native/service and native/loadgen have the same format.
"""

import struct

HEADER = struct.Struct("!i")
MAX_FRAME_BYTES = 16 * 2**20  # for requests; clients limit answers (core/limits.py)


def frame(body: bytes) -> bytes:
    """Return *body* with its length in front."""
    return HEADER.pack(len(body)) + body


class Frames:
    """A decoder that splits a byte stream into frame bodies.

    refused_bytes: an announced length that was negative or over the limit; after that, the rest is
        ignored
    """

    __slots__ = ("_held", "max_bytes", "refused_bytes")

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self.max_bytes = max_bytes
        self.refused_bytes: int | None = None
        self._held = bytearray()

    @property
    def partial(self) -> bool:
        """Return whether the stream ends within a frame."""
        return bool(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """Add *data* to the stream, and return the bodies of the frames that it completes, in
        order.
        """
        if self.refused_bytes is not None:
            return []
        if (
            # the usual case, one whole frame, needs no copy into the buffer
            not self._held
            and len(data) >= 4
            and HEADER.unpack_from(data)[0] == len(data) - 4 <= self.max_bytes
        ):
            return [data[4:]]
        self._held += data
        return self._cut()

    def _cut(self) -> list[bytes]:
        held, bodies, start = self._held, [], 0
        while len(held) - start >= 4:
            (size,) = HEADER.unpack_from(held, start)
            if not 0 <= size <= self.max_bytes:
                self.refused_bytes = size
                held.clear()
                break
            end = start + 4 + size
            if end > len(held):
                break
            bodies.append(bytes(held[start + 4 : end]))
            start = end
        del held[:start]
        return bodies
