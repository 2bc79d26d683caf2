"""Listening sockets and their addresses: a Unix path in the run's private folder, or host:port.

That is on loopback, but where clients are on other hosts: then at the host's address in the plan, for those alone.
"""

import os
import socket
from pathlib import Path
from typing import Any

from core.cell import Cell

BACKLOG = 4096
LOOPBACK = "127.0.0.1"


class Reach:
    """Where the TCP sockets of this process listen, and the addresses that they serve; without any, all that get there.

    These are set once, before the service is made. strangers: connections from elsewhere, which were closed
    """

    address = LOOPBACK
    peers: frozenset[str] = frozenset()
    strangers = 0

    @classmethod
    def admits(cls, address: Any) -> bool:
        """Return whether a connection from *address* may be served; count it as a stranger if not.

        address: as accept() returns it
        """
        if not cls.peers or address[0] in cls.peers:
            return True
        cls.strangers += 1
        return False


class PeerSocket(socket.socket):
    """A listening socket that accepts from peers alone, whatever server calls accept()."""

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection of a peer; others are closed. Raises OSError."""
        while True:
            sock, address = super().accept()
            if Reach.admits(address):
                return sock, address
            sock.close()


def for_peers(sock: socket.socket) -> socket.socket:
    """A listening socket, which accepts from Reach.peers alone where there are any. Its file descriptor stays."""
    if not Reach.peers:
        return sock
    timeout_s = sock.gettimeout()
    guarded = PeerSocket(fileno=sock.detach())
    guarded.settimeout(timeout_s)
    return guarded


class Listener:
    """One listening socket; address is what a client is told. Accepting never blocks longer than the caller waits.

    is_tcp: asked once: sock.family makes a member of an enum each time
    """

    __slots__ = ("address", "is_tcp", "sock")

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.sock = sock
        self.address = address
        self.is_tcp = sock.family != socket.AF_UNIX

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
    """A listener on a free port of Reach.address. Raises OSError."""
    sock = for_peers(socket.create_server((Reach.address, 0), backlog=BACKLOG))
    return Listener(sock, f"{Reach.address}:{sock.getsockname()[1]}")


def _listen_unix(path: str) -> Listener:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(BACKLOG)
    return Listener(sock, path)
