"""Compare the scatter of ratios between blocks with slices and sequential blocks, in alternating
runs of equal length.

Usage: python -m benchmarks.slices_and_sequential [--only NAMES] [--repeats 3] [--blocks 8]
    [--duration 1] [--neighbour]

runner.py measures each case with --order slices and --order sequential in turn. The benchmark
prints the throughput ratio with its interval, the standard deviation between blocks, and how often
the intervals of a pair of runs overlap. With --neighbour, another process keeps a core busy for up
to 10 s, pauses for up to 10 s, and so on.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import mean, variance

from analysis.pairs import pairs
from analysis.stats import Estimate, effect
from benchmarks.bench import in_turns, options, print_table, run_of
from config.plan_options import ORDERS
from reports.document import estimate

HTML = (
    "'<table>' + ''.join(f'<tr><td>{row}</td><td>{row * row}</td></tr>' for row in range(40))"
    " + '</table>'"
)
STARLETTE = f"""import starlette.applications, starlette.responses, starlette.routing
async def page(request):
    return starlette.responses.HTMLResponse({HTML})
app = starlette.applications.Starlette(routes=[starlette.routing.Route('/', page)])
"""
APP = "--app page:app --server uvicorn --requirements needs.txt"
SYSTEMS = ("2", "4")
SIZES = ("--num-api-services", "1", "--num-clients", "4")


def flags(case: str, folder: Path) -> list[str]:
    """Return the flags of runner.py for *case*. The source of an application is written to
    *folder*.
    """
    if case in SYSTEMS:
        return ["--system", case, *SIZES]
    (folder / "page.py").write_text(STARLETTE)
    (folder / "needs.txt").write_text("starlette")
    return ["--request", "GET /", *APP.split()]


def ratios(words: list[str], folder: Path, order: str) -> Mapping[int, float]:
    """Run runner.py in *folder*, and return the log-ratios by block. Raises ChildFailed if the run
    fails.
    """
    return pairs(run_of(*words, "--order", order, folder=folder))[0].ratios


def row(case: str, words: list[str], repeats: int, folder: Path) -> list[str]:
    """Measure a case, alternating runs of both orders, and return its row of the table."""
    runs = in_turns(repeats, {order: partial(ratios, words, folder, order) for order in ORDERS})
    effects: dict[str, list[Estimate]] = {}
    deviations: dict[str, float] = {}
    for order, of_order in runs.items():
        effects[order] = [effect(list(run.values())) for run in of_order]
        deviations[order] = sqrt(mean(variance(run.values()) for run in of_order))
    agree = sum(
        max(one.low, other.low) <= min(one.high, other.high)
        for one, other in zip(*effects.values(), strict=True)
    )
    cells = [case]
    for order in ORDERS:
        found = effect([value for run in runs[order] for value in run.values()])
        cells += [estimate(found.ratio, "{:.3f}".format), f"{100 * deviations[order]:.1f} %"]
    return [*cells, f"{deviations[ORDERS[1]] / deviations[ORDERS[0]]:.1f}", f"{agree} of {repeats}"]


# A process that is busy and idle in turn, for random times below 10 s each, until its parent has
# ended.
NEIGHBOUR = """
import os, random, time
parent = os.getppid()
while os.getppid() == parent:
    busy_until = time.perf_counter() + 10 * random.random()
    while time.perf_counter() < busy_until:
        pass
    time.sleep(10 * random.random())
"""


@contextmanager
def neighbour() -> Iterator[None]:
    """Keep the neighbour process running."""
    process = subprocess.Popen([sys.executable, "-c", NEIGHBOUR])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Print a Markdown table with a row for each case."""
    given = options(
        __doc__,
        only=",".join(("starlette", *SYSTEMS)),
        runtimes="3.14,3.14t",
        repeats=3,
        blocks=8,
        duration=1.0,
        neighbour=False,
    )
    sizes = f"--blocks {given.blocks} --duration {given.duration} --warmup 0.2s"
    method = f"--runtime {given.runtimes} {sizes}".split()
    with tempfile.TemporaryDirectory() as place, neighbour() if given.neighbour else nullcontext():
        folder = Path(place)
        print_table(
            "case | slices: ratio | sd | sequential: ratio | sd | sd, times | agree",
            (
                row(case, [*flags(case, folder), *method], given.repeats, folder)
                for case in given.only.split(",")
            ),
        )


if __name__ == "__main__":
    main()
