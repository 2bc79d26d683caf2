"""Listening sockets and their addresses: a Unix path in the run's private folder, or host:port.

That is on loopback, but where clients are on other hosts: then at the host's address in the plan, for those alone.
"""

import os
import socket
from collections.abc import Iterable
from pathlib import Path

from core.cell import Cell

BACKLOG = 4096
LOOPBACK = "127.0.0.1"


class Reach:
    """Where the TCP sockets of this process listen, and the addresses that they serve; without any, all that get there.

    It is set once, before the service is made.
    """

    address = LOOPBACK
    peers: frozenset[str] = frozenset()


class Listener:
    """One listening socket; address is what a client is told. Accepting never blocks longer than the caller waits.

    strangers: connections from elsewhere than Reach.peers, which were closed
    """

    __slots__ = ("accepted", "address", "peers", "requests", "sock", "strangers")

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.sock = sock
        self.address = address
        self.peers = Reach.peers
        self.accepted = 0
        self.requests = 0
        self.strangers = 0

    def __repr__(self) -> str:
        return f"Listener({self.address})"

    def admits(self, sock: socket.socket) -> bool:
        """Whether a connection that was accepted comes from a peer; else it is counted and closed."""
        if not self.peers:
            return True
        try:
            if sock.getpeername()[0] in self.peers:
                return True
        except OSError:
            pass  # it has gone
        self.strangers += 1
        sock.close()
        return False

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
    """A listener on a free port of Reach.address. Raises OSError."""
    sock = socket.create_server((Reach.address, 0), backlog=BACKLOG)
    return Listener(sock, f"{Reach.address}:{sock.getsockname()[1]}")


def strangers(listeners: Iterable[Listener]) -> dict[str, int]:
    """How many connections came from elsewhere, where that is watched."""
    return {"strangers": sum(listener.strangers for listener in listeners)} if Reach.peers else {}


def _listen_unix(path: str) -> Listener:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(BACKLOG)
    return Listener(sock, path)
