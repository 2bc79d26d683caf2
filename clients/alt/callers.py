"""Callers of the alternatives: a kept connection for each client and service, whatever it speaks."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import FramedChannel, HttpChannel, framed_message
from core.cell import Cell
from core.system import CallerFactory, Channel
from core.wire import HEADER


def framed_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> CachedCaller:
    """The caller of systems 2 and 4 with one socket."""
    return CachedCaller(FramedChannel, addresses[0], connect_ns)


def http_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> CachedCaller:
    """The caller of system 3."""
    return CachedCaller(HttpChannel, addresses[0], connect_ns)


def caller_of(channel: Callable[[str], Channel]) -> CallerFactory:
    """A caller that keeps one *channel*, which is another project's client."""

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> CachedCaller:
        return CachedCaller(channel, addresses[0], connect_ns)

    return caller


def json_message(cell: Cell, begun: bool = False) -> bytes:
    """The cell's request as JSON, without a frame around it."""
    return framed_message(cell, begun)[HEADER.size :]
