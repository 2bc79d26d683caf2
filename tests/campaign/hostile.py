"""Servers that no client should have to meet: each accepts, reads a little, and then does one thing without end."""

import random
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from tests.campaign.sizes import SEED, size
from tests.native.loadgen_peers import Script, Scripted, scripted
from tests.tables import table

PIECE, NOISE = b"x" * 65536, random.Random(13).randbytes(65536)
TABLES = table(__file__, "hostile.yaml")
DRIP_S = 0.2
Mode = TypeVar("Mode")


def sends(start: bytes, *endless: bytes) -> Script:
    """*start*, and then *endless* again and again until the peer closes."""

    def play(server: Scripted, peer: socket.socket, request: bytes) -> bool:
        peer.sendall(start)
        while endless and not server.stopped.is_set():
            for piece in endless:
                peer.sendall(piece * max(1, 65536 // len(piece)))
        server.stall(20)
        return False

    return play


def closes(answer: bytes) -> Script:
    """*answer*, and then the end."""

    def play(server: Scripted, peer: socket.socket, request: bytes) -> bool:
        peer.sendall(answer)
        peer.shutdown(socket.SHUT_WR)
        server.stall(20)
        return False

    return play


def drips(start: bytes, drop: bytes) -> Script:
    """*start*, and then *drop* every DRIP_S: each of them in time, all of them never."""

    def play(server: Scripted, peer: socket.socket, request: bytes) -> bool:
        peer.sendall(start)
        while not server.stopped.wait(DRIP_S):
            peer.sendall(drop)
        return False

    return play


def scripts(name: str) -> dict[str, Script]:
    """What servers do, by its title."""
    does: dict[str, Callable[..., Script]] = {"sends": sends, "drips": drips, "closes": closes}
    made: dict[str, Script] = {}
    for title, (verb, *texts) in TABLES[name].items():
        parts = [text.encode("latin-1").replace(b"{piece}", PIECE).replace(b"{noise}", NOISE) for text in texts]
        made[title] = does[verb](*parts)
    return made


HTTP, FRAMED = scripts("http"), scripts("framed")


def hostile(script: Script) -> AbstractContextManager[Scripted]:
    """A server that does that to each connection, as soon as it is asked something."""
    return scripted(script, lambda peer: peer.recv(65536))


def sample(modes: Sequence[Mode], most: int) -> list[Mode]:
    """All *modes* in a campaign, or else *most* of them."""
    return random.Random(SEED).sample(modes, size(min(most, len(modes)), len(modes)))
