"""A busy loop beside a run: its report names the loop, with how much of the cores it really used."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from core.result import CellResult, load
from lab.run.runtimes import Runtime
from reports.facts.others import others
from tests.contract.runs import DEADLINE_S, RUNNER, plan_flags

pytestmark = pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux shows other processes")

CORES = len(os.sched_getaffinity(0))
LOOP = f"""
import os, time
open("/proc/self/comm", "w").write("busy loop")
begun, used = time.perf_counter_ns(), time.process_time_ns()
while os.getppid() == {os.getpid()}:
    if time.process_time_ns() - used < 0.4 * (time.perf_counter_ns() - begun):
        sum(range(100_000))
    else:
        time.sleep(0.002)
    print(time.perf_counter_ns(), time.process_time_ns(), flush=True)
"""


@pytest.fixture
def loop_log(tmp_path: Path) -> Iterator[Path]:
    """When the loop, which wants 0.4 of a core, had used how much: the machine may leave it less."""
    log = tmp_path / "log"
    with log.open("w") as file, subprocess.Popen([sys.executable, "-c", LOOP], stdout=file) as loop:
        yield log
        loop.kill()


def really_used(log: Path, cells: Sequence[CellResult]) -> float:
    """Share of the cores that the loop used while the clients of *cells* called."""
    times, used = np.loadtxt(log).T
    windows = [
        (
            min(one["finished_ns"] - one["completion_ns"] for one in cell.clients),
            max(one["finished_ns"] for one in cell.clients),
        )
        for cell in cells
    ]
    spent = sum(np.interp(end, times, used) - np.interp(start, times, used) for start, end in windows)
    return float(spent / CORES / sum(end - start for start, end in windows))


@pytest.mark.alone  # the other tests' processes would be busier
@pytest.mark.parametrize("flags", [(), ("--neighbour", "busy loop")])
def test_a_busy_loop_is_named_with_its_share_unless_it_is_a_neighbour(
    flags: tuple[str, ...], any_runtime: Runtime, tmp_path: Path, loop_log: Path
) -> None:
    out = tmp_path / "run"
    plan = [*plan_flags(any_runtime), "--blocks", "2", "--duration", "1.5", *flags, "--quiet", "--out", str(out)]
    subprocess.run([sys.executable, str(RUNNER), *plan], check=True, timeout=DEADLINE_S, stdout=subprocess.DEVNULL)
    cells = load(out).cells
    seen = others(cells)
    assert seen
    where, elsewhere = (seen.neighbours, seen.busiest) if flags else (seen.busiest, seen.neighbours)
    assert where["busy loop"] == pytest.approx(really_used(loop_log, cells), rel=0.1, abs=0.05)
    assert "busy loop" not in elsewhere
    assert "busy loop" in (out / "report.html").read_text()
