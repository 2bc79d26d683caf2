"""Services under limits of CPU time and memory, with the kernel's own control groups."""

import os
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL

import pytest

from analysis.metrics import cpu_ns
from core.messages import BadInput
from core.method import Method
from lab.folders import Sandbox
from lab.run.cell_processes import Bench
from lab.run.control_groups import service_group
from lab.run.measured_runtimes import Runtime
from record.run_file import load
from tests.contract.runs import SERVICE, UNREPORTED, Run, finished, is_client, plan_flags, service_flags, started
from tests.contract.test_systems import measured

LIMITS = ("--cpus", "0.5", "--memory", "512MB")
FILES = {  # docs.kernel.org: v1, then v2
    "cpu.cfs_quota_us": "50000",
    "memory.limit_in_bytes": "512000000",
    "cpu.max": "50000 100000",
    "memory.max": "512000000",
}
HUNGRY = """
import os, runpy, sys
try:
    open("first", "x").close()
    hog = bytearray(os.urandom(1 << 20)) * 300
except FileExistsError:
    pass
runpy.run_path("items.py", run_name="__main__")
"""


@pytest.fixture(autouse=True)
def _enforced(sandbox: Sandbox) -> None:
    try:
        with service_group(Method(limit_cpus=0.5, limit_memory_bytes=512_000_000), sandbox, "try"):
            pass
    except BadInput as error:
        pytest.skip(f"no control group can be made here: {error}")


def groups_of(pid: int) -> list[Path]:
    """The folders of the groups of gilscope that a process is in. Source: cgroups(7)."""
    lines = [line.split(":") for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    ours = [(controllers, path) for _, controllers, path in lines if "/gilscope-" in path]
    return [Path("/sys/fs/cgroup", controllers, path.lstrip("/")) for controllers, path in ours]


@pytest.mark.parametrize("service", [SERVICE, "family.py"])
def test_a_service_and_its_children_are_limited_its_clients_are_not_and_a_kill_leaves_no_group(
    any_runtime: Runtime, folder: Path, service: str
) -> None:
    flags = plan_flags(any_runtime) if service == SERVICE else service_flags(any_runtime, "family.py {port}")
    with started([*flags, "--duration", "60", *LIMITS], folder) as run:
        groups = _groups_while_calling(run, service)
        told = {
            name: (group / name).read_text().strip() for group in groups for name in FILES if (group / name).exists()
        }
        assert told.items() <= FILES.items()
        assert len(told) == 2
        run.signal(SIGKILL)
        run.status()
        assert run.leaves_nothing()
    assert not any(group.exists() for group in groups)


def _groups_while_calling(run: Run, service: str) -> set[Path]:
    children = run.wait_until_calling()
    by_pid = {pid: groups_of(pid) for pid in children}
    services = {pid for pid, line in children.items() if service in line}
    assert len(services) == (1 if service == SERVICE else 2)
    assert any(map(is_client, children.values()))
    assert {pid for pid, groups in by_pid.items() if groups} == services
    return {group for groups in by_pid.values() for group in groups}


def test_a_service_that_exceeds_its_memory_costs_its_cell_and_the_run_goes_on(
    any_runtime: Runtime, folder: Path
) -> None:
    (folder / "hungry.py").write_text(HUNGRY)
    sizes = ["--num-requests-per-client", "10", "--duration", "0", "--blocks", "2", "--out", "run", "--quiet"]
    flags = service_flags(any_runtime, "hungry.py {port}", *sizes, "--memory", "150MB")
    run = finished(flags, folder, script=UNREPORTED)
    assert (run.status(), run.leaves_nothing()) == (1, True)
    failed, good = load(folder / "run").cells
    assert str(failed.reason) == "The service exceeded its memory limit of 150 MB."
    assert (good.status, good.answered) == ("ok", 10)


def test_a_limit_that_lets_no_process_start_is_refused_before_anything_is_measured(
    any_runtime: Runtime, short_folder: Path
) -> None:
    run = finished([*plan_flags(any_runtime), "--memory", "0.1MB", "--out", "run"], short_folder)
    assert (run.status(), run.leaves_nothing()) == (2, True)
    assert "--cpus and --memory cannot be enforced here: " in run.complained()
    assert not (short_folder / "run").exists()


def test_what_the_group_throttles_is_counted_and_named(any_runtime: Runtime, bench: Bench) -> None:
    method = Method(duration_s=1.0, limit_cpus=0.2)
    _, result = measured("2", any_runtime, replace(bench, method=method), NUM_CLIENTS=2, CALC_TARGET=100_000)
    (service,) = result.services
    assert result.status == "ok"
    assert (cpu_ns([service]) or 0) < 0.5 * result.wall_ns
    assert (result.machine["quota_stalled_ns"] or 0) > 0.1 * result.wall_ns
    assert "quota" in [one.code for one in result.disturbances]
    assert not any("gilscope-" in name for name in os.listdir("/sys/fs/cgroup"))
