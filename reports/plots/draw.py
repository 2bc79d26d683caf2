"""All plots of a run, made and saved as SVG and PNG."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from reports.plots.completion import completion_figure
from reports.plots.latency import latency_figure
from reports.plots.style import DOTS_PER_INCH, styled
from reports.plots.sweep import sweep_figure, sweeps
from reports.summary import Row


def figures(rows: Sequence[Row], titles: Mapping[str, str]) -> dict[str, Figure]:
    """The plots that *rows* have something to show in, by file name without ending."""
    if not any(row.figures for row in rows):
        return {}
    with styled():
        made = {"completion": completion_figure(rows, titles)}
        for sweep in sweeps(rows):
            made[f"sweep-{sweep.name.lower()}-{sweep.system}"] = sweep_figure(sweep, rows, titles)
        latency = latency_figure(rows, titles)
    return made if latency is None else {**made, "latency": latency}


def save(figure: Figure, name: str, folder: Path) -> list[Path]:
    """Write *figure* to folder/<name>.svg and .png; the paths. The same figure gives the same bytes."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    with styled():
        figure.savefig(paths[0], metadata={"Date": None, "Title": name})
        figure.savefig(paths[1], dpi=DOTS_PER_INCH, metadata={"Title": name})
    return paths
