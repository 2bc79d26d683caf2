"""Make callers. A caller gives a client a connection for each request, and then keeps or closes the connection."""

from collections.abc import Callable

from clients.cached import CachedCaller
from clients.channel import FramedChannel, HttpChannel
from clients.fresh import FreshCaller
from clients.pool import PoolCaller
from core.cell import Cell
from core.system import Caller, CallerFactory, Channel

ConnectNs = Callable[[int], None]


def cached_caller(channel: Callable[[str], Channel]) -> CallerFactory:
    """Return a factory of callers, which keep one connection from a client to the service's first socket.

    channel: opens the connection
    """

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
        return CachedCaller(channel, addresses[0], connect_ns)

    return caller


http_caller = cached_caller(HttpChannel)


def fresh_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
    """Return a caller that opens a connection for each request. Requests and answers are frames (core.wire)."""
    return FreshCaller(FramedChannel, addresses[0], connect_ns)


def framed_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
    """Return a caller for frames (core.wire). The caller keeps its connection if REUSE_CLIENT is true (the default)."""
    kind = CachedCaller if cell.reuse_client else FreshCaller
    return kind(FramedChannel, addresses[0], connect_ns)


def pool_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
    """Return a caller for frames (core.wire) that keeps a connection to each of the service's sockets.

    If CLIENT_BINDING is `pinned`, the caller has one connection, to the same socket for all requests.
    """
    if cell.client_binding == "pinned":
        return CachedCaller(FramedChannel, addresses[client_id % len(addresses)], connect_ns)
    return PoolCaller(FramedChannel, addresses, connect_ns, seed=f"{cell.cell_id} {client_id}")
