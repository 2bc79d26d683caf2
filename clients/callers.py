"""Make callers: objects that open or choose a connection for each request of a client, and then
keep or close it.

The protocols Caller and Channel, and the signature CallerFactory of the functions at the end, are
in core/system.py. One thread at a time uses a caller, and returns a connection before it takes the
next. drive.py calls take() before it starts the clock, so a connect is not part of a latency, and
give() and drop() after it has stopped it.
"""

from collections.abc import Callable
from random import Random
from time import perf_counter_ns

from clients.channel import FramedChannel, HttpChannel
from core.cell import Cell
from core.system import Caller, CallerFactory, Channel

Connect = Callable[[str], Channel]
ConnectNs = Callable[[int], None]


class PoolCaller:
    """A policy that keeps a client's connections to all sockets of one service. Each request uses a
    random connection.

    addresses: one for each listening socket of the service
    seed: makes the random choice repeatable
    """

    def __init__(
        self,
        connect: Connect,
        addresses: list[str],
        connect_ns: ConnectNs,
        seed: str,
    ) -> None:
        self._connect = connect
        self._addresses = addresses
        self._connect_ns = connect_ns
        self._channels: list[Channel | None] = [None] * len(addresses)
        self._random = Random(seed).random
        self._count = len(addresses)
        self._picked = 0

    def open(self) -> None:
        """Open a connection to every socket of the service. Raises CallFailed if one cannot be
        opened.
        """
        self._channels = [self._connect(address) for address in self._addresses]

    def take(self) -> Channel:
        """Return a connection, chosen at random with equal probability. Raises CallFailed if it
        cannot be reopened.
        """
        self._picked = picked = int(self._random() * self._count)
        return self._channels[picked] or self._reconnect()

    def give(self, channel: Channel) -> None:
        """Keep the connection open for later requests."""

    def drop(self, channel: Channel) -> None:
        """Close the connection. The next request to the same socket of the service opens a new
        connection.
        """
        channel.close()
        self._channels[self._picked] = None

    def _reconnect(self) -> Channel:
        start = perf_counter_ns()
        channel = self._channels[self._picked] = self._connect(self._addresses[self._picked])
        self._connect_ns(perf_counter_ns() - start)
        return channel


class CachedCaller:
    """A policy that keeps a client's connection to one service. It passes the time of each
    reconnect to connect_ns.
    """

    def __init__(self, connect: Connect, address: str, connect_ns: ConnectNs) -> None:
        self._connect = connect
        self._address = address
        self._connect_ns = connect_ns
        self._channel: Channel | None = None

    def open(self) -> None:
        """Connect to the service. Raises CallFailed if this fails."""
        self._channel = self._connect(self._address)

    def take(self) -> Channel:
        """Return the open connection to the service, or a new one if there is none. Raises
        CallFailed.
        """
        return self._channel or self._reconnect()

    def give(self, channel: Channel) -> None:
        """Keep the connection open for the next request."""

    def drop(self, channel: Channel) -> None:
        """Close the connection. The next request opens a new connection."""
        channel.close()
        self._channel = None

    def _reconnect(self) -> Channel:
        start = perf_counter_ns()
        channel = self._channel = self._connect(self._address)
        self._connect_ns(perf_counter_ns() - start)
        return channel


class FreshCaller(CachedCaller):
    """A policy that opens a new connection for each request of a client. It passes each connect
    time to connect_ns.
    """

    def open(self) -> None:
        """Do nothing, because no connection is kept."""

    # after an answer, too, the connection is closed
    give = CachedCaller.drop


def cached_caller(channel: Connect, reuses: bool = True) -> CallerFactory:
    """Return a function that makes an object for each client, which connects to a service's first
    socket.

    The object keeps its connection, unless *reuses* is false. If a system reads REUSE_CLIENT and it
    is false, each request opens a new one, too.
    channel: opens a connection
    """

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
        kind = CachedCaller if reuses and cell.reuse_client else FreshCaller
        return kind(channel, addresses[0], connect_ns)

    return caller


# for HTTP, and for messages in the format of core.wire
http_caller, framed_caller = cached_caller(HttpChannel), cached_caller(FramedChannel)
fresh_caller = cached_caller(FramedChannel, reuses=False)


def pool_caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: ConnectNs) -> Caller:
    """Return the policy that keeps a connection to each socket of a service, for messages in the
    format of core.wire.

    If CLIENT_BINDING is `pinned`, the policy keeps one connection, to the same socket for all
    requests.
    """
    if cell.client_binding == "pinned":
        return CachedCaller(FramedChannel, addresses[client_id % len(addresses)], connect_ns)
    return PoolCaller(FramedChannel, addresses, connect_ns, seed=f"{cell.cell_id} {client_id}")
