"""All plots of a run, made and saved as SVG and PNG."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from core.result import Run
from reports.contests import league
from reports.plots import http_clients, memory, scaling
from reports.plots.completion import completion_figure
from reports.plots.contest_sweep import contest_sweep_figure, swept
from reports.plots.latency import latency_figure
from reports.plots.style import DOTS_PER_INCH, styled
from reports.plots.sweep import sweep_figure
from reports.plots.throughput import throughput_figure
from reports.rows.comparisons import is_timed
from reports.rows.standings import contests
from reports.rows.summary import Row
from reports.rows.sweeping import sweeps

CONTESTS = {  # by the plan's view, who stands against whom
    "echo": contests,
    "league": league.rankings,
    "loadgen": contests,
    "targets": contests,
}


def figures(run: Run, every: Sequence[Row], titles: Mapping[str, str]) -> dict[str, Figure]:
    """The plots that *run* has something to show in, by file name without ending. every: all of its rows.

    Where cells were timed for a duration, completion times say nothing and are not drawn.
    """
    rows = [row for row in every if row.figures or not row.good]
    if not any(row.figures for row in rows):
        return {}
    with styled():
        view = run.plan.get("view", "")
        made = {} if is_timed(run) or view else _completion_figures(rows, titles)
        made |= _contest_figures(view, rows, titles)
        made |= scaling.draw(run) | memory.draw(run) | http_clients.draw(rows, titles)
        latency = latency_figure(rows, titles)
    return made if latency is None else {**made, "latency": latency}


def _completion_figures(rows: Sequence[Row], titles: Mapping[str, str]) -> dict[str, Figure]:
    made = {"completion": completion_figure(rows, titles)}
    for sweep in sweeps(rows):
        made[f"sweep-{sweep.name.lower()}-{sweep.system}"] = sweep_figure(sweep, rows, titles)
    return made


def _contest_figures(view: str, rows: Sequence[Row], titles: Mapping[str, str]) -> dict[str, Figure]:
    found = CONTESTS[view](rows, titles) if view in CONTESTS else []
    if not found:
        return {}
    along = {f"throughput-{name.lower()}": contest_sweep_figure(found, name, rows) for name in swept(found)}
    return {"throughput": throughput_figure(found, rows), **along}


def save(figure: Figure, name: str, folder: Path) -> list[Path]:
    """Write *figure* to folder/<name>.svg and .png; the paths. The same figure gives the same bytes."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    with styled():
        figure.savefig(paths[0], metadata={"Date": None, "Title": name})
        figure.savefig(paths[1], dpi=DOTS_PER_INCH, metadata={"Title": name})
    return paths
