"""Servers that no client should have to meet: each accepts, reads a little, and then does one thing without end."""

import random
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import yaml

from tests.campaign.sizes import SEED, size
from tests.native.loadgen_peers import Scripted, scripted

PIECE, NOISE = b"x" * 65536, random.Random(13).randbytes(65536)
TABLES = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text())
DRIP_S = 0.2
Mode = TypeVar("Mode")
Hostility = Callable[[socket.socket, threading.Event], None]


def sends(start: bytes, *endless: bytes) -> Hostility:
    """*start*, and then *endless* again and again until the peer closes."""

    def play(peer: socket.socket, stopped: threading.Event) -> None:
        peer.sendall(start)
        while endless and not stopped.is_set():
            for piece in endless:
                peer.sendall(piece * max(1, 65536 // len(piece)))
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


def table(name: str) -> dict[str, Hostility]:
    """What servers do, by its title."""
    does: dict[str, Callable[..., Hostility]] = {"sends": sends, "drips": drips, "closes": closes}
    made: dict[str, Hostility] = {}
    for title, (verb, *texts) in TABLES[name].items():
        parts = [text.encode("latin-1").replace(b"{piece}", PIECE).replace(b"{noise}", NOISE) for text in texts]
        made[title] = does[verb](*parts)
    return made


HTTP, FRAMED = table("http"), table("framed")


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
