"""Common parts of services that run another project's server on a thread of the service process.

Counts counts requests on the server's threads. body_bytes() and refusal() are for services that read a frame's header
and body separately, where core.wire.Frames cannot be used.
"""

import threading
from collections.abc import Callable
from typing import Any

from core.wire import HEADER, MAX_FRAME_BYTES, frame
from core.work import error_answer
from services.cached import WorkerCount
from services.listeners import Listener

HEADER_BYTES = HEADER.size


class Counts:
    """The number of answered requests, with a counter for each thread. Counters of ended threads are kept."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._all: list[WorkerCount] = []

    def add(self) -> None:
        """Count an answer before the calling thread sends it, because the process may be stopped after the answer."""
        try:
            self._here.count.requests += 1
        except AttributeError:
            self._here.count = WorkerCount()
            self._all.append(self._here.count)
            self._here.count.requests = 1

    @property
    def requests(self) -> int:
        """Return the number of requests answered since reset()."""
        return sum(counted.requests for counted in self._all.copy())

    def reset(self) -> None:
        """Set the request counters to zero. Call this method only while no request is in progress."""
        for counted in self._all.copy():
            counted.requests = 0


class HostedService:
    """A service that runs a server on a thread.

    listener: open already, so that early connections wait in its backlog
    run: serves the listener and does not return
    """

    def __init__(self, listener: Listener, run: Callable[[], object], counts: Counts) -> None:
        self.listeners = [listener]
        self._run = run
        self._counts = counts

    def start(self) -> None:
        """Start the server on a thread."""
        threading.Thread(target=self._run, name="server", daemon=True).start()

    def counters(self) -> dict[str, Any]:
        """Return the number of answered requests."""
        return {"requests": self._counts.requests}

    def reset(self) -> None:
        """Set the request counters to zero."""
        self._counts.reset()


def body_bytes(header: bytes) -> int:
    """Return the length in bytes that *header* announces for the body. The length is not checked."""
    size: int = HEADER.unpack(header)[0]
    return size


def refused(size: int) -> bool:
    """Return whether the service refuses a body of *size* bytes, because *size* is negative or too large."""
    return not 0 <= size <= MAX_FRAME_BYTES


def refusal(size: int) -> bytes:
    """Return the frame that refuses a body of *size* bytes. The service closes the connection after this frame."""
    return frame(error_answer(413, f"a frame of {size} bytes is not accepted"))
