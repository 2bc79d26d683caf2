"""Ports are held: 50 services that start together, again and again, whatever way they bind, and none loses its port."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from lab.places import REPOSITORY
from lab.user_service import ports
from lab.user_service.command import LOOPBACK, choose_endpoint
from lab.user_service.readiness import CommandFailed
from tests.campaign.sizes import size

SERVICES = size(6, 50)
STARTS = size(1, 10)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: abstract Unix sockets")

SERVICE = """
import socket, subprocess, sys
from lab.user_service.ports import lease
held = lease("127.0.0.1")
program = '''
import socket, sys, time
sock = socket.socket()
option = sys.argv[2]
if option: sock.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)
time.sleep(0.05)
try:
    sock.bind(("127.0.0.1", int(sys.argv[1])))
    sock.listen()
    print(sys.argv[1], flush=True)
except OSError as error:
    print(error, flush=True)
sys.stdin.read()
'''
subprocess.run([sys.executable, "-S", "-c", program, str(held.port), sys.argv[1]])
"""


@contextmanager
def started(option: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that leases a port and starts a program that binds to it a little later."""
    command = [sys.executable, "-S", "-c", SERVICE, option]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("start", range(STARTS))
def test_services_that_start_together_all_get_their_port(start: int) -> None:
    options = ["", "SO_REUSEADDR", "SO_REUSEPORT"]
    with ExitStack() as running:
        services = [running.enter_context(started(options[number % 3])) for number in range(SERVICES)]
        heard = [service.stdout.readline().strip() for service in services if service.stdout]
    assert [line for line in heard if not line.isdecimal()] == []
    assert len(set(heard)) == SERVICES


def test_ports_come_from_where_the_kernel_gives_none_to_who_asks_for_any() -> None:
    assert ports.ports((32768, 60999)) == range(10_000, 32_768)
    assert ports.ports((1024, 60_000)) == range(60_001, 65_536)
    assert ports.ports((1024, 65_535)) == range(10_000, 65_536)


def test_a_lease_is_nobody_elses_until_it_is_given_back() -> None:
    held = ports.lease(LOOPBACK)
    with pytest.raises(OSError, match="Address"):
        ports.lease(LOOPBACK, held.port)
    held.give_back()
    ports.lease(LOOPBACK, held.port).give_back()


def test_a_port_that_somebody_listens_at_is_not_leased() -> None:
    with socket.create_server((LOOPBACK, 0)) as other, pytest.raises(OSError, match="Address already in use"):
        ports.lease(LOOPBACK, other.getsockname()[1])
    with socket.create_server(("", 0)) as other, pytest.raises(CommandFailed, match="is not available: Address"):
        choose_endpoint({"command": "x {port}", "first_port": other.getsockname()[1]}, 0, "/tmp")
