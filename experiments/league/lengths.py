"""The length in front of a frame, for services that read header and body apart (core.wire.Frames reads both)."""

from core.wire import HEADER, MAX_FRAME_BYTES, frame
from core.work import error_answer

HEADER_BYTES = HEADER.size


def body_bytes(header: bytes) -> int:
    """Length of the body that follows *header*, in bytes; as announced, so it may be refused."""
    size: int = HEADER.unpack(header)[0]
    return size


def refused(size: int) -> bool:
    """Whether a body of *size* bytes is not read."""
    return not 0 <= size <= MAX_FRAME_BYTES


def refusal(size: int) -> bytes:
    """The frame that says so; the connection is closed after it."""
    return frame(error_answer(413, f"a frame of {size} bytes is not accepted"))
