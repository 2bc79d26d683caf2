"""Lies that are planted in real processes: none of their cells is ok, and each reason says what was found.

A seed decides the size of the cell, who lies, when, and by how much.
"""

import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.result import CellResult
from lab.run.cell_run import Bench
from lab.run.measure import measure
from lab.run.runtimes import Runtime
from systems import find
from tests.campaign.sizes import SEED, size
from tests.conftest import runtime_or_skip
from tests.contract.own_services import measured as measured_own
from tests.contract.own_services import write_services
from tests.contract.serving import command_or_skip, small_cell
from tests.contract.test_systems import patch_children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc, SO_REUSEPORT")
SEEDS = range(SEED, SEED + size(1, 20))

EDITED = """
import core.child
_print = core.child._print_line
def edited(message):
    if "result" in message:
        result = message["result"]
{edit}
    _print(message)
core.child._print_line = edited
"""
DOUBLED = """
from core.histogram import Histogram, bounds_ns
latency = Histogram()
for bucket, number in Histogram.from_json(result["latency"]).filled():
    for _ in range(number):
        latency.record(sum(bounds_ns(bucket)) * {factor} // 2)
result["latency"] = latency.to_json()
"""
ONE_MORE = """
from core.histogram import Histogram
latency = Histogram.from_json(result["latency"])
latency.record(latency.min_ns)
result |= {"latency": latency.to_json(), "answered": result["answered"] + 1, "requests": result["requests"] + 1}
"""
DROPPED = """
import itertools, socket
numbers = itertools.count(1)
_send = socket.socket.send
def send(self, data, *flags):
    if len(data) < 8 or next(numbers) != {number}:
        return _send(self, data, *flags)
    {then}
    return len(data)
socket.socket.send = send
"""
IMPATIENT = "import clients.drive; clients.drive.CallerClient.run.__defaults__ = (2.0,)"
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


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where a lie is told."""

    chance: random.Random
    bench: Bench
    folder: Path
    patch: pytest.MonkeyPatch

    def cell(self, runtime: Runtime, **params: Any) -> CellResult:
        """A cell of one of our systems, of a size that the seed decides."""
        system = find(self.chance.choice(["1", "2", "4"]))
        command_or_skip(runtime, system, "service")
        size = {"NUM_REQUESTS_PER_CLIENT": self.chance.randint(20, 60), "NUM_CLIENTS": self.chance.randint(1, 3)}
        return measure(small_cell(system, runtime, **{**size, **params}), system, 1, self.bench)

    def edit(self, role: str, edit: str) -> None:
        """From now on the last line of every child of that role is edited."""
        lines = "".join(f"        {line}\n" for line in edit.strip().splitlines())
        patch_children(self.patch, role, EDITED.format(edit=lines))


def duplicate_port(stage: Stage) -> tuple[CellResult, str]:
    """Somebody else shares a service's port, from some request on; tests/lab/run has two services that share one."""
    runtime_or_skip("3.14")
    (stage.folder / "shared.py").write_text(SHARED_SERVICE.format(number=stage.chance.randint(2, 8)))
    write_services(stage.folder)
    with subprocess.Popen([sys.executable, "-c", THIEF], cwd=stage.folder, stdin=subprocess.PIPE) as thief:
        try:
            asked = {"command": "{python} shared.py {port}"}
            result = measured_own(stage.folder, stage.bench, "3.14", asked, NUM_CONNECTIONS_PER_CLIENT=1)
        finally:
            thief.kill()
    return result, r"Another process also listens at 127\.0\.0\.1:\d+,"


def answer_dropped(stage: Stage) -> tuple[CellResult, str]:
    """A service drops one, and closes or not; or somebody says that there was one more, or one less."""
    runtime = runtime_or_skip(stage.chance.choice(["3.11", "3.14", "3.14t"]))
    lie = stage.chance.choice(["closed", "swallowed", "client", "service"])
    if lie == "service":
        stage.edit("service", f"result['requests'] += {stage.chance.choice([-1, 1])}")
        return stage.cell(runtime), "The services counted"
    if lie == "client":
        stage.edit("client", ONE_MORE)
        return stage.cell(runtime), "The services counted"
    then = "self.shutdown(2)" if lie == "closed" else "pass"
    patch_children(stage.patch, "service", DROPPED.format(number=stage.chance.randint(1, 20), then=then))
    patch_children(stage.patch, "client", IMPATIENT)
    return stage.cell(runtime), r"requests? w(as|ere) not answered; errors: \d+ x (closed|timeout)"


def latency_doubled(stage: Stage) -> tuple[CellResult, str]:
    """A client tells times that its window has no room for."""
    runtime = runtime_or_skip(stage.chance.choice(["3.11", "3.14", "3.14t"]))
    slow = {"CALC_TARGET": 5 * stage.chance.randint(100_000, 200_000), "NUM_CLIENTS": 1}  # long beside what is around
    lie = stage.chance.choice(["completion", "end", "latency"])
    if lie == "latency":
        stage.edit("client", DOUBLED.format(factor=stage.chance.randint(2, 4)))
        return stage.cell(runtime, **slow), r"as latency\.histogram\.total_ns, .*the time that its workers had"
    key = {"completion": "completion_ns", "end": "finished_ns"}[lie]
    stage.edit("client", f"result[{key!r}] *= 2")
    return stage.cell(runtime, **slow), rf"as {key}, but the child contract requires a whole number from"


LIES: tuple[Callable[[Stage], tuple[CellResult, str]], ...] = (
    duplicate_port,
    answer_dropped,
    latency_doubled,
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: str(lie.__name__))
@pytest.mark.parametrize("seed", SEEDS)
def test_a_lie_is_caught_and_named(
    lie: Callable[[Stage], tuple[CellResult, str]],
    seed: int,
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage(chance=random.Random(f"{seed} {lie.__name__}"), bench=bench, folder=tmp_path, patch=monkeypatch)
    result, expected = lie(stage)
    assert result.status in ("failed", "invalid")
    assert re.search(expected, str(result.reason)), str(result.reason)
