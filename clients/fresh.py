"""Open a new connection for each request of a client, and close the connection after the answer."""

from collections.abc import Callable
from time import perf_counter_ns

from core.system import Channel


class FreshCaller:
    """A caller that gives a client a new connection for each request. It passes each connect time to connect_ns."""

    def __init__(self, connect: Callable[[str], Channel], address: str, connect_ns: Callable[[int], None]) -> None:
        self._connect = connect
        self._address = address
        self._connect_ns = connect_ns

    def open(self) -> None:
        """Do nothing, because no connection is kept."""

    def take(self) -> Channel:
        """Return a new connection. Raises CallFailed."""
        start = perf_counter_ns()
        channel = self._connect(self._address)
        self._connect_ns(perf_counter_ns() - start)
        return channel

    def give(self, channel: Channel) -> None:
        """Close the connection."""
        channel.close()

    drop = give

    def close(self) -> None:
        """Do nothing, because no connection is open."""
