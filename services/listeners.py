"""Create listening sockets. Their address is a Unix path in the run's private folder, or host:port.

TCP sockets listen on the loopback interface. If clients run on other hosts, the sockets listen at
the host's address in the plan and accept connections only from these hosts.

All services in Python make their sockets here, before they start. systems/__main__.py sets Reach
first, from the child's first line. Services whose event loop does not call accept() of a socket
must ask Reach.admits() themselves (experiments/echo/python_servers.py).
"""

import os
import socket
from pathlib import Path
from typing import Any

from core.cell import Cell

# connections that may wait to be accepted
BACKLOG = 4096
LOOPBACK = "127.0.0.1"


class Reach:
    """The address at which this process's TCP sockets listen, and the hosts whose connections they
    accept.

    The attributes are set once, before the service is made.
    peers: addresses of the served hosts; if empty, all
    strangers: number of connections from other hosts, which were closed
    """

    address = LOOPBACK
    peers: frozenset[str] = frozenset()
    strangers = 0

    @classmethod
    def admits(cls, address: Any) -> bool:
        """Return whether to serve a connection from *address*. If not, add the connection to the
        count `strangers`.

        address: as accept() returns it
        """
        if not cls.peers or address[0] in cls.peers:
            return True
        cls.strangers += 1
        return False


class PeerSocket(socket.socket):
    """A listening socket whose accept() returns only connections from the hosts in Reach.peers."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection from an allowed host, and close connections from other hosts.
        Raises OSError.
        """
        while True:
            sock, address = super().accept()
            if Reach.admits(address):
                return sock, address
            sock.close()


class Listener:
    """A listening socket and its address, as clients use it: a Unix path, or host:port.

    is_tcp: stored because sock.family creates an enum member at each access
    """

    __slots__ = ("address", "is_tcp", "sock")

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.address = address
        self.sock = sock
        self.is_tcp = sock.family != socket.AF_UNIX

    def remove_file(self) -> None:
        """Remove the file of a Unix socket. The socket itself stays open until the process ends."""
        if self.address.startswith("/"):
            Path(self.address).unlink(missing_ok=True)


def listen(cell: Cell, service_id: int, folder: str) -> list[Listener]:
    """Create the listening sockets of one service, for TCP or Unix sockets: one, or as many as the
    cell says if its system reads NUM_MULTI_SOCKET. Raises OSError.
    """
    numbers = range(cell.num_multi_socket if "NUM_MULTI_SOCKET" in cell.reads else 1)
    if cell.transport == "tcp":
        return [listen_tcp() for _ in numbers]
    return [_listen_unix(os.path.join(folder, f"{service_id}.{number}")) for number in numbers]


def listen_tcp() -> Listener:
    """Create a TCP listener on a free port of the address Reach.address. Raises OSError."""
    sock = socket.create_server((Reach.address, 0), backlog=BACKLOG)
    if Reach.peers:
        sock = PeerSocket(fileno=sock.detach())
    return Listener(sock, f"{Reach.address}:{sock.getsockname()[1]}")


def _listen_unix(path: str) -> Listener:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(BACKLOG)
    return Listener(sock, path)
