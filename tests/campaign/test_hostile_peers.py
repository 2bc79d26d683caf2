"""Hostile servers against every client program, hostile clients against every service: memory and time are bounded."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic
from typing import Any, cast

import pytest

from core.runtime import NATIVE
from lab.folders import Sandbox
from lab.places import REPOSITORY
from tests.campaign.hostile import FRAMED, HTTP, hostile, sample
from tests.contract.kinds import Kind
from tests.contract.peers import CALC, framed, request
from tests.contract.serving import Serving
from tests.native.loadgen_peers import Script
from tests.native.programs import program_or_skip

DEADLINE_S = 2.0
MORE_BYTES = 256 * 2**20
PROMPT_S = 15.0
MOST_S = 10.0  # of what without a bound would go on for as long as the server does, 20 s and more
WAIT_S = 40.0

CLIENT = """
import json, resource, sys, threading
from time import monotonic
from core.cell import Cell
kind, address, deadline_s, more_bytes = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])

def pages(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

def user():
    from clients.channel import CallFailed
    from clients.http import HttpConnection
    from clients.prepared_requests import bytes_of
    from core.request_plan import Request
    try:
        asked = bytes_of(Request(body="{}"), address)
        status, body = HttpConnection(address, deadline_s).ask(asked, "POST")
        return {str(status): len(body)}
    except CallFailed as failed:
        return {failed.code: 1}

def system(key):
    from clients.drive import CallerClient
    from systems import find
    found = find(key)
    cell = Cell.build(system=key, runtime="3.14", reads=found.parameters, values={"NUM_API_SERVICES": 1,
        "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1, "NUM_THREADS_PER_CLIENT": 1, "CALC_TARGET": 7})
    return CallerClient(found, cell, 0, [[address]]).run(deadline_s)["errors"]

import clients.user_service, clients.drive, systems
base = pages("VmRSS")
resource.setrlimit(resource.RLIMIT_AS, (pages("VmSize") + more_bytes,) * 2)
start = monotonic()
errors = system(kind[7:]) if kind.startswith("system") else user()
wall_s = monotonic() - start
print(json.dumps({"errors": errors, "wall_s": wall_s, "more_bytes": pages("VmHWM") - base}), flush=True)
import os
os._exit(0)
"""


def python_client(kind: str, address: str) -> dict[str, Any]:
    """What one request of that client comes to, how long it took, and how much memory."""
    command = [sys.executable, "-c", CLIENT, kind, address, str(DEADLINE_S), str(MORE_BYTES)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return cast(dict[str, Any], json.loads(done.stdout))


def loadgen_client(protocol: str, address: str) -> dict[str, Any]:
    """The same of loadgen, whose memory is its peak."""
    target = f"http://{address}/a" if protocol == "http" else address
    flags = ["--protocol", protocol, "-n", "1", "-c", "1", "--timeout", f"{DEADLINE_S}s", "--report", "json"]
    start = monotonic()
    command = [program_or_skip("loadgen"), *flags, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    wall_s = monotonic() - start
    assert done.returncode == 1, (done.returncode, done.stderr)
    report = json.loads(done.stdout)
    return {"errors": report["errors"], "wall_s": wall_s, "more_bytes": report["max_rss_bytes"]}


Client = Callable[[str, str], dict[str, Any]]
CALLERS: list[tuple[Client, str, Mapping[str, Script]]] = [
    (python_client, "user", HTTP),
    (python_client, "system 3", HTTP),
    (loadgen_client, "http", HTTP),
    (loadgen_client, "framed", FRAMED),
    (python_client, "system 1", FRAMED),
    (python_client, "system 2", FRAMED),
]
MODES = [(client, kind, mode, modes[mode]) for client, kind, modes in CALLERS for mode in modes]


@pytest.mark.parametrize(("client", "kind", "mode", "script"), sample(MODES, 2))
def test_a_hostile_server_costs_an_error_and_neither_memory_nor_time(
    client: Client, kind: str, mode: str, script: Script
) -> None:
    with hostile(script) as server:
        outcome = client(kind, server.address)
    assert outcome["errors"], outcome
    assert outcome["wall_s"] <= MOST_S, outcome
    assert outcome["more_bytes"] <= MORE_BYTES, outcome


# ---- hostile clients -------------------------------------------------------------------------------------------------


HTTP_HEAD = b"POST /calc HTTP/1.1\r\nHost: a\r\n"
CHUNKED = HTTP_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
COUNT = b'{"method":"POST","url":"/calc","params":{"target":1'
# What the clients send, each on a connection of its own, on which it reads nothing.
CLIENTS: dict[str, Sequence[bytes]] = {
    "frames that are announced and do not come": (b"\x00\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"),
    "16 million brackets": (framed(b"[" * 2**24), framed(b'{"a":' * 3_000_000)),
    "requests whose answers are not read": [framed(CALC) * 20_000] * 4,
    "large answers that are not read": [framed(request("/", msg="x" * 8_000_000))] * 4,
    "halves of frames": [framed(b"x" * 8_000_000)[:-1]] * 4,
    "noise": (bytes(range(256)) * 4096, b"\0" * 2**20),
    "a number of a million digits": (framed(COUNT + b"0" * 10**6),),
    "http to frames": (HTTP_HEAD + b"\r\n", HTTP_HEAD + b"A: " + b"x" * 10**6),
    "a chunked body without end": (CHUNKED + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 400,),
    "one-byte chunks": (CHUNKED + b"1\r\nx\r\n" * 200_000,),
    "headers without end": (HTTP_HEAD + b"A: b\r\n" * 500_000,),
}
SERVICES = [*(("3.14", name) for name in ("1 unix", "2 unix", "3", "4 unix")), (NATIVE, "2 tcp")]


@pytest.fixture(params=sample(SERVICES, 2), ids="-".join)
def service(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Serving]:
    """One of every kind of our services."""
    runtime, name = request.param
    with Kind(runtime=runtime, name=name).serving(sandbox, NUM_WORKERS_PER_API_SERVICE=2) as service:
        yield service


def peak_bytes(pid: int) -> int:
    """Its largest resident set so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def test_hostile_clients_cost_a_service_neither_memory_nor_other_clients(service: Serving) -> None:
    service.check_it_answers(PROMPT_S)
    pid = service.child.process.pid
    base_bytes = peak_bytes(pid)
    for mode in sample(list(CLIENTS), 3):
        with ExitStack() as rude:
            for data in CLIENTS[mode]:
                peer = rude.enter_context(service.peer(deadline_s=1.0, receive_buffer_bytes=4096))
                with suppress(OSError):  # the service need not take in all of it
                    peer.send(data)
            service.check_it_answers(PROMPT_S)
        service.check_it_answers(PROMPT_S)
        assert peak_bytes(pid) - base_bytes <= MORE_BYTES, mode
