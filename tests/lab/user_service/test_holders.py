"""Who serves an address, found from outside."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.user_service import holders
from lab.user_service.holders import serving
from tests.started import started
from tests.tables import each_row

LISTENER = """
import os, socket, sys
family, host, port = sys.argv[1:]
listener = socket.socket(getattr(socket, family))
listener.bind(host if family == "AF_UNIX" else (host, int(port)))
listener.listen()
child = os.fork()
if child:
    print(child, 0 if family == "AF_UNIX" else listener.getsockname()[1], flush=True)
sys.stdin.readline()
"""
pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="sockets are found by /proc")


@contextmanager
def listening(family: str, host: str) -> Iterator[tuple[set[int], str]]:
    """A process that listens, and its child with the same socket: their pids, and the port."""
    with started(sys.executable, "-c", LISTENER, family, host, "0") as process:
        child, port = process.first.split()
        yield {process.pid, int(child)}, port
        process.process.communicate("\n")


@each_row
def test_all_processes_with_the_listening_socket_serve_a_port_unless_they_only_pass_connections_on(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    family, bound, asked = line.split()
    if family == "AF_INET6" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    with listening(family, bound) as (pids, port):
        assert {*serving(f"{asked}:{port}")} == pids
        assert serving(f"192.0.2.1:{port}") == []  # RFC 5737: nobody's, and not this machine
        names = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}
        monkeypatch.setattr(holders, "_FORWARDERS", tuple(names))
        assert serving(f"{asked}:{port}") == []


def test_all_processes_with_the_listening_socket_serve_a_path(short_folder: Path) -> None:
    with listening("AF_UNIX", str(short_folder / "a b.sock")) as (pids, _):
        assert {*serving(f"{short_folder}/a b.sock")} == pids
        assert serving(f"{short_folder}/other.sock") == []


def test_where_nobody_listens_nobody_serves() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert serving("{}:{}".format(*bound.getsockname())) == []
    assert serving("no.such.host.invalid:80") == []
