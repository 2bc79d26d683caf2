"""How long report.html of a full record takes and how large it is: every cell of config/record.yaml, made up.

Usage: python -m benchmarks.page_time [--blocks N]
The bars are those of the page's issue: 5 s and 3 MB.
"""

import argparse
import os
import random
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from config.load import load_experiment
from core.cell import Cell
from core.histogram import Histogram
from core.languages import ENGLISH
from core.result import CellResult, Run
from reports.render.console import terminal
from reports.render.html import page
from reports.render.terminal import print_section
from reports.report import report
from reports.sections import sections
from reports.view import View
from reports.write import write_all

MOST_S, MOST_BYTES = 5.0, 3_000_000
SAMPLES = 20_000
FACTORS = {"3.11": 1.0, "3.14": 0.95, "3.14t+gil": 1.05, "3.14t": 0.7}


def main() -> None:
    """Print seconds for the report and for its page, the page's size, and what the rest of a run's end takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, help="as the plan has them, if it is not given")
    run = record(parser.parse_args().blocks)
    begin = perf_counter()
    view = View(run)
    document = report(view)
    made = perf_counter()
    size = len(page(document, ENGLISH).encode())
    end = perf_counter()
    print(f"{len(run.cells)} cells: report {made - begin:.2f} s, page {end - made:.2f} s (bar {MOST_S:g} s in all)")
    print(f"size {size / 1e6:.2f} MB (bar {MOST_BYTES / 1e6:g} MB)")
    with tempfile.TemporaryDirectory() as folder:
        write_all(view, Path(folder))
    written = perf_counter()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        for section in sections(view):
            print_section(section, terminal(nowhere), ENGLISH)
    print(f"all files {written - end:.2f} s, terminal {perf_counter() - written:.2f} s")


def record(blocks: int | None = None) -> Run:
    """A run of the record's plan with so many blocks, and figures that are the same each time."""
    plan, chance = load_experiment("record"), random.Random(1)
    plan = replace(plan, blocks=blocks or plan.blocks)
    cells = [_measured(cell, block, chance) for block in range(1, plan.blocks + 1) for cell in plan.cells()]
    return Run(
        run_id="made-up-record",
        started_at="2026-01-01T00:00:00+00:00",
        seed=1,
        command=["runner.py", "--experiment", "record"],
        plan=plan.to_json(),
        machine={"cpu": "made up", "cores": 20},
        runtimes={name: {"version": name, "flags": {}} for name in plan.runtimes},
        cells=cells,
    )


def _measured(cell: Cell, block: int, chance: random.Random) -> CellResult:
    middle_ns = 5e9 * FACTORS.get(cell.runtime, 1.0) * chance.uniform(0.95, 1.05)
    latency = Histogram()
    for _ in range(SAMPLES):
        latency.record(round(chance.lognormvariate(14, 0.8)))
    usage = {"cpu_user_ns": 10**9, "cpu_system_ns": 10**8, "max_rss_bytes": 2**24, "pss_bytes": 2**23}
    times_ns = [round(middle_ns * chance.uniform(0.9, 1.1)) for _ in range(cell.num_clients)]
    return CellResult(
        cell_id=cell.cell_id,
        system=cell.system,
        runtime=cell.runtime,
        arm=cell.runtime,
        block=block,
        params=cell.params,
        status="ok",
        wall_ns=max(times_ns),
        requests=cell.requests,
        answered=cell.requests,
        latency=latency.to_json(),
        waiting=latency.to_json(),
        calc_ns=cell.requests * 24_000,
        clients=[{"client_id": place, "completion_ns": one, **usage} for place, one in enumerate(times_ns)],
        services=[{"service_id": place, "requests": 1, **usage} for place in range(cell.num_api_services)],
    )


if __name__ == "__main__":
    main()
