"""Ports that are held while a service that is told its port starts, and for as long as it runs. Linux.

A port that is chosen by binding to port 0, closed and handed on is free for anybody until the service binds: of 50
services that start together, one in seven lost it. Here a port

- comes from below net.ipv4.ip_local_port_range, where the kernel gives none to who asks for any;
- is leased: the holder of the abstract Unix socket of that name has it, in this network namespace, whatever the user.
  The lease ends with the process that holds it, however that ends, and leaves no file. The port itself stays unbound,
  so that any program can bind to it, with SO_REUSEADDR, with SO_REUSEPORT or with neither;
- is checked: it can be bound to without any option, at loopback and everywhere.

Only a program that insists on that very port can still come between: the service then fails, and is started afresh at
another one. docs/child-contract.md, Bounds.
"""

import errno
import random
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FIRST_PORT = 10_000
LAST_PORT = 65_535
FEW_PORTS = 2_000  # a range of fewer is no range to choose from
DEFAULT_RANGE = (32_768, 60_999)
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class PortLease:
    """A port that is this process's. The service may bind to it; no other lease has it."""

    def __init__(self, port: int, lock: socket.socket | None) -> None:
        self.port = port
        self._lock = lock

    def give_back(self) -> None:
        """Others may have it."""
        if self._lock is not None:
            self._lock.close()


def lease(host: str, asked: int = 0) -> PortLease:
    """*asked*, or any free port. Raises OSError if *asked* is taken, or if there is no free port."""
    for port in [asked] if asked else _candidates():
        held = _lock(port)
        if held is None:
            continue
        try:
            check_free(host, port)
        except OSError as error:
            held.give_back()
            if asked or error.errno != errno.EADDRINUSE:
                raise
            continue
        return held
    raise OSError(errno.EADDRINUSE, "Address already in use")


def check_free(host: str, port: int) -> None:
    """Raises OSError unless *port* can be bound to without any option: connections that linger count as well."""
    for address in (host, ""):
        with socket.socket() as probe:
            probe.bind((address, port))


def ports(ephemeral: tuple[int, int]) -> range:
    """Where to choose from: outside the ports that the kernel gives to who asks for any."""
    below, above = range(FIRST_PORT, ephemeral[0]), range(ephemeral[1] + 1, LAST_PORT + 1)
    return next((ports for ports in (below, above) if len(ports) >= FEW_PORTS), range(FIRST_PORT, LAST_PORT + 1))


def _candidates() -> Iterator[int]:
    chosen = ports(_ephemeral())
    yield from random.sample(chosen, len(chosen))


def _ephemeral() -> tuple[int, int]:
    with suppress(OSError, ValueError):
        low, high = map(int, _RANGE.read_text(encoding="ascii").split())
        return low, high
    return DEFAULT_RANGE


def _lock(port: int) -> PortLease | None:
    """A lease of *port*; None if another process has it. Off Linux there are no abstract sockets: it locks nothing."""
    if sys.platform != "linux":
        return PortLease(port, None)
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0gilscope-port-{port}")
    except OSError:
        lock.close()
        return None
    return PortLease(port, lock)
