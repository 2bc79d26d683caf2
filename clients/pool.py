"""A kept connection to each of a service's sockets; every request picks one at random."""

from collections.abc import Callable
from random import Random
from time import perf_counter_ns

from core.system import Channel


class PoolCaller:
    """addresses: one per listening socket of the service; seed makes the picks repeatable."""

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
        """Connect to every socket. Raises CallFailed."""
        self._channels = [self._connect(address) for address in self._addresses]

    def take(self) -> Channel:
        """One of the connections, each as likely as the others. Raises CallFailed."""
        self._picked = picked = int(self._random() * self._count)
        return self._channels[picked] or self._reconnect()

    def give(self, channel: Channel) -> None:
        """Keep it."""

    def drop(self, channel: Channel) -> None:
        """Close it; it is opened again when it is picked next."""
        channel.close()
        self._channels[self._picked] = None

    def close(self) -> None:
        """Close all."""
        for channel in filter(None, self._channels):
            channel.close()

    def _reconnect(self) -> Channel:
        start = perf_counter_ns()
        channel = self._channels[self._picked] = self._connect(self._addresses[self._picked])
        self._connect_ns(perf_counter_ns() - start)
        return channel
