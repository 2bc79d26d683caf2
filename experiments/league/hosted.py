"""A service whose server is another project's: a thread of its own in the service process, and its parts.

Counts says how many requests were answered on threads that are not ours. body_bytes() and refusal() are of a frame's
length, for services that read header and body apart (core.wire.Frames reads both).
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.system import Listening
from core.wire import HEADER, MAX_FRAME_BYTES, frame
from core.work import error_answer
from services.listeners import Reach

HEADER_BYTES = HEADER.size


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


class BoundAddress:
    """Where a server listens that opens its socket itself; address is what a client is told."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __repr__(self) -> str:
        return f"BoundAddress({self.address})"

    def remove_file(self) -> None:
        """Remove the socket file, if there is one."""
        if self.address.startswith("/"):
            Path(self.address).unlink(missing_ok=True)


def unix_path(cell: Cell, service_id: int, folder: str) -> str:
    """The path for a server that opens its socket itself; "" where the cell wants TCP."""
    return "" if cell.transport == "tcp" else os.path.join(folder, f"{service_id}.0")


def tcp_address(port: int) -> str:
    """What a client is told of a port."""
    return f"{Reach.address}:{port}"


class HostedService:
    """listener is open already, so that what connects waits in its backlog; run() serves it and does not return."""

    def __init__(self, listener: Listening, run: Callable[[], object], counts: Counts) -> None:
        self.listeners = [listener]
        self._run = run
        self._counts = counts

    def __repr__(self) -> str:
        return f"HostedService({self.listeners[0]}, {self._counts})"

    def start(self) -> None:
        """Serve, on a thread."""
        threading.Thread(target=self._run, name="server", daemon=True).start()

    def counters(self) -> dict[str, Any]:
        """Requests answered."""
        return {"requests": self._counts.requests}

    def reset(self) -> None:
        """Count from zero."""
        self._counts.reset()


def body_bytes(header: bytes) -> int:
    """Length of the body that follows *header*, in bytes; as announced, so it may be refused."""
    size: int = HEADER.unpack(header)[0]
    return size


def refused(size: int) -> bool:
    """Return whether a body of *size* bytes is not read."""
    return not 0 <= size <= MAX_FRAME_BYTES


def refusal(size: int) -> bytes:
    """The frame that says so; the connection is closed after it."""
    return frame(error_answer(413, f"a frame of {size} bytes is not accepted"))
