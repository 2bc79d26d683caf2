"""How many requests a service has answered whose threads belong to another project's server."""

import threading


class _ThreadCount:
    """What one thread has counted; only that thread writes it."""

    __slots__ = ("requests",)

    def __init__(self) -> None:
        self.requests = 0


class Counts:
    """Each thread counts for itself. The counts of threads that have ended are kept."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._all: list[_ThreadCount] = []

    def __repr__(self) -> str:
        return f"Counts({self.requests} requests, {len(self._all)} threads)"

    def add(self) -> None:
        """Count an answer that the calling thread is about to send: the peer may end us as soon as it has it."""
        try:
            self._here.count.requests += 1
        except AttributeError:
            self._here.count = _ThreadCount()
            self._all.append(self._here.count)
            self._here.count.requests = 1

    @property
    def requests(self) -> int:
        """Answered since reset()."""
        return sum(counted.requests for counted in self._all.copy())

    def reset(self) -> None:
        """Count from zero; no request is under way."""
        for counted in self._all.copy():
            counted.requests = 0
