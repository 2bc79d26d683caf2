"""Listening sockets and their addresses: a Unix path in the run's private folder, or host:port on loopback."""

import os
import socket
from pathlib import Path

from core.cell import Cell

BACKLOG = 4096
LOOPBACK = "127.0.0.1"


class Listener:
    """One listening socket; address is what a client is told. Accepting never blocks longer than the caller waits."""

    __slots__ = ("accepted", "address", "requests", "sock")

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.sock = sock
        self.address = address
        self.accepted = 0
        self.requests = 0

    def __repr__(self) -> str:
        return f"Listener({self.address})"

    def remove_file(self) -> None:
        """Remove the socket file if there is one. The socket stays open until the process ends: workers watch it."""
        if self.address.startswith("/"):
            Path(self.address).unlink(missing_ok=True)


def listen(cell: Cell, service_id: int, folder: str, sockets: int = 1) -> list[Listener]:
    """*sockets* listeners of one service, over the cell's TRANSPORT. Raises OSError."""
    if cell.transport == "tcp":
        return [listen_tcp() for _ in range(sockets)]
    return [_listen_unix(os.path.join(folder, f"{service_id}.{number}")) for number in range(sockets)]


def listen_tcp() -> Listener:
    """A listener on a free port of the loopback interface."""
    sock = socket.create_server((LOOPBACK, 0), backlog=BACKLOG)
    return Listener(sock, f"{LOOPBACK}:{sock.getsockname()[1]}")


def _listen_unix(path: str) -> Listener:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(BACKLOG)
    return Listener(sock, path)
