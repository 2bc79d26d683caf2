"""Heads of responses: what they say of the body, and what says two things at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.channel import BadHead, Head
from core.limits import MAX_HEAD_BYTES


def head(*lines: str, status: str = "200 OK") -> bytes:
    """A head without its empty line."""
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *lines)).encode()


@pytest.mark.parametrize(
    "bad",
    [
        head("Content-Length: 5", "Content-Length: 6"),
        head("Content-Length: 5, 5"),
        head("Content-Length: +5"),
        head("Content-Length: -1"),
        head("Content-Length:"),
        head("Content-Length: five"),
        head("Content-Length: " + "9" * 5000),
        head("Content-Length: 1" + "0" * 12),
        head("Content-Length: 5", "Transfer-Encoding: chunked"),
        head("Transfer-Encoding: chunked", "Content-Length: 5"),
        head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        head("Transfer-Encoding: gzip"),
        head(status="099 Low"),
        head(status="600 High"),
        head(status="20 Short"),
        b"SSH-2.0-OpenSSH\r\n",
        head("A: " + "b" * MAX_HEAD_BYTES),
    ],
)
def test_what_says_two_things_at_once_or_has_no_status_is_refused(bad: bytes) -> None:
    with pytest.raises(BadHead):
        Head(bad)


@given(st.binary(max_size=200) | st.lists(st.sampled_from([b"HTTP/1.1 200 O", b"\r\n", b"Content-Length: ", b"5"])))
def test_any_bytes_are_a_head_or_refused(given: bytes | list[bytes]) -> None:
    data = given if isinstance(given, bytes) else b"".join(given)
    try:
        told = Head(data)
    except BadHead:
        return
    assert 100 <= told.status <= 599
    assert told.length is None or told.length >= 0
