"""The echo servers of native/echo: every byte comes back, whoever else misbehaves; and the child contract."""

import ctypes
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from core.processtree import tree
from lab.run.sandbox import Sandbox
from tests.contract.peers import Peer
from tests.contract.serving import Serving
from tests.contract.speaking import DEADLINE_S, Spoken, read_to_end, wait_readable
from tests.native.programs import USAGE, as_service, native_serving, started, told_service

PROGRAMS = ("echo-tokio", "echo-libuv", "echo-asio", "echo-coroutine", "echo-netty.jar")
HOSTED = PROGRAMS[1:]  # by services/echo_program.py
PIDFD_GETFD = 438  # the same number on all architectures: pidfd_getfd(2)
COMPILING_NS = 5e9  # what a JVM may spend on compiling what it has run: before, while and after a test looks


def echo(program: str, sandbox: Sandbox, **params: Any) -> AbstractContextManager[Serving]:
    """An echo server that listens."""
    return native_serving(as_service(program), sandbox, params, system=program)


def noise(size_bytes: int) -> bytes:
    """Bytes that are not the same twice, so that nothing lost or doubled goes unseen."""
    return Random(size_bytes).randbytes(size_bytes)


def receive(peer: Peer, size_bytes: int) -> bytes:
    """The next *size_bytes* that come back, or what there was before the end."""
    heard = bytearray()
    while len(heard) < size_bytes and (data := peer.sock.recv(size_bytes - len(heard))):
        heard += data
    return bytes(heard)


def check_it_echoes(peer: Peer, message: bytes) -> None:
    """Send *message*; it comes back as it was."""
    peer.send(message)
    assert receive(peer, len(message)) == message


def bytes_taken(peer: Peer, limit_bytes: int) -> int:
    """How much the server takes from a peer that reads nothing, until it takes no more, or *limit_bytes*."""
    piece, taken_bytes = bytes(1 << 20), 0
    while taken_bytes < limit_bytes:
        try:
            taken_bytes += peer.sock.send(piece)
        except TimeoutError:
            break
    return taken_bytes


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


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """Every echo server in turn."""
    return str(request.param)


@pytest.fixture(scope="module", params=[("tcp", 1), ("tcp", 2), ("unix", 1), ("unix", 2)], ids=str)
def server(request: pytest.FixtureRequest, program: str, sandbox: Sandbox) -> Iterator[Serving]:
    """One server of each kind for many tests of this module; at the end it has nothing to complain of."""
    transport, threads = request.param
    with echo(program, sandbox, TRANSPORT=transport, NUM_SERVER_THREADS=threads) as server:
        yield server
        server.end()


@pytest.mark.parametrize("size_bytes", [1, 1000, 10 * 1024, 100 * 1024])
def test_a_message_comes_back_as_it_was(server: Serving, size_bytes: int) -> None:
    with server.peer() as peer:
        for _ in range(3):
            check_it_echoes(peer, noise(size_bytes))


def test_a_message_in_halves_comes_back_half_by_half(server: Serving) -> None:
    with server.peer() as peer:
        check_it_echoes(peer, noise(501))
        check_it_echoes(peer, noise(499))


def test_many_messages_sent_at_once_come_back_in_order(server: Serving) -> None:
    with server.peer() as peer:
        check_it_echoes(peer, b"".join(noise(size_bytes) for size_bytes in range(900, 1000)))


def test_two_hundred_connections_are_served_at_once(server: Serving) -> None:
    with ExitStack() as held:
        peers = [held.enter_context(server.peer()) for _ in range(200)]
        for number, peer in enumerate(peers):
            peer.send(noise(1000 + number))
        for number, peer in enumerate(peers):
            assert receive(peer, 1000 + number) == noise(1000 + number)


def test_a_peer_that_sends_no_more_still_gets_all_of_its_echo_and_then_the_end(server: Serving) -> None:
    message = noise(100 * 1024)
    with server.peer() as peer:
        peer.send(message)
        peer.sock.shutdown(socket.SHUT_WR)
        assert receive(peer, len(message) + 1) == message


def test_peers_that_vanish_with_an_echo_on_its_way_hold_up_nobody(server: Serving) -> None:
    for _ in range(20):
        with server.peer() as gone:
            if gone.sock.family == socket.AF_INET:
                gone.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, not an end
            gone.send(noise(50_000))
    with server.peer() as peer:
        check_it_echoes(peer, noise(1000))


def test_a_peer_that_does_not_read_stops_being_read_and_holds_up_nobody(server: Serving) -> None:
    with server.peer(deadline_s=0.5) as greedy, server.peer() as peer:
        assert bytes_taken(greedy, 256 << 20) < 64 << 20  # the buffers of the kernel, both ways
        check_it_echoes(peer, noise(1000))


NODELAYS = [({}, True), ({"NODELAY": True}, True), ({"NODELAY": False}, False)]


@pytest.mark.parametrize(("told", "nodelay"), NODELAYS)
def test_tcp_nodelay_of_a_connection_is_on_unless_the_cell_says_otherwise(
    program: str, told: dict[str, bool], nodelay: bool, sandbox: Sandbox
) -> None:
    with echo(program, sandbox, TRANSPORT="tcp", **told) as server, server.peer() as peer:
        check_it_echoes(peer, b"hello")
        with servers_side(server.child.process.pid, peer) as taken:
            assert bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) is nodelay


def test_the_buffers_of_a_connection_are_those_of_the_cell(program: str, sandbox: Sandbox) -> None:
    with echo(program, sandbox, TRANSPORT="tcp", BUFFER_BYTES=20_000) as server, server.peer() as peer:
        check_it_echoes(peer, noise(100_000))
        with servers_side(server.child.process.pid, peer) as taken:
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                assert taken.getsockopt(socket.SOL_SOCKET, option) == 40_000  # Linux doubles it: socket(7)


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_it_keeps_the_child_contract_from_ready_to_result(program: str, transport: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as child:
        child.tell(told_service(short_folder, {"TRANSPORT": transport, "MESSAGE_BYTES": 500}))
        ready = child.line()
        assert (ready["ready"], ready["pid"]) == (True, child.process.pid)
        assert not ready["runtime"].get("gil_enabled", False)
        (address,) = ready["addresses"]
        assert address.startswith("127.0.0.1:" if transport == "tcp" else f"{short_folder}/0.0")
        with Peer(address) as peer:
            check_it_echoes(peer, noise(1500))
            child.tell("reset")
            assert child.line() == {"reset": True}
            for _ in range(7):
                check_it_echoes(peer, noise(1000))
            status, said, complaints = child.end()
    assert (status, complaints) == (0, "")
    result = json.loads(said)["result"]
    assert set(result) >= USAGE
    assert (result["requests"], result["echoed_bytes"]) == (14, 7000)
    assert (result["gil_enabled_ready"], result["gil_enabled_end"]) == (False, False)
    assert 0 < result["pss_bytes"] <= result["max_rss_bytes"]
    assert list(short_folder.iterdir()) == []


def cpu_ns(pid: int) -> int:
    """CPU time of the threads that *pid* has now, user and system together. Source: Linux, sched-stats.rst."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text(encoding="ascii").split()[0]) for file in files)


def test_cpu_time_counts_from_the_reset(program: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as child:
        child.tell(told_service(short_folder, {"TRANSPORT": "unix"}))
        with Peer(child.line()["addresses"][0]) as peer:
            message = noise(100 * 1024)
            for _ in range(300):
                check_it_echoes(peer, message)
            before_ns = cpu_ns(serving_pid(child.process.pid))
            child.tell("reset")
            assert child.line() == {"reset": True}
            _, said, _ = child.end()
    result = json.loads(said)["result"]
    assert result["requests"] == 0
    assert result["cpu_user_ns"] + result["cpu_system_ns"] < before_ns  # nothing was asked since, all of it before


def test_a_flag_that_is_none_is_refused_with_those_there_are(program: str) -> None:
    with Spoken(started(program, "--thread-count", "2")) as child:
        status, said, complaints = child.end()
    assert (status, said) == (2, b"")
    assert "--threads" in complaints


def test_started_by_hand_it_serves_until_it_is_asked_to_end_and_removes_its_socket(
    program: str, short_folder: Path
) -> None:
    path = short_folder / "by-hand"
    with Spoken(started(program, "--socket", str(path), "--threads", "2")) as child:
        says_where = child.process.stderr if program == "echo-tokio" else child.process.stdout
        assert says_where is not None
        wait_readable(says_where.fileno())
        assert str(path) in next(line.decode() for line in says_where if b"listening" in line)
        with Peer(str(path)) as peer:
            check_it_echoes(peer, noise(1000))
        child.process.send_signal(signal.SIGTERM)
        child.process.wait(DEADLINE_S)
    assert list(short_folder.iterdir()) == []


def test_an_address_that_is_taken_is_named(program: str, short_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Spoken(started(program, "--port", str(port))) as child:
            status, _, complaints = child.end()
    assert status == 1
    assert "Address already in use" in complaints


@pytest.mark.parametrize("program", HOSTED)
def test_cpu_time_is_that_of_the_program_and_not_of_its_host(program: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as child:
        child.tell(told_service(short_folder, {"TRANSPORT": "unix"}))
        with Peer(child.line()["addresses"][0]) as peer:
            child.tell("reset")
            assert child.line() == {"reset": True}
            pid, start_ns = serving_pid(child.process.pid), cpu_ns(serving_pid(child.process.pid))
            message = noise(100 * 1024)
            for _ in range(300):
                check_it_echoes(peer, message)
            used_ns = cpu_ns(pid) - start_ns
            _, said, _ = child.end()
    result = json.loads(said)["result"]
    more_ns = COMPILING_NS if program.endswith(".jar") else 0
    cpu_time_ns = result["cpu_user_ns"] + result["cpu_system_ns"]
    assert 0.8 * used_ns - 2e6 <= cpu_time_ns <= 1.2 * used_ns + 2e6 + more_ns


@pytest.mark.parametrize("program", HOSTED)
def test_it_ends_when_its_host_is_killed(program: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as child:
        child.tell(told_service(short_folder, {"TRANSPORT": "unix"}))
        child.line()
        child.process.kill()
        assert child.process.stderr is not None
        read_to_end(child.process.stderr.fileno())  # the program has inherited it: its end is the program's
    assert list(short_folder.iterdir()) == []


@pytest.mark.parametrize("program", HOSTED)
def test_a_program_that_dies_fails_its_cell_at_once_with_the_reason(program: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as child:
        child.tell(told_service(short_folder, {"TRANSPORT": "unix"}))
        child.line()
        os.kill(serving_pid(child.process.pid), signal.SIGKILL)
        assert child.process.wait(DEADLINE_S) == 1
        assert child.process.stderr is not None
        assert "was killed by SIGKILL" in child.process.stderr.read().decode()
