"""Channels against scripted bytes: however an answer arrives, it is the answer or a failure that names its cause."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients import channel
from clients.channel import (
    BadHead,
    CallFailed,
    FramedChannel,
    Head,
    HttpChannel,
    connect,
    framed_message,
    http_message,
)
from core.cell import PARAMETERS, Cell
from core.system import COMMON
from core.wire import MAX_FRAME_BYTES, MAX_HEAD_BYTES, frame
from tests.clients.scripted import FULL, RIGHT, TABLES, ScriptedSocket, opened
from tests.native.loadgen_peers import nobody_listens, response
from tests.tables import each_row

CHANNELS = [FramedChannel, HttpChannel]
Kind = type[FramedChannel] | type[HttpChannel]
WRAP: dict[Kind, Callable[[bytes], bytes]] = {FramedChannel: frame, HttpChannel: partial(response, 200)}
BODIES = st.binary(max_size=100) | st.sampled_from([RIGHT, FULL, b"", b"\r\n\r\n", b"x" * 200_000])


def asked(kind: Kind, *pieces: bytes | OSError, send_error: OSError | None = None) -> bytes:
    one: Any = opened(channel, kind, ScriptedSocket(pieces, send_error))
    return bytes(one.ask(b"a request"))


def failure(kind: Kind, *pieces: bytes | OSError, send_error: OSError | None = None) -> str:
    with pytest.raises(CallFailed) as caught:
        asked(kind, *pieces, send_error=send_error)
    return caught.value.code


@pytest.mark.parametrize("kind", CHANNELS)
@given(bodies=st.lists(BODIES, min_size=1, max_size=4), sizes=st.lists(st.integers(1, 60)))
def test_answers_in_any_pieces_are_their_bodies_in_order(kind: Kind, bodies: list[bytes], sizes: list[int]) -> None:
    pieces = []
    for body in bodies:
        left = WRAP[kind](body)
        for size in sizes:
            pieces.append(left[:size])
            left = left[size:]
        pieces.append(left)
    sock = ScriptedSocket([piece for piece in pieces if piece])
    one: Any = opened(channel, kind, sock)
    assert [one.ask(b"a request") for _ in bodies] == bodies
    assert sock.sent == [b"a request"] * len(bodies)
    one.close()
    assert sock.closed


@pytest.mark.parametrize("kind", CHANNELS)
def test_an_answer_that_a_service_breaks_off_anywhere_is_closed_or_reset(kind: Kind) -> None:
    assert failure(kind) == "closed"
    assert failure(kind, ConnectionResetError()) == "reset"
    whole = WRAP[kind](RIGHT)
    for size in range(1, len(whole)):
        assert failure(kind, whole[:size]) == "closed"
        assert failure(kind, whole[:size], ConnectionResetError()) == "reset"


@pytest.mark.parametrize("error", [BrokenPipeError(), ConnectionResetError()])
@pytest.mark.parametrize("kind", CHANNELS)
def test_what_a_service_said_before_it_closed_is_read(kind: Kind, error: OSError) -> None:
    assert asked(kind, WRAP[kind](FULL), send_error=error) == FULL
    assert failure(kind, send_error=error) == "closed"


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize("extra", [b"x", b"\x00\x00\x00", b"\xff\xff\xff\xff", RIGHT])
def test_bytes_after_an_answer_are_not_overlooked(kind: Kind, extra: bytes) -> None:
    whole = WRAP[kind](RIGHT)
    assert failure(kind, whole + extra) in ("extra", "garbled")
    assert failure(kind, whole[:10], whole[10:] + extra) in ("extra", "garbled")
    assert failure(kind, whole * 2) == failure(kind, whole * 3) == "extra"


@pytest.mark.parametrize("size", [-1, -(2**31), MAX_FRAME_BYTES + 1, 2**31 - 1])
def test_a_length_that_is_negative_or_over_the_limit_is_garbled(size: int) -> None:
    assert failure(FramedChannel, size.to_bytes(4, signed=True) + b"x") == "garbled"


@pytest.mark.parametrize("head", TABLES["no_length"])
def test_http_without_a_usable_content_length_is_garbled(head: str) -> None:
    assert failure(HttpChannel, f"HTTP/1.1 200 OK\r\n{head}\r\n12345".encode()) == "garbled"


@each_row
def test_a_connect_that_fails_says_so_and_leaves_no_socket_open(short_folder: Path, where: str) -> None:
    with nobody_listens() as nobody:
        before = os.listdir("/dev/fd")
        with pytest.raises(CallFailed) as caught:
            connect({"unix": f"{short_folder}/nobody", "long": f"/{'x' * 200}", "tcp": nobody}[where])
        assert os.listdir("/dev/fd") == before
    assert caught.value.code == "connect"


def test_an_http_message_is_a_post_with_the_params_as_its_body() -> None:
    cell = Cell.build(system="1", runtime="3.14t", reads=COMMON, values={"CALC_TARGET": 5})
    assert http_message(cell) == (
        b"POST /calc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
        b'{"target": 5}'
    )


def test_the_largest_payload_with_the_largest_target_fits_in_a_frame() -> None:
    largest = {name: PARAMETERS[name].high for name in ("PAYLOAD_BYTES", "CALC_TARGET")}
    cell = Cell.build(system="1", runtime="3.14t", reads=COMMON, values=largest)
    assert len(framed_message(cell)) - 4 <= MAX_FRAME_BYTES


# ---- heads of responses: what they say of the body, and what says two things at once ---------------------------------


LONG = (f"Content-Length: {'9' * 5000}", f"A: {'b' * MAX_HEAD_BYTES}")


@pytest.mark.parametrize("bad", [*TABLES["bad_heads"], *(f"HTTP/1.1 200 OK\r\n{line}\r\n" for line in LONG)])
def test_what_says_two_things_at_once_or_has_no_status_is_refused(bad: str) -> None:
    with pytest.raises(BadHead):
        Head(bad.encode())


@given(st.binary(max_size=200) | st.lists(st.sampled_from([b"HTTP/1.1 200 O", b"\r\n", b"Content-Length: ", b"5"])))
def test_any_bytes_are_a_head_or_refused(given: bytes | list[bytes]) -> None:
    data = given if isinstance(given, bytes) else b"".join(given)
    try:
        told = Head(data)
    except BadHead:
        return
    assert 100 <= told.status <= 599
    assert told.length is None or told.length >= 0
