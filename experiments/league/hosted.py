"""A service whose server is another project's: it has a thread of its own in the service process."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.cell import Cell
from core.system import Listening
from experiments.league.counts import Counts
from services.listeners import Reach


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
