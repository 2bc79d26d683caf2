"""Ports are held: 50 services that start together, again and again, whatever way they bind, and none loses its port."""

import random
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lab.places import REPOSITORY
from lab.run.cell_processes import Bench
from lab.user_service import ports
from lab.user_service.command import LOOPBACK, choose_endpoint
from lab.user_service.readiness import CommandFailed
from tests.campaign.sizes import SEED, size
from tests.conftest import runtime_or_skip
from tests.contract.own_services import measured, write_services

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
    held.lock.close()
    ports.lease(LOOPBACK, held.port).lock.close()


def test_a_port_that_somebody_listens_at_is_not_leased() -> None:
    with socket.create_server((LOOPBACK, 0)) as other, pytest.raises(OSError, match="Address already in use"):
        ports.lease(LOOPBACK, other.getsockname()[1])
    with socket.create_server(("", 0)) as other, pytest.raises(CommandFailed, match="is not available: Address"):
        choose_endpoint({"command": "x {port}", "first_port": other.getsockname()[1]}, 0, "/tmp")


SHARED_SERVICE = """
import http.server, itertools, os, runpy, sys, time
numbers = itertools.count(1)
class Shared(http.server.ThreadingHTTPServer):
    allow_reuse_port = True
_parse = http.server.BaseHTTPRequestHandler.parse_request
def parse(self):
    if next(numbers) == {number}:
        with open("port.new", "w") as file:
            file.write(sys.argv[1])
        os.rename("port.new", "port")
        while not os.path.exists("shared"):
            time.sleep(0.01)
    return _parse(self)
http.server.BaseHTTPRequestHandler.parse_request = parse
http.server.ThreadingHTTPServer = Shared
runpy.run_path("items.py", run_name="__main__")
"""
THIEF = """
import os, socket, sys, time
while not os.path.exists("port"):
    time.sleep(0.01)
with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", int(open("port").read())))
    listener.listen()
    open("shared", "w").close()
    sys.stdin.read()
"""


@pytest.mark.parametrize("seed", range(SEED, SEED + size(1, 20)))
def test_a_service_whose_port_somebody_else_shares_is_named(seed: int, bench: Bench, tmp_path: Path) -> None:
    """From some request on; tests/lab/run has two services that share one."""
    runtime_or_skip("3.14")
    number = random.Random(seed).randint(2, 8)
    (tmp_path / "shared.py").write_text(SHARED_SERVICE.format(number=number))
    write_services(tmp_path)
    with subprocess.Popen([sys.executable, "-c", THIEF], cwd=tmp_path, stdin=subprocess.PIPE) as thief:
        try:
            asked = {"command": "{python} shared.py {port}"}
            result = measured(tmp_path, bench, "3.14", asked, NUM_CONNECTIONS_PER_CLIENT=1)
        finally:
            thief.kill()
    assert result.status in ("failed", "invalid")
    assert re.search(r"Another process also listens at 127\.0\.0\.1:\d+,", str(result.reason))
