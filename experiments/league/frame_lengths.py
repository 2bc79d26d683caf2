"""Functions for services that read a frame's header and body separately, where core.wire.Frames
cannot be used.

The services of this folder with streams use them. Format and limit are those of core/wire.py.
"""

from core.wire import HEADER, MAX_FRAME_BYTES, frame
from core.work import error_answer

HEADER_BYTES = HEADER.size


def body_bytes(header: bytes) -> int:
    """Return the length in bytes that *header* announces for the body. The length is
    not checked.
    """
    size: int = HEADER.unpack(header)[0]
    return size


def refused(size: int) -> bool:
    """Return whether the service refuses a body of *size* bytes, because *size* is negative or too
    large.
    """
    return not 0 <= size <= MAX_FRAME_BYTES


def refusal(size: int) -> bytes:
    """Return the frame that refuses a body of *size* bytes. The service closes the connection after
    this frame.
    """
    return frame(error_answer(413, f"a frame of {size} bytes is not accepted"))
