"""Find the processes of this machine that serve an address, by reading /proc. Linux only.

An address is host:port, or the path of a Unix socket. A socket is named as in /proc/PID/fd:
"socket:[inode]". service_child.py, command.py and worker_sampler.py beside this file ask whose
processes serve, and how many connections and event loops they have. lab/run/cell_places.py asks
for the processes of a target. What cannot be read counts as not there, so an empty answer may also
mean "unknown".

Source: proc_pid_net(5) (/proc/net/tcp, tcp6, unix), proc_pid_fd(5).
"""

import os
import re
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from core.processtree import tree
from lab.machine.host import text_of

PROC = Path("/proc")
_LISTENING_STATE, _ESTABLISHED_STATE = "0A", "01"  # of TCP: in hexadecimal
_ACCEPTS = 1 << 16  # __SO_ACCEPTCON
_CONNECTED = "03"  # SS_CONNECTED
_EPOLL, _TARGET = "anon_inode:[eventpoll]", re.compile(r"^tfd: *([0-9]+)", re.MULTILINE)
EVERYWHERE = {"0.0.0.0": "0.0.0.0", "::": "[::]"}  # wildcard addresses, as they stand before a port
# names (/proc/PID/comm) of programs that only pass connections on
_FORWARDERS = (
    "systemd",
    "docker-proxy",
    "rootlessport",
    "ssh",
    "sshd",
    "socat",
    "conmon",
    "slirp4netns",
)


def serving(address: str) -> list[int]:
    """Return the processes that hold the listening socket of *address*, and their descendants; []
    if unknown.

    Unknown are processes of other hosts and other users. Processes that only forward connections
    are left out: to a container, through a tunnel, or to a service that they start (systemd).
    """
    wanted, own_pid = _sockets(address), os.getpid()
    found: dict[int, None] = {}
    for entry in PROC.glob("[0-9]*") if wanted else ():
        pid = int(entry.name)
        if wanted.isdisjoint(_links(pid).values()) or _text(entry / "comm") in _FORWARDERS:
            continue
        pids = tree(pid)
        if own_pid not in pids:  # otherwise an ancestor of this process holds it for others
            found |= dict.fromkeys(pids)
    return [*found]


def is_alone(address: str, pids: Iterable[int]) -> bool:
    """Return whether *pids* have every socket that listens at *address*; also True if none is
    known. Reads files of these processes only.
    """
    return _sockets(address) <= {link for pid in pids for link in _links(pid).values()}


def listening_everywhere(pids: Iterable[int]) -> list[str]:
    """Return the wildcard addresses at which *pids* listen, such as 0.0.0.0:8000 or [::]:8000."""
    held = {link for pid in pids for link in _links(pid).values()}
    return [
        f"{EVERYWHERE[ip]}:{port}"
        for ip, port, link in _listening()
        if link in held and ip in EVERYWHERE
    ]


def connections(address: str) -> set[str]:
    """Return the sockets ("socket:[inode]") of the connections that clients have to
    *address* now.
    """
    if address.startswith("/"):
        return _unix_sockets(address, lambda fields: fields[5] == _CONNECTED)
    port = f":{int(address.rpartition(':')[2]):04X}"
    # only the port is compared: a connection may come to any address of this machine
    found: set[str] = set()
    for name in ("tcp", "tcp6"):  # an IPv6 listener has its IPv4 connections in the table tcp6
        for fields in () if found else _lines(PROC / "net" / name):
            if fields[1].endswith(port) and fields[3] == _ESTABLISHED_STATE:
                found.add(f"socket:[{fields[9]}]")
    return found


def loops(pid: int, files: AbstractSet[str]) -> tuple[int, int]:
    """Return how many epoll instances of a process watch any of *files*, and how many of them the
    process has open.

    files: sockets of connections, from connections()
    """
    names = _links(pid) if files else {}
    watched = set()  # because one instance may be open under several descriptors
    for name, link in names.items():
        if link == _EPOLL:
            targets = _TARGET.findall(_text(PROC / str(pid) / "fdinfo" / name))
            watched.add(frozenset(number for number in targets if names.get(number) in files))
    return len(watched - {frozenset()}), sum(link in files for link in names.values())


def _sockets(address: str) -> set[str]:
    """Return the sockets ("socket:[inode]") that listen at *address*, which is a path
    or host:port.
    """
    if address.startswith("/"):
        return _unix_sockets(address, lambda fields: bool(int(fields[3], 16) & _ACCEPTS))
    host, _, port = address.rpartition(":")
    by_ip: dict[str, set[str]] = {}
    for ip, its_port, link in _listening():
        if its_port == int(port):
            by_ip.setdefault(ip, set()).add(link)
    ips = _local_ips(host.strip("[]"), int(port))
    everywhere = {link for ip in EVERYWHERE for link in by_ip.get(ip, ())}
    return next((by_ip[ip] for ip in ips if ip in by_ip), everywhere if ips else set())


def _unix_sockets(path: str, is_wanted: Callable[[list[str]], bool]) -> set[str]:
    """Return the Unix sockets ("socket:[inode]") at *path*. is_wanted() selects the lines of
    /proc/net/unix.

    Fields of a line, counted from 0: 3 flags, 5 state, 6 inode, 7 path.
    """
    path = os.path.realpath(path)
    return {
        f"socket:[{fields[6]}]"
        for fields in _lines(PROC / "net" / "unix", 7)
        if len(fields) > 7 and is_wanted(fields) and os.path.realpath(fields[7]) == path
    }


def _local_ips(host: str, port: int) -> list[str]:
    """Return the addresses of *host* that belong to this machine, in the order that clients try
    them.

    An address belongs to this machine if a socket can be bound to it.
    """
    local_ips: list[str] = []
    with suppress(OSError):
        for family, kind, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with suppress(OSError), socket.socket(family, kind) as probe:
                probe.bind((place[0], 0))
                local_ips.append(str(place[0]))
    return local_ips


def _listening() -> Iterator[tuple[str, int, str]]:
    """Yield address, port and "socket:[inode]" of every listening TCP socket."""
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for fields in _lines(PROC / "net" / name):
            address, _, port = fields[1].partition(":")
            if fields[3] == _LISTENING_STATE:
                yield _ip(address, family), int(port, 16), f"socket:[{fields[9]}]"


def _ip(text: str, family: socket.AddressFamily) -> str:
    """Parse an address that the kernel prints as 32-bit words in the machine's byte order."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    return socket.inet_ntop(family, packed).removeprefix("::ffff:")


def _lines(table: Path, splits: int = -1) -> Iterator[list[str]]:
    # without the heading; of TCP: field 1 local address:port, 3 state, 9 inode, counted from 0
    lines = _text(table).splitlines()
    return (line.split(maxsplit=splits) for line in lines[1:])


def _links(pid: int) -> dict[str, str]:
    """Return {descriptor: link target} of a process's open files; {} if it has ended or belongs to
    another user.
    """
    links = {}
    with suppress(OSError), os.scandir(PROC / str(pid) / "fd") as entries:
        for entry in entries:
            with suppress(OSError):  # the process has closed the file meanwhile
                links[entry.name] = os.readlink(entry.path)
    return links


def _text(path: Path) -> str:
    return text_of(path) or ""
