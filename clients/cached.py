"""Keep a client's connection to a service, which is opened before the timed region and reopened only after an error."""

from collections.abc import Callable
from time import perf_counter_ns

from core.system import Channel


class CachedCaller:
    """A caller that keeps a client's connection to one service. It passes the time of each reconnect to connect_ns."""

    def __init__(self, connect: Callable[[str], Channel], address: str, connect_ns: Callable[[int], None]) -> None:
        self._connect = connect
        self._address = address
        self._connect_ns = connect_ns
        self._channel: Channel | None = None

    def open(self) -> None:
        """Connect to the service. Raises CallFailed if this fails."""
        self._channel = self._connect(self._address)

    def take(self) -> Channel:
        """Return the kept connection, or a new connection after an error. Raises CallFailed."""
        if self._channel is None:
            start = perf_counter_ns()
            self.open()
            self._connect_ns(perf_counter_ns() - start)
        assert self._channel is not None
        return self._channel

    def give(self, channel: Channel) -> None:
        """Keep the connection open for the next request."""

    def drop(self, channel: Channel) -> None:
        """Close the connection. The next take() opens a new connection."""
        channel.close()
        self._channel = None

    def close(self) -> None:
        """Close the kept connection."""
        if self._channel is not None:
            self.drop(self._channel)
