"""Lease TCP ports to services that get their port from gilscope, from before they start until they
end. Linux only.

The common way is to bind to port 0, close the socket, and pass the number on. Until the service
binds, any program can take such a port: of 50 services that started together, one in seven lost its
port. Instead, a port

- comes from outside net.ipv4.ip_local_port_range, so the kernel gives it to no program that asks
  for any free port;
- is leased: the process that holds the abstract Unix socket of that name has the port, for all
  users of this network namespace. The lease ends with the process, and leaves no file. The port
  itself stays unbound, so the service can bind to it with SO_REUSEADDR, with SO_REUSEPORT or with
  neither;
- is checked: a socket without options can be bound to it, at loopback and at all addresses.

Only a program that asks for this very port can still take it. Then the service's cell fails.

command.py beside this file leases the port of a user's service, and lab/run/running_sidecars.py
that of a program beside it. They keep the PortLease for as long as its program runs.
"""

import errno
import os
import random
import socket
from pathlib import Path
from typing import NamedTuple

FIRST_PORT = 10_000  # the lowest port that is chosen here; a user may ask for a lower one
LAST_PORT = 65_535  # the highest port there is
FEW_PORTS = 2_000  # the smallest range from which ports are chosen
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")  # the ephemeral ports: first and last


class PortLease(NamedTuple):
    """A TCP port that this process has leased for a service. No other lease has the same port.

    lock: the socket whose name is the lease; the lease ends if it is closed or collected as garbage
    """

    port: int
    lock: socket.socket


def lease(host: str, asked: int = 0) -> PortLease:
    """Lease the port *asked*, or any free port if *asked* is 0. Raises OSError if no such port is
    free.

    host: the IPv4 address or name at which the service will listen
    """
    for port in [asked] if asked else _candidates():
        held = PortLease(port, socket.socket(socket.AF_UNIX))
        try:
            # raises EADDRINUSE, too, if another process has the lease
            held.lock.bind(f"\0gilscope-port-{port}")
            _expect_free(host, port)
        except OSError as error:
            held.lock.close()
            if asked or error.errno != errno.EADDRINUSE:
                raise
        else:
            return held
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _expect_free(host: str, port: int) -> None:
    """Raise OSError if *port* cannot be bound by a socket without options. Lingering connections
    prevent this, too.
    """
    # "" stands for all addresses
    for address in (host, ""):
        with socket.socket() as probe:
            probe.bind((address, port))


def ports(ephemeral: tuple[int, int]) -> range:
    """Return the ports that services may get: if possible, none of the *ephemeral* ports, which the
    kernel assigns. Both ends of *ephemeral* are included.
    """
    below, above = range(FIRST_PORT, ephemeral[0]), range(ephemeral[1] + 1, LAST_PORT + 1)
    every = range(FIRST_PORT, LAST_PORT + 1)
    return next(ports for ports in (below, above, every) if len(ports) >= FEW_PORTS)


def _candidates() -> list[int]:
    low, high = map(int, _RANGE.read_text("ascii").split())
    chosen = ports((low, high))
    return random.sample(chosen, len(chosen))
