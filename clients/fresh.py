"""A connection for each request: opened before it, closed after it."""

from collections.abc import Callable
from time import perf_counter_ns

from core.system import Channel


class FreshCaller:
    """connect_ns receives the time of each connect."""

    def __init__(self, connect: Callable[[str], Channel], address: str, connect_ns: Callable[[int], None]) -> None:
        self._connect = connect
        self._address = address
        self._connect_ns = connect_ns

    def open(self) -> None:
        """Nothing is kept open."""

    def take(self) -> Channel:
        """A new connection. Raises CallFailed."""
        start = perf_counter_ns()
        channel = self._connect(self._address)
        self._connect_ns(perf_counter_ns() - start)
        return channel

    def give(self, channel: Channel) -> None:
        """Close it."""
        channel.close()

    drop = give

    def close(self) -> None:
        """Nothing is open."""
