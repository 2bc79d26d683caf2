"""A service of a user's own on a host, with its files, by an agent of this machine."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from core.method import Method
from core.runtime import NATIVE
from core.system import PATH_KEY
from lab.folders import Sandbox
from lab.hosts.cluster import HostCluster
from lab.hosts.place import UserFiles
from lab.python import uv
from lab.run.measure import measure
from lab.run.measured_runtimes import Native, Runtime, runtime_of
from lab.user_service.service_files import OWN
from record.saved_run import CellResult
from systems import find, load_system
from tests.conftest import native_or_skip
from tests.contract.own_services import ITEMS, planned
from tests.contract.serving import small_cell
from tests.lab.hosts.conftest import LEFT, Measured, at_release, bench_across
from tests.lab.hosts.namespaces import wait_until
from tests.lab.python.fake_pythons import script
from tests.lab.wheels import write_wheel

SERVE = """
import json, runpy, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Echo(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1

    def do_POST(self):
        got = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"stock": open("data/stock.txt").read(), "got": list(got)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

def main():
    ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Echo).serve_forever()
"""


def test_files_are_copied_below_those_of_gilscope_which_no_two_agents_share(
    near: HostCluster, short_folder: Path
) -> None:
    script(short_folder / "run", "true")
    folders = [Path(place.copied(UserFiles(str(short_folder)))[0]) for place in near.connected.values()]
    roots = sorted(folder.parents[1] for folder in folders)
    assert [root.name for root in roots] == ["agent-0", "agent-1"]
    assert not (roots[0] / LEFT).exists()
    assert os.access(folders[0] / OWN / "run", os.X_OK)


def test_native_services_and_clients_run_there(near: HostCluster, sandbox: Sandbox) -> None:
    for program in ("loadgen", "calc-service"):
        native_or_skip(program)
    system = find("4")
    cell = small_cell(system, Native(), NUM_CLIENTS=2, TRANSPORT="tcp")
    result = measure(cell, system, 1, bench_across(near, sandbox, NATIVE))
    assert result.answered == result.requests > 0, str(result.reason)
    assert [(service.host, service.strangers) for service in result.services] == [("a", 0)]


def test_a_system_in_a_users_own_file_runs_there_with_its_folder(
    near: HostCluster, sandbox: Sandbox, any_runtime: Runtime, short_folder: Path
) -> None:
    (short_folder / "mine.py").write_text(
        "from dataclasses import replace\nimport beside\nfrom systems.numbered_systems import SYSTEMS\n"
        "SYSTEM = replace(SYSTEMS[3], number='', name=beside.NAME)\n"
    )
    (short_folder / "beside.py").write_text("NAME = 'mine'")
    system = load_system(short_folder / "mine.py")
    bench = bench_across(near, sandbox, any_runtime.name)
    assert bench.runtimes[any_runtime.name].child_config(system)[PATH_KEY].startswith("files/")
    result = measure(small_cell(system, any_runtime, TRANSPORT="tcp"), system, 1, bench)
    assert result.answered == result.requests > 0, str(result.reason)


@pytest.fixture
def measured(near: HostCluster, sandbox: Sandbox, any_runtime: Runtime, short_folder: Path) -> Measured:
    """Measures a service of a user's own in the folder, under this client's runtime."""
    name = any_runtime.name

    def run(client: str = name, **given: Any) -> CellResult:
        bench = bench_across(near, sandbox, name, NATIVE, client_runtime=client)
        return measure(*planned(short_folder, name, given), 1, bench)

    return run


@pytest.mark.parametrize("client", ["python", NATIVE])
def test_a_service_of_a_users_own_runs_there_with_its_files_packages_and_bodies(
    near: HostCluster, measured: Measured, any_runtime: Runtime, short_folder: Path, client: str
) -> None:
    if uv.find() is None:
        pytest.skip("uv was not found")
    name, body = any_runtime.name, bytes([0, 200, 13, 10, 255])
    (short_folder / "data").mkdir()
    (short_folder / "data/stock.txt").write_text("seven")
    (short_folder / "body.bin").write_bytes(body)
    request = {"request": "POST /", "body_file": "body.bin", "expect_json": f'{{"stock": "seven", "got": {[*body]}}}'}
    if client == NATIVE:
        native_or_skip("loadgen")
        request = {"request": "POST /", "body": "{{user}}", "expect_json": '{"stock": "seven"}'}
    given = {
        "command": "tiny-serve {host} {port}",
        "requirements": str(write_wheel(short_folder, SERVE)),
        "requests": [request],
    }
    cell = measured(client if client == NATIVE else name, **given)
    assert (cell.status, str(cell.reason)) == ("ok", "")
    assert cell.answered == cell.requests > 0
    assert ([service.host for service in cell.services], cell.services[0].processes) == (["a"], 1)
    runtime = near.runtimes([name])[name]
    _, system = planned(short_folder, name, given)
    own_runtime = runtime_of("service", system, {name: runtime}, name, Method())
    assert not own_runtime.child_config(system)["own"]["directory"].startswith(str(short_folder))
    (packages,) = own_runtime.facts().packages.values()
    assert packages["tiny-thing"] == "1.2"


def test_a_service_that_listens_for_everybody_is_refused(measured: Measured, short_folder: Path) -> None:
    (short_folder / "items.py").write_text(ITEMS.replace("127.0.0.1", "0.0.0.0"))
    cell = measured(command="{python} items.py {port} {host}")
    assert cell.status == "failed"
    assert "the command must listen only on 127.0.0.5" in str(cell.reason)


def test_packages_that_no_index_there_has_are_named_with_the_host(measured: Measured, short_folder: Path) -> None:
    (short_folder / "requirements.txt").write_text("--no-index\nno-such-thing==1\n")
    cell = measured(command="{python} -m shop {host} {port}", requirements="requirements.txt")
    assert re.search(r"(?s)^Host a: .*no-such-thing", str(cell.reason))


def test_a_service_of_a_users_own_ends_and_its_files_go_when_its_agent_is_killed(
    near: HostCluster, measured: Measured, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (short_folder / "items.py").write_text(ITEMS.replace('"127.0.0.1"', "sys.argv[2]"))
    (short_folder / ".env").write_text("PASSWORD=x")
    served = Path(near.of_services.copied(UserFiles(str(short_folder)))[0], OWN)

    def runs_there() -> bool:
        return str(served) in map(os.path.realpath, Path("/proc").glob("[0-9]*/cwd"))

    def kill() -> None:
        assert runs_there()
        assert (served / ".env").exists()
        near.of_services.close()

    at_release(monkeypatch, near, before=kill)
    cell = measured(command="{python} items.py {port} {host}")
    assert (cell.status, "host a" in str(cell.reason)) == ("failed", True)
    wait_until(lambda: not runs_there() and not served.exists(), "the service has ended, and its files are removed")
