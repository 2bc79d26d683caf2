"""Frames: known answers as hex, any cut of the stream, and the standard library's own framing as a witness."""

import socket
from collections.abc import Iterable
from multiprocessing.connection import Connection

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.wire import HEADER, MAX_FRAME_BYTES, Frames, frame

SMALL_LIMIT = 64
BODIES = st.lists(st.binary(max_size=SMALL_LIMIT), max_size=6)
CUTS = st.sets(st.integers(min_value=0, max_value=6 * (SMALL_LIMIT + 4)))
REFUSED_SIZES = st.integers(-(2**31), -1) | st.integers(SMALL_LIMIT + 1, 2**31 - 1)


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
        (b'{"code": 200}', "0000000d 7b22636f6465223a203230307d"),
        ("€".encode(), "00000003 e282ac"),
        (b"x" * 256, "00000100" + "78" * 256),
    ],
)
def test_a_frame_is_a_big_endian_length_and_the_body(body: bytes, on_the_wire: str) -> None:
    assert frame(body) == bytes.fromhex(on_the_wire)
    assert Frames().feed(bytes.fromhex(on_the_wire)) == [body]


@given(BODIES, CUTS)
def test_any_bodies_cut_into_any_pieces_come_back_in_order(bodies: list[bytes], places: set[int]) -> None:
    frames = Frames(SMALL_LIMIT)
    assert fed(frames, cut(b"".join(map(frame, bodies)), places)) == bodies
    assert not frames.partial
    assert frames.refused_bytes is None


def test_a_frame_byte_by_byte_is_complete_with_its_last_byte_and_not_before() -> None:
    frames, stream = Frames(), frame(b"abc")
    for byte in stream[:-1]:
        assert frames.feed(bytes([byte])) == []
        assert frames.partial
    assert frames.feed(stream[-1:]) == [b"abc"]
    assert not frames.partial


def test_the_start_of_a_second_frame_is_kept_for_later() -> None:
    frames = Frames()
    assert frames.feed(frame(b"one") + frame(b"two")[:3]) == [b"one"]
    assert frames.partial
    assert frames.feed(frame(b"two")[3:]) == [b"two"]


@pytest.mark.parametrize("size", [-1, -(2**31), SMALL_LIMIT + 1, 2**31 - 1])
def test_a_length_that_is_negative_or_over_the_limit_is_refused(size: int) -> None:
    frames = Frames(SMALL_LIMIT)
    assert frames.feed(HEADER.pack(size) + b"x" * 8) == []
    assert frames.refused_bytes == size
    assert not frames.partial


def test_a_frame_over_the_limit_that_arrives_at_once_is_refused_too() -> None:
    frames = Frames(SMALL_LIMIT)
    assert frames.feed(frame(b"x" * (SMALL_LIMIT + 1))) == []
    assert frames.refused_bytes == SMALL_LIMIT + 1


def test_an_oversize_length_is_refused_before_its_body_arrives() -> None:
    frames = Frames()
    assert frames.feed(HEADER.pack(MAX_FRAME_BYTES + 1)) == []
    assert frames.refused_bytes == MAX_FRAME_BYTES + 1


def test_a_body_of_exactly_the_limit_is_taken() -> None:
    body = b"x" * MAX_FRAME_BYTES
    frames = Frames()
    assert fed(frames, cut(frame(body), [3, 5, 2**20])) == [body]
    assert Frames().feed(frame(body)) == [body]


@given(BODIES, REFUSED_SIZES, BODIES, CUTS)
@example(before=[b"one"], size=-1, after=[b"two"], places={4 + 3 + 4})
def test_nothing_after_a_refusal_is_parsed(
    before: list[bytes], size: int, after: list[bytes], places: set[int]
) -> None:
    frames = Frames(SMALL_LIMIT)
    stream = b"".join(map(frame, before)) + HEADER.pack(size) + b"".join(map(frame, after))
    assert fed(frames, cut(stream, places)) == before
    assert frames.refused_bytes == size


def test_a_whole_frame_that_arrives_after_a_refusal_is_not_parsed() -> None:
    frames = Frames()
    frames.feed(HEADER.pack(-1))
    assert frames.feed(frame(b"{}")) == []
    assert not frames.partial


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 60_000])
def test_what_multiprocessing_connection_sends_is_read(size: int) -> None:
    body = b"x" * size
    ours, theirs = socket.socketpair()
    with ours, Connection(theirs.detach()) as connection:
        ours.settimeout(10)
        connection.send_bytes(body)
        frames = Frames()
        bodies: list[bytes] = []
        while not bodies:
            bodies = frames.feed(ours.recv(65_536))
    assert bodies == [body]


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 60_000])
def test_multiprocessing_connection_reads_what_is_framed(size: int) -> None:
    body = b"y" * size
    ours, theirs = socket.socketpair()
    with ours, Connection(theirs.detach()) as connection:
        ours.sendall(frame(body))
        assert connection.recv_bytes() == body
