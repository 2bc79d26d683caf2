"""Callers of the alternatives: a kept connection for each client and service, whatever it speaks."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import FramedChannel, HttpChannel, framed_message
from core.cell import Cell
from core.system import CallerFactory, Channel
from core.wire import HEADER


def caller_of(channel: Callable[[str], Channel]) -> CallerFactory:
    """A caller that keeps one *channel*: ours, or another project's client, which is imported by who calls alone."""

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> CachedCaller:
        return CachedCaller(channel, addresses[0], connect_ns)

    return caller


def _grpc(address: str) -> Channel:
    from clients.alt.grpc import GrpcChannel

    return GrpcChannel(address)


def _pyro5(address: str) -> Channel:
    from clients.alt.pyro5 import PyroChannel

    return PyroChannel(address)


def _pyzmq(address: str) -> Channel:
    from clients.alt.pyzmq import ZmqChannel

    return ZmqChannel(address)


def _rpyc(address: str) -> Channel:
    from clients.alt.rpyc import RpycChannel

    return RpycChannel(address)


framed_caller = caller_of(FramedChannel)  # that of systems 2 and 4 with one socket
http_caller = caller_of(HttpChannel)  # that of system 3
grpc_caller, pyro5_caller, pyzmq_caller, rpyc_caller = map(caller_of, (_grpc, _pyro5, _pyzmq, _rpyc))


def json_message(cell: Cell, begun: bool = False) -> bytes:
    """The cell's request as JSON, without a frame around it."""
    return framed_message(cell, begun)[HEADER.size :]
