"""Two busy loops beside a run: its report names them, with how much of the cores they really used."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from analysis.others import others
from lab.run.runtimes import Runtime
from record.run import CellResult
from record.run_file import load
from tests.contract.runs import NEEDS_LINUX, finished, plan_flags

pytestmark = NEEDS_LINUX

CORES = len(os.sched_getaffinity(0))
BUSY, NEEDED = "busy loop", "needed loop"
LOOP = f"""
import os, sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
begun, used = time.perf_counter_ns(), time.process_time_ns()
while os.getppid() == {os.getpid()}:
    if time.process_time_ns() - used < 0.25 * (time.perf_counter_ns() - begun):
        sum(range(100_000))
    else:
        time.sleep(0.002)
    print(time.perf_counter_ns(), time.process_time_ns(), flush=True)
"""


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """When each loop, which wants a quarter of a core, had used how much: the machine may leave it less."""
    logs = {name: tmp_path / name for name in (BUSY, NEEDED)}
    with ExitStack() as stack:
        for name, log in logs.items():
            file = stack.enter_context(log.open("w"))
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", LOOP, name], stdout=file))
            stack.callback(loop.kill)
        yield logs


def really_used(log: Path, cells: Sequence[CellResult]) -> float:
    """Share of the cores that the loop used while the clients of *cells* called."""
    times, used = np.loadtxt(log).T
    spent_ns = wall_ns = 0
    for cell in cells:
        end = max(one["finished_ns"] for one in cell.clients)
        start = min(one["finished_ns"] - one["completion_ns"] for one in cell.clients)
        spent_ns += np.interp(end, times, used) - np.interp(start, times, used)
        wall_ns += end - start
    return float(spent_ns / CORES / wall_ns)


@pytest.mark.alone  # the other tests' processes would be busier
def test_a_busy_loop_is_named_with_its_share_unless_it_is_a_neighbour(
    any_runtime: Runtime, tmp_path: Path, logs: dict[str, Path]
) -> None:
    flags = [*plan_flags(any_runtime), "--duration", "1.5", "--neighbour", NEEDED, "--quiet", "--out", "run"]
    assert finished(flags, tmp_path).status() == 0
    cells = load(tmp_path / "run").cells
    seen = others(cells)
    assert seen
    for name, where, elsewhere in ((BUSY, seen.busiest, seen.neighbours), (NEEDED, seen.neighbours, seen.busiest)):
        assert where[name] == pytest.approx(really_used(logs[name], cells), rel=0.1, abs=0.05)
        assert name not in elsewhere
    assert BUSY in (tmp_path / "run" / "report.html").read_text()
