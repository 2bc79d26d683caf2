"""A kept connection to each of a service's sockets; every request picks one at random."""

from collections.abc import Callable
from random import Random

from clients.cached import CachedCaller
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
        self._callers = [CachedCaller(connect, address, connect_ns) for address in addresses]
        self._count = len(addresses)
        self._random = Random(seed).random
        self._current = self._callers[0]

    def open(self) -> None:
        """Connect to every socket. Raises CallFailed."""
        for caller in self._callers:
            caller.open()

    def take(self) -> Channel:
        """One of the connections, each as likely as the others. Raises CallFailed."""
        self._current = self._callers[int(self._random() * self._count)]
        return self._current.take()

    def give(self, channel: Channel) -> None:
        """Keep it."""

    def drop(self, channel: Channel) -> None:
        """Close it; it is opened again when it is picked next."""
        self._current.drop(channel)

    def close(self) -> None:
        """Close all."""
        for caller in self._callers:
            caller.close()
