"""Two agents of this machine, without SSH: what is done to services and clients on their hosts."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from commands import plan, stress
from core.cell import Cell
from core.layout import Host, Layout
from core.messages import BadInput
from core.method import Method
from core.processtree import tree
from lab.folders import Sandbox
from lab.hosts import connection
from lab.hosts.cluster import HostCluster
from lab.hosts.protocol import LEASE_S
from lab.machine.link import ClockOffset
from lab.profile.lock_watcher import obstacle_to
from lab.run.cell_processes import Bench
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from lab.run.profiling import CellProfiler
from lab.run.slow import DEFAULT
from systems import find
from tests.contract.serving import small_cell
from tests.lab.hosts.conftest import SECONDS, bench_across
from tests.tables import each_row


@pytest.fixture(scope="module")
def bench(near: HostCluster, sandbox: Sandbox, any_runtime: Runtime) -> Bench:
    return replace(bench_across(near, sandbox, any_runtime.name, pin_services=(0,)), inside=DEFAULT)


@pytest.fixture(scope="module")
def cell(any_runtime: Runtime) -> Cell:
    return small_cell(find("4"), any_runtime, TRANSPORT="tcp")  # one client: windows of two must overlap


def test_collections_answers_by_time_and_what_disturbs_a_host_are_known_and_requests_are_not_laid_over_them(
    cell: Cell, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agents of the two hosts are processes of this machine, so each sees the other's children as others."""
    monkeypatch.setattr("lab.machine.machine_rules.OTHERS_SHARE", -1.0)
    result = measure(cell, find("4"), 1, bench)
    assert result.answered == result.requests > 0, str(result.reason)
    pauses = result.services[0].pauses
    assert pauses
    assert pauses.processes == 1
    assert sum(result.slices.counts) == result.answered
    assert result.slow == {}
    assert {*result.others} == {"a", "b"}
    assert {one.args["host"] for one in result.disturbances if one.code == "other_processes"} == {"a", "b"}
    assert {*result.hosts} == {"a", "b"}


def test_what_a_service_wrote_comes_whole_however_long_it_is(near: HostCluster) -> None:
    inside = near.inside(DEFAULT)
    folder, content = Path(inside.variables["GILSCOPE_INSIDE"]), os.urandom(3 << 20)
    (folder / "stacks-7").write_bytes(content)
    assert inside.files("stacks", 1 << 24) == {"stacks-7": content}
    assert inside.files("stacks", 1000) == {"stacks-7": content[:1000]}
    inside.remove()
    assert not folder.exists()


def test_the_quickest_trip_tells_the_offset(near: HostCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert abs(near.of_services.offset().offset_ns) < 10**9
    errors_ns = [9, 3, *[7] * (connection.PROBES - 2)]
    monkeypatch.setattr(connection, "estimate", lambda *_: ClockOffset(offset_ns=0, error_ns=errors_ns.pop()))
    assert near.of_services.offset().error_ns == 3


def test_an_agent_goes_on_while_a_child_lives_that_has_closed_both_streams(near: HostCluster) -> None:
    host = near.connected["b"]
    child = host.start(["sh", "-c", "exec >&- 2>&-; exec sleep 1000"], {})
    assert child.read() == b""
    assert child.wait(0.3) is None
    assert host.offset().error_ns < 10**9
    child.kill()
    assert child.wait(LEASE_S) == -signal.SIGKILL
    child.close()


@each_row
def test_a_service_is_profiled_on_its_host(cell: Cell, bench: Bench, tmp_path: Path, kind: str, key: str) -> None:
    if obstacle := obstacle_to(kind):
        pytest.skip(str(obstacle))
    method = replace(bench.method, duration_s=1.0)  # a sampler may have no core for 0.3 s
    profiler = CellProfiler(cell, find("4"), replace(bench, inside={}, method=method), tmp_path)
    assert getattr(profiler, kind)()[key]


def test_pins_are_counted_among_the_cpus_of_the_host(near: HostCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    usable = sorted(os.sched_getaffinity(0))
    assert near.of_services.cpus((0,)) == usable[:1]
    place = near.connected["b"]
    with pytest.raises(BadInput, match=f"pin names CPU {len(usable)}, but host b has only {len(usable)}"):
        place.cpus((len(usable),))
    monkeypatch.setattr(place, "host", replace(place.host, cpus=(7, 5)))
    assert (place.cpus((1,)), place.cpus(())) == ([5], [7, 5])


def test_a_topology_fits_the_services_host_and_what_runs_on_this_machine_alone_refuses_such_a_plan(
    tmp_path: Path, any_runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    """Services have one core on their host, whatever this machine has."""
    file = tmp_path / "plan.yaml"
    file.write_text(
        f"rows: [{{system: 4, topology: cores}}]\nruntimes: ['{any_runtime.name}']\nduration: 1\n"
        "hosts: {a: {via: here, address: 127.0.0.1, cpus: 0}, b: {via: here, address: 127.0.0.1}}\n"
        "services_on: a\nclients_on: [b]\n"
    )
    assert plan.main(["--plan", str(file), "--json"]) == 0
    shapes = [row["params"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert [(shape["NUM_API_SERVICES"], shape["NUM_WORKERS_PER_API_SERVICE"]) for shape in shapes] == [(1, 1), (1, 25)]
    with pytest.raises(BadInput, match="does not work across hosts"):
        stress.main(["--plan", str(file)])


def test_clients_are_on_sixteen_hosts_at_once(sandbox: Sandbox, any_runtime: Runtime) -> None:
    names = "bcdefghijklmnopq"
    hosts = {name: Host(name=name, address="127.0.0.1", via="here") for name in f"a{names}"}
    cell = small_cell(find("4"), any_runtime, TRANSPORT="tcp", NUM_CLIENTS=len(names))
    layout = Layout(hosts=hosts, services_on="a", clients_on=tuple(names))
    with HostCluster(layout, Method(duration_s=SECONDS)) as many:
        result = measure(cell, find("4"), 1, bench_across(many, sandbox, any_runtime.name))
    assert [client.host for client in result.clients] == [*names], str(result.reason)
    assert all(client.answered > 0 for client in result.clients)


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has an idle class")
def test_the_cores_of_each_host_are_held_awake(near: HostCluster) -> None:
    with near.kept_awake():
        assert len(keepers()) == 2 * (1 + len(os.sched_getaffinity(0)))
    assert keepers() == []


def keepers() -> list[int]:
    """Processes below this one that hold cores awake, without their guards."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in tree(os.getpid())}
    return [pid for pid, line in lines.items() if b"wakeups.py" in line and b"guard.py" not in line]
