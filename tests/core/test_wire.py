"""Frames: known answers as hex, and any cut of the stream. tests/contract has the standard library as a witness."""

from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.wire import HEADER, MAX_FRAME_BYTES, Frames, frame

LONGEST_BODY = 64
BODIES = st.lists(st.binary(max_size=LONGEST_BODY), max_size=6)
CUTS = st.sets(st.integers(min_value=0, max_value=6 * (LONGEST_BODY + 4)))
REFUSED_SIZES = st.integers(-(2**31), -1) | st.integers(MAX_FRAME_BYTES + 1, 2**31 - 1)


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    """*stream* in pieces, each ending at one of *places*."""
    inside = sorted(place for place in places if 0 < place < len(stream))
    return [stream[start:end] for start, end in zip([0, *inside], [*inside, len(stream)], strict=True)]


def fed(frames: Frames, pieces: Iterable[bytes]) -> list[bytes]:
    return [body for piece in pieces for body in frames.feed(piece)]


@pytest.mark.parametrize(
    ("body", "on_the_wire"),
    [
        (b"", "00000000"),
        (b"{}", "00000002 7b7d"),
        ("€".encode(), "00000003 e282ac"),
        (b"x" * 256, "00000100" + "78" * 256),
    ],
)
def test_a_frame_is_a_big_endian_length_and_the_body(body: bytes, on_the_wire: str) -> None:
    assert frame(body) == bytes.fromhex(on_the_wire)
    assert Frames().feed(bytes.fromhex(on_the_wire)) == [body]


@given(BODIES, CUTS)
@example(bodies=[frame(b"a frame in a frame")], places={4})
def test_any_bodies_cut_into_any_pieces_come_back_in_order(bodies: list[bytes], places: set[int]) -> None:
    frames = Frames()
    assert fed(frames, cut(b"".join(map(frame, bodies)), places)) == bodies
    assert not frames.partial
    assert frames.refused_bytes is None


def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    body = b"x" * MAX_FRAME_BYTES
    assert fed(Frames(), cut(frame(body), [3, 5, 2**20])) == Frames().feed(frame(body)) == [body]
    frames = Frames()
    assert frames.feed(HEADER.pack(MAX_FRAME_BYTES + 1)) == []
    assert frames.refused_bytes == MAX_FRAME_BYTES + 1


@given(BODIES, REFUSED_SIZES, BODIES, CUTS)
@example(before=[b"one"], size=-1, after=[b"two"], places={4 + 3 + 4})
def test_nothing_after_a_refusal_is_parsed(
    before: list[bytes], size: int, after: list[bytes], places: set[int]
) -> None:
    frames = Frames()
    stream = b"".join(map(frame, before)) + HEADER.pack(size) + b"".join(map(frame, after))
    assert fed(frames, cut(stream, places)) == before
    assert frames.refused_bytes == size
    assert frames.feed(frame(b"{}")) == []
    assert not frames.partial
