"""Which processes of this machine serve an address, found from outside: Linux, from /proc.

Source: proc_pid_net(5) (/proc/net/tcp, tcp6, unix), proc_pid_fd(5).
"""

import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from core.processtree import tree
from lab.machine.kernelfiles import Reader

PROC = Path("/proc")
_LISTENING_STATE, _ESTABLISHED_STATE = "0A", "01"
_ACCEPTS = 1 << 16  # __SO_ACCEPTCON
_CONNECTED = "03"  # SS_CONNECTED
_EPOLL, _TARGET = "anon_inode:[eventpoll]", re.compile(r"^tfd: *([0-9]+)", re.MULTILINE)
EVERYWHERE = ("0.0.0.0", "::")
_FORWARDERS = ("systemd", "docker-proxy", "rootlessport", "ssh", "sshd", "socat", "conmon", "slirp4netns")


def serving(address: str) -> list[int]:
    """Every process that holds the listening socket of *address*, and their descendants; empty if they are not known.

    Unknown are those of another host and of another user, and what only passes connections on: to a container, through
    a tunnel, or to the service that it starts (systemd).
    """
    wanted = {f"socket:[{inode}]" for inode in _inodes(address)}
    holders = [pid for pid in _all_pids() if _holds(pid, wanted)] if wanted else []
    own_pid = os.getpid()
    trees = [tree(pid) for pid in holders if _name(pid) not in _FORWARDERS]
    others = [pids for pids in trees if own_pid not in pids]  # an ancestor of ours holds it for somebody else
    return list(dict.fromkeys(pid for pids in others for pid in pids))


def pids_serving(addresses: Iterable[str]) -> list[int]:
    """Return the processes that serve any of *addresses*."""
    return [pid for address in addresses for pid in serving(address)]


def is_alone(address: str, pids: Iterable[int]) -> bool:
    """Whether all that listens at *address* is held by *pids*: only their files are looked at."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(address)}
    return wanted <= {link for pid in pids for link in _links(pid)}


def listening_everywhere(pids: Iterable[int]) -> list[str]:
    """Where *pids* listen at all addresses of this machine: 0.0.0.0:8000 or [::]:8000."""
    held = {link for pid in pids for link in _links(pid)}
    sockets = [(ip, port) for ip, port, inode in _listening() if f"socket:[{inode}]" in held]
    return [f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}" for ip, port in sockets if ip in EVERYWHERE]


def connections(address: str) -> set[str]:
    """What an open file of the process that serves *address* is for each connection that a client has to it now."""
    if address.startswith("/"):
        path = os.path.realpath(address)
        unix = (fields for fields in _lines(PROC / "net" / "unix", 7) if len(fields) > 7 and fields[5] == _CONNECTED)
        return {f"socket:[{fields[6]}]" for fields in unix if os.path.realpath(fields[7]) == path}
    port = f":{int(address.rpartition(':')[2]):04X}"
    for name in ("tcp", "tcp6"):  # a listener of the second has connections of the first kind in its own table
        lines = [fields for fields in _lines(PROC / "net" / name) if fields[1].endswith(port)]
        if found := {f"socket:[{fields[9]}]" for fields in lines if fields[3] == _ESTABLISHED_STATE}:
            return found
    return set()


def loops(pid: int, files: AbstractSet[str]) -> tuple[list[int], int]:
    """How many of *files* each epoll instance of the process watches, most first, and how many it has open in all."""
    names = dict(_named_links(pid)) if files else {}
    watched = {
        frozenset(number for number in _TARGET.findall(_text(info)) if names.get(number) in files)
        for info in (PROC / str(pid) / "fdinfo" / name for name, link in names.items() if link == _EPOLL)
    }  # a set, for one instance may be open under several numbers
    return sorted(filter(None, map(len, watched)), reverse=True), sum(link in files for link in names.values())


def _inodes(address: str) -> set[str]:
    """Of the listening sockets at *address*, a path or host:port."""
    if address.startswith("/"):
        return _unix_inodes(os.path.realpath(address))
    host, _, port = address.rpartition(":")
    by_ip, ips = _tcp_inodes(int(port)), _local_ips(host.strip("[]"), int(port))
    everywhere = [inode for ip in EVERYWHERE for inode in by_ip.get(ip, ())]
    return set(next((by_ip[ip] for ip in ips if ip in by_ip), everywhere if ips else []))


def _local_ips(host: str, port: int) -> list[str]:
    """The addresses of *host* that are this machine's, for one can bind to them, in the order of connecting."""
    local_ips = []
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    for family, kind, _, _, place in resolved:
        with socket.socket(family, kind) as probe:
            try:
                probe.bind((place[0], 0))
            except OSError:
                continue
            local_ips.append(str(place[0]))
    return local_ips


def _tcp_inodes(port: int) -> dict[str, list[str]]:
    """Inodes of the sockets that listen at *port*, by the address that they are bound to."""
    by_address: dict[str, list[str]] = {}
    for ip, its_port, inode in _listening():
        if its_port == port:
            by_address.setdefault(ip, []).append(inode)
    return by_address


def _listening() -> Iterator[tuple[str, int, str]]:
    """Address, port and inode of every TCP socket that listens."""
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for fields in _lines(PROC / "net" / name):
            address, _, port = fields[1].partition(":")
            if fields[3] == _LISTENING_STATE:
                yield _ip(address, family), int(port, 16), fields[9]


def _ip(text: str, family: socket.AddressFamily) -> str:
    """The address, which the kernel prints as 32-bit words in the machine's byte order."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    return socket.inet_ntop(family, packed).removeprefix("::ffff:")


def _unix_inodes(path: str) -> set[str]:
    return {
        fields[6]
        for fields in _lines(PROC / "net" / "unix", 7)
        if len(fields) > 7 and int(fields[3], 16) & _ACCEPTS and os.path.realpath(fields[7]) == path
    }


def _lines(table: Path, splits: int = -1) -> Iterator[list[str]]:
    lines = _text(table).splitlines()
    return (line.split(maxsplit=splits) for line in lines[1:])


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in PROC.glob("[0-9]*")]


def _holds(pid: int, wanted: set[str]) -> bool:
    return any(link in wanted for link in _links(pid))


def _links(pid: int) -> Iterator[str]:
    return (link for _, link in _named_links(pid))


def _named_links(pid: int) -> Iterator[tuple[str, str]]:
    """The numbers of its open files, and what they are; none if it has ended, or is another user's."""
    try:
        with os.scandir(PROC / str(pid) / "fd") as entries:
            yield from ((entry.name, _link(entry.path)) for entry in entries)
    except OSError:
        return


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _name(pid: int) -> str:
    return _text(PROC / str(pid) / "comm")


def _text(path: Path) -> str:
    return Reader().text(str(path)) or ""
