"""How long statistics and report take for a large run: 13 settings, 4 runtimes and A/A, 20 blocks, from a saved run.

Usage: python -m benchmarks.report_time RUN
"""

import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from core.languages import ENGLISH
from core.result import CellResult, Run, load
from reports.render.console import terminal
from reports.render.terminal import print_section
from reports.sections import sections
from reports.view import View
from reports.write import write_all

SETTINGS, BLOCKS = 13, 20
RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")
ARMS = {**{name: name for name in RUNTIMES}, "3.14t again": "3.14t"}


def main() -> None:
    """Print seconds for each step."""
    run = enlarged(load(Path(sys.argv[1])))
    times = {"start": perf_counter()}
    view = View(run)
    run.comparisons = [comparison.to_json() for comparison in view.comparisons]
    times["comparisons"] = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        write_all(view, Path(folder))
    times["write_all"] = perf_counter()
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        for section in sections(view):
            print_section(section, terminal(nowhere), ENGLISH)
    times["print"] = perf_counter()
    marks = list(times.values())
    for name, begin, end in zip(list(times)[1:], marks, marks[1:], strict=False):
        print(f"{name:12} {end - begin:6.2f} s")
    print(f"{'all':12} {marks[-1] - marks[0]:6.2f} s for {len(run.cells)} cells")


def enlarged(run: Run) -> Run:
    """*run* with its first cell that is ok in every setting, arm and block, each with some noise."""
    model = next(cell for cell in run.cells if cell.status == "ok")
    params = [{**model.params, "NUM_WORKERS_PER_API_SERVICE": number} for number in range(1, SETTINGS + 1)]
    noise = random.Random(0)
    cells = [
        _noisy(replace(model, params=one, arm=arm, runtime=runtime, block=block), noise)
        for block in range(1, BLOCKS + 1)
        for one in params
        for arm, runtime in ARMS.items()
    ]
    rows = [{"system": model.system, "params": one} for one in params]
    facts = {name: next(iter(run.runtimes.values())) for name in RUNTIMES}
    plan = {**run.plan, "rows": rows, "runtimes": list(RUNTIMES), "blocks": BLOCKS}
    return replace(run, cells=cells, plan=plan, runtimes=facts)


def _noisy(cell: CellResult, noise: random.Random) -> CellResult:
    factor = noise.lognormvariate(0, 0.05)
    clients = [{**one, "completion_ns": round(one["completion_ns"] * factor)} for one in cell.clients]
    return replace(cell, clients=clients, wall_ns=round(cell.wall_ns * factor))


if __name__ == "__main__":
    main()
