"""Find the processes of this machine that serve an address, and count their connections, event
loops and busy threads. Reads /proc, so it works on Linux only.

An address is host:port, or the path of a Unix socket. A socket is named as in /proc/PID/fd:
"socket:[inode]". service_child.py and command.py beside this file ask whose processes serve, and
lab/run/cell_places.py asks for the processes of a target. What cannot be read counts as not there,
so an empty answer may also mean "unknown".

service_child.py makes a WorkerSampler at its start and at each `reset`. Its result() returns
`workers` (record/child_lines.py, ServiceLine). A process serves if it holds an established
connection from a client in any sample. Its workers are:

- for an ASGI application, its event loops: epoll instances that watch connections from clients;
- otherwise its busy threads, which used at least the share BUSY of the CPU time of the busiest
  thread. Threads that only move bytes do not count: one thread per event loop, or without a loop
  the first thread, which accepts connections in most servers. If there are at most twice as many
  busy threads as loops, the loops are the workers. If threads come and go, such as one per
  connection, the largest number at one time counts.

docs/own-service.md, "What ran", tells users what is counted.

Source: proc_pid_net(5) (/proc/net/tcp, tcp6, unix), proc_pid_fd(5).
"""

import os
import re
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import NamedTuple

from core.messages import Json
from core.processtree import ran_and_waited_ns, threads_of, tree
from lab.machine.host import text_of

BUSY = 0.1  # see above: of the CPU time of the busiest thread
# pauses between samples; a long timed window has no more samples than a short one. Each sample
# takes CPU time from the service
PAUSES_S = (0.05, 0.2, 0.8, 3.2)
_LISTENING, _ESTABLISHED = "0A", "01"  # states of TCP: in hexadecimal
# of Unix sockets: fields of /proc/net/unix, counted from 0, and their values __SO_ACCEPTCON and
# SS_CONNECTED
_ACCEPTS, _CONNECTED = (3, "00010000"), (5, "03")
_EPOLL, _TARGET = "anon_inode:[eventpoll]", re.compile(r"^tfd: *([0-9]+)", re.MULTILINE)
# wildcard addresses: as the kernel prints them, and as they stand before a port
EVERYWHERE = {"0" * 8: "0.0.0.0", "0" * 32: "[::]"}
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
    wanted = _sockets(address)
    found = set[int]()
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc")) if wanted else ()):
        if wanted.isdisjoint(_held([pid])) or _text(f"{pid}/comm") in _FORWARDERS:
            continue
        pids = tree(pid)
        if os.getpid() not in pids:  # otherwise an ancestor of this process holds it for others
            found.update(pids)
    return sorted(found)


def is_shared(address: str, pids: Iterable[int]) -> bool:
    """Return whether a process other than *pids* serves *address*, as far as it is known. Reads
    files of other processes only if *pids* do not have every socket that listens there.
    """
    return not (_sockets(address) <= _held(pids) or {*serving(address)} <= {*pids})


def listening_everywhere(pids: Iterable[int]) -> list[str]:
    """Return the wildcard addresses at which *pids* listen, such as 0.0.0.0:8000 or [::]:8000."""
    held = _held(pids)
    return [
        f"{EVERYWHERE[ip]}:{port}"
        for ip, port, link in _tcp_sockets(_LISTENING)
        if link in held and ip in EVERYWHERE
    ]


class _Seen(NamedTuple):
    """A process in one sample.

    loops: event loops that watch connections from clients; connections: of clients that it holds
    cpu_ns: CPU time of each of its running threads by thread id
    """

    loops: int
    connections: int
    cpu_ns: dict[int, int]


class WorkerSampler:
    """A thread that samples one service's connections and threads, until result() is called.

    Creating an instance takes the first sample and starts the thread.
    """

    def __init__(self, pids: Sequence[int], address: str, *, is_asgi: bool) -> None:
        self._address, self._is_asgi = address, is_asgi
        self._seen: dict[int, list[_Seen]] = {pid: [] for pid in pids}
        self._ended = threading.Event()
        self._sample()
        self._thread = threading.Thread(target=self._watch, name="worker count", daemon=True)
        self._thread.start()

    def result(self) -> list[Json]:
        """Stop the thread, take a last sample, and return the connections, workers and thread CPU
        times (ns, largest first) of each process that had a connection from a client.
        """
        self.stop()
        self._sample()
        found = map(self._counted, sorted(self._seen))
        return [process for process in found if process["connections"]]

    @property
    def has_several_loops(self) -> bool:
        """Return whether any process served clients with more than one event loop."""
        return any(one.loops > 1 for seen in self._seen.values() for one in seen)

    def stop(self) -> None:
        """Stop the sampling thread."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        for pause_s in PAUSES_S:
            if self._ended.wait(pause_s):
                return
            self._sample()

    def _sample(self) -> None:
        clients = _connections(self._address)
        for pid, seen in self._seen.items():
            seen.append(_Seen(*_loops(pid, clients), _cpu_ns_by_thread(pid)))

    def _counted(self, pid: int) -> Json:
        loops, connections, threads = zip(*self._seen[pid], strict=True)
        used: dict[int, int] = {}
        for cpu_ns in threads:
            used |= cpu_ns
        # a thread that began after the first sample used all of its time since
        for thread, ns in threads[0].items():
            used[thread] -= ns
        busiest = max(used.values(), default=0)
        busy = {thread: ns for thread, ns in used.items() if ns >= BUSY * busiest}
        most_loops, most_alive = max(loops), max(map(len, threads))
        if self._is_asgi or 0 < most_loops <= len(busy) <= 2 * most_loops:
            workers = most_loops
        elif len(used) > 2 * most_alive:  # threads come and go; the first thread does not count
            workers = most_alive - 1
        else:
            # pid in busy counts as 1: the first thread, whose id is that of its process
            workers = len(busy) - max(most_loops, pid in busy)
        return {
            "connections": max(connections),
            "threads": max(1, workers),
            "cpu_ns": sorted(busy.values(), reverse=True),
        }


def _cpu_ns_by_thread(pid: int) -> dict[int, int]:
    """Return {thread id: CPU time in ns} of the running threads of *pid*."""
    return {
        int(thread): ran_ns
        for thread in threads_of(pid)
        # a thread that has just ended reports 0
        if (ran_ns := ran_and_waited_ns(f"{pid}/task/{thread}")[0])
    }


def _connections(address: str) -> set[str]:
    """Return the sockets ("socket:[inode]") of the connections that clients have to
    *address* now.
    """
    if address.startswith("/"):
        return _unix_sockets(address, *_CONNECTED)
    port = int(address.rpartition(":")[2])
    # only the port is compared: a connection may come to any address of this machine
    return {link for _, its_port, link in _tcp_sockets(_ESTABLISHED) if its_port == port}


def _loops(pid: int, files: AbstractSet[str]) -> tuple[int, int]:
    """Return how many epoll instances of a process watch any of *files*, and how many of them the
    process has open.

    files: sockets of connections, from _connections()
    """
    names = _links(pid) if files else {}
    watched = set()  # because one instance may be open under several descriptors
    for name, link in names.items():
        if link == _EPOLL:
            targets = _TARGET.findall(_text(f"{pid}/fdinfo/{name}"))
            watched.add(frozenset(number for number in targets if names.get(number) in files))
    return len(watched - {frozenset()}), sum(link in files for link in names.values())


def _sockets(address: str) -> set[str]:
    """Return the sockets ("socket:[inode]") that listen at *address*: if none listens at exactly
    this address, those that listen at all addresses.
    """
    if address.startswith("/"):
        return _unix_sockets(address, *_ACCEPTS)
    host, _, port = address.rpartition(":")
    by_ip: dict[str, set[str]] = defaultdict(set)
    for ip, its_port, link in _tcp_sockets(_LISTENING):
        if its_port == int(port):
            by_ip[_ip(ip)].add(link)
    ips = [*_local_ips(host.strip("[]"), int(port))]
    for ip in ips:
        if by_ip[ip]:
            return by_ip[ip]
    return by_ip["0.0.0.0"] | by_ip["::"] if ips else set()


def _unix_sockets(path: str, field: int, value: str) -> set[str]:
    """Return the Unix sockets ("socket:[inode]") at *path* with a *value* in a field of their line
    in /proc/net/unix, in which field 6 is the inode and field 7 the path.
    """
    path = os.path.realpath(path)
    return {
        f"socket:[{fields[6]}]"
        for fields in _lines("net/unix", 7)
        if len(fields) > 7 and fields[field] == value and os.path.realpath(fields[7]) == path
    }


def _local_ips(host: str, port: int) -> Iterator[str]:
    """Yield the addresses of *host* that belong to this machine, in the order that clients try
    them.

    An address belongs to this machine if a socket can be bound to it.
    """
    with suppress(OSError):
        for family, kind, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with suppress(OSError), socket.socket(family, kind) as probe:
                probe.bind((place[0], 0))
                yield str(place[0])


def _tcp_sockets(state: str) -> Iterator[tuple[str, int, str]]:
    """Yield local address, port and "socket:[inode]" of every TCP socket in a *state*. The address
    is as the kernel prints it. An IPv6 listener has its IPv4 connections in the table tcp6.
    """
    for table in ("net/tcp", "net/tcp6"):
        # fields, counted from 0: 1 local address:port, 3 state, 9 inode
        for fields in _lines(table):
            if fields[3] == state:
                address, _, port = fields[1].partition(":")
                yield address, int(port, 16), f"socket:[{fields[9]}]"


def _ip(text: str) -> str:
    """Parse an address that the kernel prints as 32-bit words in the machine's byte order."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, packed).removeprefix("::ffff:")


def _lines(table: str, splits: int = -1) -> list[list[str]]:
    """Return the fields of each line of a *table* in /proc, without its heading."""
    return [line.split(maxsplit=splits) for line in _text(table).splitlines()[1:]]


def _held(pids: Iterable[int]) -> set[str]:
    """Return what the files that *pids* have open link to."""
    return {link for pid in pids for link in _links(pid).values()}


def _links(pid: int) -> dict[str, str]:
    """Return {descriptor: link target} of a process's open files; {} if it has ended or belongs to
    another user.
    """
    links = {}
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):  # the process has closed the file meanwhile
                links[name] = os.readlink(f"/proc/{pid}/fd/{name}")
    return links


def _text(path: str) -> str:
    return text_of(f"/proc/{path}") or ""
