"""The echo servers, in Python and native: their sockets, and what they count. test_wire.py has their echoes."""

import ctypes
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from core.processtree import tree
from core.runtime import NATIVE
from lab.folders import Sandbox
from tests.contract.dialects import noise
from tests.contract.kinds import ECHO, Kind
from tests.contract.peers import Peer
from tests.contract.speaking import DEADLINE_S, read_to_end
from tests.tables import each_row

TCP = [kind for kind in ECHO if kind[1].endswith("tcp")]
UNIX = [kind for kind in ECHO if kind[1].endswith("unix")]
HOSTED = [
    kind for kind in UNIX if kind[0] == NATIVE and kind[1] != "echo-tokio unix"
]  # by experiments/echo/echo_program.py
PIDFD_GETFD = 438  # the same number on all architectures: pidfd_getfd(2)
COMPILING_NS = 5e9  # what a JVM may spend on compiling what it has run: before, while and after a test looks


def check_it_echoes(peer: Peer, message: bytes) -> None:
    """Send *message*; it comes back as it was."""
    peer.send(message)
    assert peer.take(len(message)) == message


def serving_pid(child_pid: int) -> int:
    """The process that serves: the program that the child hosts, or the child itself."""
    return tree(child_pid)[-1]


def servers_side(child_pid: int, peer: Peer) -> socket.socket:
    """The server's own end of *peer*'s connection, taken from the server: pidfd_getfd(2)."""
    pid = serving_pid(child_pid)
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
                continue
            taken = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
            if taken < 0:
                pytest.skip(f"this kernel does not lend descriptors: {os.strerror(ctypes.get_errno())}")
            sock = socket.socket(fileno=taken)
            if _is_other_end(sock, peer):
                return sock
            sock.close()
    finally:
        os.close(pidfd)
    raise AssertionError("the server has no such connection")


def _is_other_end(sock: socket.socket, peer: Peer) -> bool:
    try:
        return bool(sock.getpeername() == peer.sock.getsockname())
    except OSError:
        return False


@pytest.mark.parametrize("kind", TCP, ids="-".join, indirect=True)
@each_row
def test_the_sockets_are_as_the_cell_says_and_without_delay_where_it_says_nothing(
    kind: Kind, told: dict[str, Any], nodelay: bool, sandbox: Sandbox
) -> None:
    with kind.serving(sandbox, **told) as server, server.peer() as peer:
        check_it_echoes(peer, noise(10_000))
        with servers_side(server.child.process.pid, peer) as taken:
            assert bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) is nodelay
            if "BUFFER_BYTES" in told:
                sizes = [taken.getsockopt(socket.SOL_SOCKET, which) for which in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
                assert sizes == [40_000, 40_000]  # Linux doubles it: socket(7)


def cpu_ns(pid: int) -> int:
    """CPU time of the threads that *pid* has now, user and system together. Source: Linux, sched-stats.rst."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text(encoding="ascii").split()[0]) for file in files)


@pytest.mark.parametrize("kind", UNIX, ids="-".join, indirect=True)
def test_messages_by_their_size_and_cpu_time_are_counted_from_the_reset_to_the_end(
    kind: Kind, short_folder: Path
) -> None:
    """The CPU time is that of the program, and not of its host."""
    large = [noise(100 * 1024)] * 100
    with kind.spoken(short_folder, MESSAGE_BYTES=500) as child, Peer(child.line()["addresses"][0]) as peer:
        pid = serving_pid(child.process.pid)
        for message in 3 * large:
            check_it_echoes(peer, message)
        child.tell("reset")
        assert child.line() == {"reset": True}
        start_ns = cpu_ns(pid)
        for message in (*large, *[noise(1000)] * 3, noise(499)):
            check_it_echoes(peer, message)
        used_ns = cpu_ns(pid) - start_ns
        result = json.loads(child.end()[1])["result"]
    assert (result["requests"], result["echoed_bytes"]) == (20_486, 10_243_499)
    if kind.runtime == NATIVE:
        more_ns = COMPILING_NS if kind.name == "echo-netty unix" else 0
        cpu_time_ns = result["cpu_user_ns"] + result["cpu_system_ns"]
        assert 0.8 * used_ns - 2e6 <= cpu_time_ns <= 1.2 * used_ns + 2e6 + more_ns


@pytest.mark.parametrize("kind", HOSTED, ids="-".join, indirect=True)
@pytest.mark.parametrize(("killed", "status", "said"), [("host", -signal.SIGKILL, ""), ("program", 1, "SIGKILL")])
def test_a_program_ends_with_its_host_and_a_host_at_once_with_its_program_and_the_reason(
    kind: Kind, killed: str, status: int, said: str, short_folder: Path
) -> None:
    with kind.spoken(short_folder) as child:
        child.line()
        os.kill(child.process.pid if killed == "host" else serving_pid(child.process.pid), signal.SIGKILL)
        assert child.process.wait(DEADLINE_S) == status
        assert child.process.stderr is not None  # the program has inherited it: its end is the program's, too
        assert said in read_to_end(child.process.stderr.fileno()).decode()
    assert killed == "program" or list(short_folder.iterdir()) == []
