"""Compare the scatter of ratios between blocks with slices and sequential blocks, in alternating runs of equal length.

Usage: python -m benchmarks.slices [--only NAMES] [--repeats 3] [--blocks 8] [--duration 1] [--neighbour]

runner.py measures each case with --order slices and --order sequential in turn. The benchmark prints the throughput
ratio with its interval, the standard deviation between blocks, and how often the intervals of a pair of runs overlap.
With --neighbour, another process keeps a core busy for up to 10 s, pauses for up to 10 s, and so on.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from math import exp, sqrt
from pathlib import Path
from statistics import mean, variance

from benchmarks.bench import options, print_table
from config.plan_options import ORDERS
from core.errors import ChildFailed
from core.result import load
from lab.places import REPOSITORY
from reports.document.model import interval
from reports.facts.pairs import pairs
from reports.statistics.stats import effect

HTML = "'<table>' + ''.join(f'<tr><td>{row}</td><td>{row * row}</td></tr>' for row in range(40)) + '</table>'"
FLASK = f"import flask\napp = flask.Flask(__name__)\n@app.get('/')\ndef page():\n    return {HTML}\n"
DJANGO = f"""import django.conf, django.http, django.urls, django.core.wsgi
django.conf.settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=['*'], SECRET_KEY='none')
urlpatterns = [django.urls.path('', lambda request: django.http.HttpResponse({HTML}))]
app = django.core.wsgi.get_wsgi_application()
"""
STARLETTE = f"""import starlette.applications, starlette.responses, starlette.routing
async def page(request):
    return starlette.responses.HTMLResponse({HTML})
app = starlette.applications.Starlette(routes=[starlette.routing.Route('/', page)])
"""
APPS = {"flask": (FLASK, "flask", "gunicorn"), "django": (DJANGO, "Django", "gunicorn"),
        "starlette": (STARLETTE, "starlette", "uvicorn")}  # fmt: skip
SYSTEMS = ("2", "4")
SIZES = ("--num-api-services", "1", "--num-clients", "4")


def flags(case: str, folder: Path) -> list[str]:
    """Return the flags of runner.py for *case*. The source of an application is written to *folder*."""
    if case in SYSTEMS:
        return ["--system", case, *SIZES]
    source, package, server = APPS[case]
    (folder / f"{case}_page.py").write_text(source)
    (folder / f"{case}.txt").write_text(package)
    return ["--app", f"{case}_page:app", "--server", server, "--requirements", f"{case}.txt", "--request", "GET /"]


def ratios(words: list[str], folder: Path, order: str) -> Mapping[int, float]:
    """Run runner.py, and return the log-ratios by block. Raises ChildFailed if the run fails."""
    with tempfile.TemporaryDirectory() as out:
        command = [
            sys.executable,
            str(REPOSITORY / "runner.py"),
            *words,
            "--order",
            order,
            "--quiet",
            "--out",
            f"{out}/run",
        ]
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
        found = pairs(load(Path(out) / "run"))[0].ratios if done.returncode == 0 else {}
    if not found:
        raise ChildFailed(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return found


def row(case: str, words: list[str], repeats: int, folder: Path) -> list[str]:
    """Measure a case, alternating runs of both orders, and return its row of the table."""
    runs: dict[str, list[Mapping[int, float]]] = {order: [] for order in ORDERS}
    for repeat in range(repeats):
        for order in ORDERS[:: -1 if repeat % 2 else 1]:
            runs[order].append(ratios(words, folder, order))
    effects = {order: [effect(list(run.values())) for run in of_order] for order, of_order in runs.items()}
    agree = sum(
        max(one.low, other.low) <= min(one.high, other.high) for one, other in zip(*effects.values(), strict=True)
    )
    deviations = {order: sqrt(mean(variance(run.values()) for run in of_order)) for order, of_order in runs.items()}
    cells = [case]
    for order in ORDERS:
        found = effect([value for run in runs[order] for value in run.values()])
        text = interval(exp(found.value), exp(found.low), exp(found.high), "{:.3f}".format, is_range=found.is_range)
        cells += [text, f"{100 * deviations[order]:.1f} %"]
    return [*cells, f"{deviations[ORDERS[1]] / deviations[ORDERS[0]]:.1f}", f"{agree} of {repeats}"]


# A process that is busy and idle in turn, for random times below 10 s each, until its parent has ended.
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
        only=",".join((*APPS, *SYSTEMS)),
        runtimes="3.14,3.14t",
        repeats=3,
        blocks=8,
        duration=1.0,
        neighbour=False,
        more="",
    )
    sizes = f"--blocks {given.blocks} --duration {given.duration} --warmup 0.2s"
    method = f"--runtime {given.runtimes} {sizes} {given.more}".split()
    with tempfile.TemporaryDirectory() as place, neighbour() if given.neighbour else nullcontext():
        folder = Path(place)
        print_table(
            "case | slices: ratio | sd | sequential: ratio | sd | sd, times | agree",
            (row(case, [*flags(case, folder), *method], given.repeats, folder) for case in given.only.split(",")),
        )


if __name__ == "__main__":
    main()
