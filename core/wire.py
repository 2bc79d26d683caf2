"""Encode and decode frames: a 4-byte big-endian signed length, then that many bytes of UTF-8 JSON.
Declare the limits on data from services and children.

The framing is that of multiprocessing.connection, but nothing is unpickled. Source:
docs/child-contract.md.

services/ feed what each recv() returned to a Frames, and answer the bodies. clients/channel.py has
a decoder of its own, because a client waits for exactly one answer. This is in the path of measured
requests. native/service and native/loadgen have the same format.

Each limit is far above what a working peer needs. A broken or hostile peer exceeds it and causes an
error, not a crash. clients/ and native/loadgen apply the limits on answers, lab/ the limits on
children. docs/child-contract.md lists the limits. A test checks these, and the copy in
native/loadgen/src/limits.rs.
"""

import struct

HEADER = struct.Struct("!i")
KIB, MIB = 1 << 10, 1 << 20
MAX_FRAME_BYTES = 16 * MIB  # for requests

# ---- answers of services -------------------------------------------------------------------------
MAX_HEAD_BYTES = 64 * KIB
MAX_HEADERS = 96  # lines of a head after the status line
MAX_INTERIM = 16  # responses with status 1xx before the final response
MAX_CHUNK_LINE_BYTES = 16 * KIB  # for a line with a chunk's size, and for all trailers together
MAX_FRAMING_BYTES = (
    8 * MIB
)  # of an answer besides its body's content: chunk sizes, trailers, frames of HTTP/2
MAX_ANSWER_BYTES = 1 * MIB  # for an answer to /calc, which is kept until it is checked
MAX_BODY_BYTES = 32 * MIB  # for an answer of a user's service
# names of requests in a plan, above which the requests are not counted by name
MAX_ROUTES = 256
STATUSES = range(100, 600)  # the statuses of HTTP that a client accepts
# after this status a connection speaks another protocol, such as WebSocket: the client closes it
SWITCHING = 101

# ---- lines and output of children ----------------------------------------------------------------
MAX_LINE_BYTES = (
    16 * MIB
)  # output of a child that the orchestrator has not consumed yet, with the current line
OUTPUT_HEAD_BYTES = 64 * KIB  # how much is kept of the beginning of a child's stderr
OUTPUT_TAIL_BYTES = 1 * MIB  # how much is kept of the end of a child's stderr


def frame(body: bytes) -> bytes:
    """Return *body* with its length in front."""
    return HEADER.pack(len(body)) + body


class Frames:
    """A decoder that splits a byte stream into frame bodies.

    refused_bytes: an announced length that was negative or over the limit; after that, the rest is
        ignored
    """

    __slots__ = ("_held", "refused_bytes")

    def __init__(self) -> None:
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
            and HEADER.unpack_from(data)[0] == len(data) - 4 <= MAX_FRAME_BYTES
        ):
            return [data[4:]]
        self._held += data
        return self._cut()

    def _cut(self) -> list[bytes]:
        held, bodies, start = self._held, [], 0
        while len(held) - start >= 4:
            (size,) = HEADER.unpack_from(held, start)
            if not 0 <= size <= MAX_FRAME_BYTES:
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
