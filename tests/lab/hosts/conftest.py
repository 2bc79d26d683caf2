"""Three hosts for all tests of this folder, and a HostCluster over them; another over agents of this machine."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from config.run_plan import Entry
from core.layout import Host, Layout
from core.method import Method
from lab.folders import Sandbox
from lab.hosts import connection
from lab.hosts.cluster import HostCluster
from lab.python import uv
from lab.run.cell_processes import Bench, key_of
from lab.run.cell_results import Pace
from lab.run.measure import measure, measure_in_slices
from lab.run.measured_runtimes import Runtime
from record.saved_run import CellResult
from systems import find
from tests.contract.serving import small_cell
from tests.lab.hosts.namespaces import Lab, python_path, why_not

Measured: TypeAlias = Callable[..., CellResult]
SECONDS = 0.4
LEFT = "left"  # of an agent that has ended


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """A busy machine may take longer to start an agent than a user is to wait for a host."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "CONNECT_S", 60.0)
        yield


@pytest.fixture(scope="session")
def lab(any_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Hosts a, b, c; b's clock is an hour ahead, c's half an hour behind."""
    reason = why_not()
    if reason:
        pytest.skip(f"{reason}; what needs no namespaces is tested with agents of this machine")
    path = python_path(any_runtime.interpreter.executable)
    lab = Lab(folder=tmp_path_factory.mktemp("lab"), path=path)
    with pytest.MonkeyPatch.context() as patched, closing(lab):
        lab.make()
        patched.setenv("PATH", str(lab.programs), prepend=os.pathsep)
        yield lab


@pytest.fixture(scope="module")
def spread(lab: Lab) -> Iterator[HostCluster]:
    """The hosts, connected by ssh: services on a, clients on b and c."""
    layout = Layout(hosts={name: lab.host(name) for name in lab.machines}, services_on="a", clients_on=("b", "c"))
    with HostCluster(layout, Method(duration_s=SECONDS)) as spread:
        yield spread


@pytest.fixture(scope="module")
def near(any_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostCluster]:
    """Agents of this machine, without SSH: services on a, clients on b."""
    with pytest.MonkeyPatch.context() as patched:
        cache = tmp_path_factory.mktemp("cache")
        (cache / "gilscope/agent-0" / LEFT).mkdir(parents=True)
        patched.setenv("XDG_CACHE_HOME", str(cache))
        if uv_program := uv.find():
            patched.setenv("PATH", str(uv_program.parent), prepend=os.pathsep)
        python = (str(any_runtime.interpreter.executable),)
        services = Host(name="a", via="here", address="127.0.0.5", python=python)
        clients = replace(services, name="b", address="127.0.0.1")
        layout = Layout(hosts={"a": services, "b": clients}, services_on="a", clients_on=("b",))
        with HostCluster(layout, Method(duration_s=SECONDS)) as near:
            yield near


def bench_across(spread: HostCluster, sandbox: Sandbox, *names: str, **method: Any) -> Bench:
    """What measures cells of these runtimes across the hosts."""
    settings = Method(**{"duration_s": SECONDS, **method})
    return Bench(sandbox=sandbox, runtimes=spread.runtimes(names), method=settings, inside={}, places=spread)


def at_release(
    monkeypatch: pytest.MonkeyPatch,
    spread: HostCluster,
    before: Callable[[], object] = lambda: None,
    after: Callable[[int], object] = lambda released_ns: None,
) -> None:
    """Let functions be called before and after the clients of a cell are released."""
    release = spread.release

    def release_between(*asked: Any) -> int:
        before()
        released_ns = release(*asked)
        after(released_ns)
        return released_ns

    monkeypatch.setattr(spread, "release", release_between)


@pytest.fixture(scope="module")
def measured(spread: HostCluster, sandbox: Sandbox, any_runtime: Runtime) -> Measured:
    """Measures a cell of a system across the hosts."""
    bench = bench_across(spread, sandbox, any_runtime.name)

    def run(number: str = "4", arms: int = 1, **params: object) -> CellResult:
        """The last of so many arms, which take turns."""
        system = find(number)
        cell = small_cell(system, any_runtime, **{"NUM_CLIENTS": 2, "TRANSPORT": "tcp", **params})
        if arms == 1:
            return measure(cell, system, 1, bench)
        entries = [Entry(arm=f"arm {number}", cell=cell, system=system) for number in range(arms)]
        paces = {key_of(entry): Pace(cycle_ns=10**6, tail_ns=10**6) for entry in entries}  # slices, however busy
        return measure_in_slices(entries, 1, replace(bench, paces=paces), 7)[-1]

    return run
