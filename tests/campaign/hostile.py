"""Servers that no client should have to meet: each accepts, reads a little, and then does one thing without end."""

import random
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TypeVar

from tests.campaign.sizes import SEED, size
from tests.native.loadgen_peers import Scripted, scripted

PIECE = b"x" * 65536
DRIP_S = 0.2
Mode = TypeVar("Mode")
Hostility = Callable[[socket.socket, threading.Event], None]


def sends(start: bytes, *endless: bytes) -> Hostility:
    """*start*, and then *endless* again and again until the peer closes."""

    def play(peer: socket.socket, stopped: threading.Event) -> None:
        peer.sendall(start)
        pieces = cycle(piece * max(1, 65536 // len(piece)) for piece in endless)
        while endless and not stopped.is_set():
            peer.sendall(next(pieces))
        stopped.wait(20)

    return play


def closes(answer: bytes) -> Hostility:
    """*answer*, and then the end."""

    def play(peer: socket.socket, stopped: threading.Event) -> None:
        peer.sendall(answer)
        peer.shutdown(socket.SHUT_WR)
        stopped.wait(20)

    return play


def drips(start: bytes, drop: bytes) -> Hostility:
    """*start*, and then *drop* every DRIP_S: each of them in time, all of them never."""

    def play(peer: socket.socket, stopped: threading.Event) -> None:
        peer.sendall(start)
        while not stopped.wait(DRIP_S):
            peer.sendall(drop)

    return play


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The head of a response."""
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *lines, "")).encode()


INTERIM, EARLY = head(status="100 Continue"), head("Link: </a>", status="103 Early Hints")
CHUNKED = head("Transfer-Encoding: chunked")
HTTP: Mapping[str, Hostility] = {
    "a body without length or end": sends(head(), PIECE),
    "a body of a terabyte": sends(head("Content-Length: 1000000000000"), PIECE),
    "a body of 900 million bytes": sends(head("Content-Length: 900000000"), PIECE),
    "chunks without end": sends(CHUNKED, b"10000\r\n" + PIECE + b"\r\n"),
    "chunks of one byte without end": sends(CHUNKED, b"1\r\nx\r\n"),
    "a chunk of a terabyte": sends(CHUNKED + b"e8d4a51000\r\n", PIECE),
    "a chunk extension without end": sends(CHUNKED + b"1;", PIECE),
    "a chunk size without end": sends(CHUNKED, b"0" * 65536),
    "trailers without end": sends(CHUNKED + b"1\r\nx\r\n0\r\n", b"A: b\r\n"),
    "interim responses without end": sends(b"", INTERIM),
    "alternating interim responses": sends(b"", INTERIM + EARLY),
    "interim responses by and by": drips(b"", INTERIM),
    "a header without end": sends(b"HTTP/1.1 200 OK\r\nA: ", PIECE),
    "headers without end": sends(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
    "a head by and by": drips(b"HTTP/1.1 200 OK\r\nA: ", b"b"),
    "a body by and by": drips(head("Content-Length: 1000"), b"x"),
    "a chunked body by and by": drips(CHUNKED, b"1\r\nx\r\n"),
    "trailers by and by": drips(CHUNKED + b"0\r\n", b"A: b\r\n"),
    "a body by and by until the end": drips(head(), b"x"),
    "silence": sends(b""),
    "noise": sends(b"", random.Random(13).randbytes(65536)),
    "an end before the answer": closes(b""),
    "an end in the head": closes(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "an end in the body": closes(head("Content-Length: 50") + b"hello"),
}
FRAMED: Mapping[str, Hostility] = {
    "frames without end": sends(b"", b"\0\0\0\x02{}"),
    "a frame of two gigabytes": sends(b"\x7f\xff\xff\xff", PIECE),
    "a frame of 15 million bytes": sends(b"\x00\xe4\xe1\xc0", PIECE),
    "a negative frame": sends(b"\x80\0\0\0", PIECE),
    "a frame by and by": drips(b"\0\0\xff\xff", b"x"),
    "noise": HTTP["noise"],
    "silence": HTTP["silence"],
    "an end before the answer": closes(b""),
    "an end in the frame": closes(b"\0\0\0\x10{"),
    "brackets without end": sends(b"\x00\x0f\x00\x00", b"[" * 65536),
}


@contextmanager
def hostile(hostility: Hostility) -> Iterator[str]:
    """The address of a server that does that to each connection, as soon as it is asked something."""

    def play(server: Scripted, peer: socket.socket, request: bytes) -> bool:
        peer.settimeout(20)
        hostility(peer, server.stopped)
        return False

    with scripted(play, lambda peer: peer.recv(65536)) as server:
        yield server.address


def sample(modes: Sequence[Mode], most: int) -> list[Mode]:
    """All *modes* in a campaign, or else *most* of them."""
    return random.Random(SEED).sample(modes, size(min(most, len(modes)), len(modes)))
