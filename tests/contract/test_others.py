"""Programs beside a run, each of which knows what it used: the run says the same of it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from analysis.others import others
from lab.run.measured_runtimes import Runtime
from record.run_file import load
from record.saved_run import CellResult
from tests.contract.runs import NEEDS_LINUX, finished, runtime_flags
from tests.contract.test_beside import write_plan

pytestmark = NEEDS_LINUX

CORES = len(os.sched_getaffinity(0))
BUSY, NEEDED, BESIDE = "busy loop", "needed loop", "loop beside"
LOOP = """
import os, socket, sys, time
name, *ports = sys.argv[1:]
open("/proc/self/comm", "w").write(name)
held = [socket.create_server(("127.0.0.1", int(port))) for port in ports]
begun, used, parent = time.perf_counter_ns(), time.process_time_ns(), os.getppid()
with open(name, "w") as log:
    while os.getppid() == parent:
        if time.process_time_ns() - used < 0.25 * (time.perf_counter_ns() - begun):
            sum(range(100_000))
        else:
            time.sleep(0.002)
        print(time.perf_counter_ns(), time.process_time_ns(), flush=True, file=log)
"""


def used_ns(log: Path, cells: Sequence[CellResult]) -> list[float]:
    """CPU time of the loop, which wants a quarter of a core, while the clients of each cell called."""
    times, used = np.loadtxt(log).T
    ends = [max(one.finished_ns for one in cell.clients) for cell in cells]
    starts = [end - cell.wall_ns for end, cell in zip(ends, cells, strict=True)]
    return list(np.interp(ends, times, used) - np.interp(starts, times, used))


@pytest.mark.alone  # the other tests' processes would be busier
def test_a_busy_loop_is_named_unless_it_is_a_neighbour_and_a_program_of_ones_own_is_counted(
    any_runtime: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    write_plan(tmp_path, {"name": BESIDE, "command": f"{sys.executable} loop.py '{BESIDE}' {{port}}"}, duration="1")
    flags = ["--plan", "plan.yaml", *runtime_flags(any_runtime), "--neighbour", NEEDED, "--quiet", "--out", "run"]
    with ExitStack() as loops:
        for name in (BUSY, NEEDED):
            loop = loops.enter_context(subprocess.Popen([sys.executable, "loop.py", name], cwd=tmp_path))
            loops.callback(loop.kill)
        run = finished(flags, tmp_path)
    assert (run.status(), run.said()) == (0, "run\n")
    cells = load(tmp_path / "run").cells
    seen = others(cells)
    assert seen
    wall_ns = sum(cell.wall_ns for cell in cells)
    for name, where, elsewhere in ((BUSY, seen.busiest, seen.neighbours), (NEEDED, seen.neighbours, seen.busiest)):
        share = sum(used_ns(tmp_path / name, cells)) / CORES / wall_ns
        assert where[name] == pytest.approx(share, rel=0.1, abs=0.05)
        assert name not in elsewhere
    counted_ns = [cell.beside[BESIDE] for cell in cells]
    assert counted_ns == pytest.approx(used_ns(tmp_path / BESIDE, cells), rel=0.1, abs=20e6)
    assert BUSY in (tmp_path / "run" / "report.html").read_text()
