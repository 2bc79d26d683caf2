"""A service of a user's own on a host, with its files, by an agent of this machine."""

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.child import Slice
from core.layout import Host, Layout
from core.method import Method
from core.runtime import NATIVE
from core.system_file import PATH_KEY, load_system
from lab.environments.environment import EnvironmentFailed
from lab.hosts import boot
from lab.hosts import host_tasks as tasks
from lab.hosts.cluster import HostCluster
from lab.python import uv
from lab.run.children import Child
from lab.run.measure import measure
from lab.run.measured_runtimes import Native, Runtime, runtime_of
from lab.run.measurement_context import Bench
from lab.user_service import service_files as files
from record.saved_run import CellResult
from systems import find
from tests.conftest import native_or_skip
from tests.contract.own_services import ITEMS, planned
from tests.contract.serving import small_cell
from tests.lab.hosts.namespaces import wait_until
from tests.lab.wheels import write_wheel

SECONDS = 0.3
ADDRESS = "127.0.0.5"
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


def test_files_are_unpacked_below_those_of_gilscope_which_no_two_agents_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache/gilscope/agent-0/left").mkdir(parents=True)
    places = [Path(boot.own_folder()) for _ in range(2)]
    assert [place.name for place in places] == ["agent-0", "agent-1"]
    assert not any(places[0].iterdir())
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "run").write_text("first")
    (shop / "run").chmod(0o755)
    content, _ = files.user_files({"directory": str(shop), "requirements": "", "packages": ()})
    monkeypatch.setattr(tasks, "REPOSITORY", places[0])
    unpacked = Path(tasks.unpack("shop", b64encode(content).decode(), [])[0])
    assert unpacked.is_relative_to(places[0])
    assert os.access(unpacked / "own/run", os.X_OK)


# ---- services on hosts that are this machine -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def spread(any_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostCluster]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        if uv_program := uv.find():
            patched.setenv("PATH", str(uv_program.parent), prepend=os.pathsep)
        python = (str(any_runtime.interpreter.executable),)
        services = Host(name="a", via="here", address=ADDRESS, python=python)
        clients = replace(services, name="b", address="127.0.0.1")
        layout = Layout(hosts={"a": services, "b": clients}, services_on="a", clients_on=("b",))
        with HostCluster(layout, Method(duration_s=SECONDS)) as spread:
            yield spread


def test_native_services_and_clients_run_there(spread: HostCluster, bench: Bench) -> None:
    for program in ("loadgen", "calc-service"):
        native_or_skip(program)
    system = find("4")
    cell = small_cell(system, Native(), NUM_CLIENTS=2, TRANSPORT="tcp")
    method = Method(duration_s=SECONDS)
    across = replace(bench, runtimes=spread.runtimes([NATIVE]), method=method, inside={}, places=spread)
    result = measure(cell, system, 1, across)
    assert result.answered == result.requests > 0, str(result.reason)
    assert [(service.host, service.strangers) for service in result.services] == [("a", 0)]


def test_a_system_in_a_users_own_file_runs_there_with_its_folder(
    spread: HostCluster, bench: Bench, any_runtime: Runtime, short_folder: Path
) -> None:
    (short_folder / "mine.py").write_text(
        "from dataclasses import replace\nimport beside\nfrom systems.numbered_systems import SYSTEMS\n"
        "SYSTEM = replace(SYSTEMS[3], number='', name=beside.NAME)\n"
    )
    (short_folder / "beside.py").write_text("NAME = 'mine'")
    system = load_system(short_folder / "mine.py")
    runtimes, method = spread.runtimes([str(any_runtime.name)]), Method(duration_s=SECONDS)
    assert runtimes[any_runtime.name].child_config(system)[PATH_KEY].startswith("files/")
    across = replace(bench, runtimes=runtimes, method=method, inside={}, places=spread)
    result = measure(small_cell(system, any_runtime, TRANSPORT="tcp"), system, 1, across)
    assert result.answered == result.requests > 0, str(result.reason)


def measured(spread: HostCluster, bench: Bench, folder: Path, name: str, client: str = "", **given: Any) -> CellResult:
    method = Method(duration_s=SECONDS, client_runtime=client or name)
    across = replace(bench, runtimes=spread.runtimes([name, NATIVE]), method=method, inside={}, places=spread)
    return measure(*planned(folder, name, given), 1, across)


@pytest.mark.parametrize("client", ["", NATIVE], ids=["python", NATIVE])
def test_a_service_of_a_users_own_runs_there_with_its_files_packages_and_bodies(
    spread: HostCluster, bench: Bench, any_runtime: Runtime, short_folder: Path, client: str
) -> None:
    if client:
        native_or_skip("loadgen")
    if uv.find() is None:
        pytest.skip("uv was not found")
    name, body = str(any_runtime.name), bytes([0, 200, 13, 10, 255])
    (short_folder / "data").mkdir()
    (short_folder / "data/stock.txt").write_text("seven")
    (short_folder / "body.bin").write_bytes(body)
    request = {"request": "POST /", "body_file": "body.bin", "expect_json": f'{{"stock": "seven", "got": {[*body]}}}'}
    if client:
        request = {"request": "POST /", "body": "{{user}}", "expect_json": '{"stock": "seven"}'}
    given = {
        "command": "tiny-serve {host} {port}",
        "requirements": str(write_wheel(short_folder, SERVE)),
        "requests": [request],
    }
    cell = measured(spread, bench, short_folder, name, client, **given)
    assert (cell.status, str(cell.reason)) == ("ok", "")
    assert cell.answered == cell.requests > 0
    assert ([service.host for service in cell.services], cell.services[0].processes) == (["a"], 1)
    runtime = spread.runtimes([name])[name]
    _, system = planned(short_folder, name, given)
    own_runtime = runtime_of("service", system, {name: runtime}, name, Method())
    assert not own_runtime.child_config(system)["own"]["directory"].startswith(str(short_folder))
    (packages,) = own_runtime.facts().packages.values()
    assert packages["tiny-thing"] == "1.2"


def test_a_service_that_listens_for_everybody_is_refused(
    spread: HostCluster, bench: Bench, any_runtime: Runtime, short_folder: Path
) -> None:
    (short_folder / "items.py").write_text(ITEMS.replace("127.0.0.1", "0.0.0.0"))
    cell = measured(spread, bench, short_folder, str(any_runtime.name), command="{python} items.py {port} {host}")
    assert cell.status == "failed"
    assert "the command must listen only on 127.0.0.5" in str(cell.reason)


def test_packages_that_no_index_there_has_are_named_with_the_host(
    spread: HostCluster, any_runtime: Runtime, short_folder: Path
) -> None:
    (short_folder / "requirements.txt").write_text("--no-index\nno-such-thing==1\n")
    name = str(any_runtime.name)
    given = {"command": "{python} -m shop {host} {port}", "requirements": "requirements.txt"}
    cell, system = planned(short_folder, name, given)
    runtime = runtime_of("service", system, spread.runtimes([name]), cell.runtime, Method())
    with pytest.raises(EnvironmentFailed, match=r"(?s)^Host a: .*no-such-thing"):
        runtime.command(system, "service")


def test_a_service_of_a_users_own_ends_and_its_files_go_when_its_agent_is_killed(
    spread: HostCluster, bench: Bench, any_runtime: Runtime, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (short_folder / "items.py").write_text(ITEMS.replace('"127.0.0.1"', "sys.argv[2]"))
    (short_folder / ".env").write_text("PASSWORD=x")
    release, folder = spread.release, os.environ["XDG_CACHE_HOME"]
    served: list[str] = []

    def there() -> list[str]:
        links = Path("/proc").glob("[0-9]*/cwd")  # realpath() of one that has ended is its own path
        paths = map(os.path.realpath, links)
        return [path for path in paths if path.startswith(f"{folder}/gilscope/agent-") and "/files/" in path]

    def kill_then_release(clients: Sequence[Child], part: Slice | None = None) -> int:
        served.extend(there())
        assert Path(served[0], ".env").exists()
        spread.connected["a"].close()
        return release(clients, part)

    monkeypatch.setattr(spread, "release", kill_then_release)
    cell = measured(spread, bench, short_folder, str(any_runtime.name), command="{python} items.py {port} {host}")
    assert (cell.status, "host a" in str(cell.reason)) == ("failed", True)
    wait_until(lambda: not there() and not Path(served[0]).exists(), "the service has ended, and its files are removed")
