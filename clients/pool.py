"""Keep a client's connections to all sockets of a service, and pick a random connection for each request."""

from collections.abc import Callable
from random import Random
from time import perf_counter_ns

from core.system import Channel


class PoolCaller:
    """A caller that keeps a client's connections to all sockets of one service, and lends a random one per request.

    addresses: one for each listening socket of the service
    seed: makes the random choice repeatable
    """

    def __init__(
        self,
        connect: Callable[[str], Channel],
        addresses: list[str],
        connect_ns: Callable[[int], None],
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
        """Open a connection to every socket of the service. Raises CallFailed if one cannot be opened."""
        self._channels = [self._connect(address) for address in self._addresses]

    def take(self) -> Channel:
        """Return a connection, chosen at random with equal probability. Raises CallFailed if it cannot be reopened."""
        self._picked = picked = int(self._random() * self._count)
        return self._channels[picked] or self._reconnect()

    def give(self, channel: Channel) -> None:
        """Keep the connection open for later requests."""

    def drop(self, channel: Channel) -> None:
        """Close the connection. It is opened again when take() next chooses the same socket."""
        channel.close()
        self._channels[self._picked] = None

    def close(self) -> None:
        """Close all connections."""
        for channel in filter(None, self._channels):
            channel.close()

    def _reconnect(self) -> Channel:
        start = perf_counter_ns()
        channel = self._channels[self._picked] = self._connect(self._addresses[self._picked])
        self._connect_ns(perf_counter_ns() - start)
        return channel
