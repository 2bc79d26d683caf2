"""Lies that are planted in real processes: none of their cells is ok, and each reason says what was found.

A seed decides the size of the cell, when a lie is told, and by how much.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.run.measure import measure
from lab.run.measurement_context import Bench
from record.saved_run import CellResult
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


def check_caught(result: CellResult, expected: str) -> None:
    assert result.status in ("failed", "invalid")
    assert re.search(expected, str(result.reason)), str(result.reason)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_service_whose_port_somebody_else_shares_is_named(seed: int, bench: Bench, tmp_path: Path) -> None:
    """From some request on; tests/lab/run has two services that share one."""
    runtime_or_skip("3.14")
    number = random.Random(seed).randint(2, 8)
    (tmp_path / "shared.py").write_text(SHARED_SERVICE.format(number=number))
    write_services(tmp_path)
    with subprocess.Popen([sys.executable, "-c", THIEF], cwd=tmp_path, stdin=subprocess.PIPE) as thief:
        try:
            asked = {"command": "{python} shared.py {port}"}
            result = measured_own(tmp_path, bench, "3.14", asked, NUM_CONNECTIONS_PER_CLIENT=1)
        finally:
            thief.kill()
    check_caught(result, r"Another process also listens at 127\.0\.0\.1:\d+,")


@pytest.mark.parametrize("seed", SEEDS)
def test_times_that_a_clients_window_has_no_room_for_are_named(
    seed: int, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    runtime, system = runtime_or_skip(chance.choice(["3.11", "3.14", "3.14t"])), find(chance.choice(["1", "2", "4"]))
    command_or_skip(runtime, system, "service")
    doubled = DOUBLED.format(factor=chance.randint(2, 4))
    edits = {doubled: r"as latency\.histogram\.total_ns, .*the total time of the client's workers"}
    for key in ("completion_ns", "finished_ns"):
        edits[f"result[{key!r}] *= 2"] = f"as {key}, but docs/child-contract.md requires a whole"
    edit, expected = chance.choice(list(edits.items()))
    lines = "".join(f"        {line}\n" for line in edit.strip().splitlines())
    patch_children(monkeypatch, "client", EDITED.format(edit=lines))
    slow = {"CALC_TARGET": 5 * chance.randint(100_000, 200_000), "NUM_CLIENTS": 1}  # long beside what is around
    cell = small_cell(system, runtime, NUM_REQUESTS_PER_CLIENT=chance.randint(20, 60), **slow)
    check_caught(measure(cell, system, 1, bench), expected)
