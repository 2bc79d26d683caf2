"""Memory of services and clients against the number of clients, with the line whose slope is reported."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from core.cell import PARAMETERS
from core.result import Run
from reports.findings.memory import CLIENTS, MIB, SIDES, Growth, growths
from reports.plots.grid import Grid, label_edges
from reports.plots.style import Look, block_mark, legend, line_sign, looks, title
from reports.rows.series import arms

GRID = Grid(panel_width=3.4, panel_height=2.5, most_columns=3)
CURVE_POINTS = 200
MARGIN = 0.05


def draw(run: Run) -> dict[str, Figure]:
    """A plot of the services' memory and one of the clients', by file name without ending."""
    found, signs = growths(run), looks(arms(run))
    by_side = {side: [one for one in found if one.side == side] for side in SIDES}
    return {f"memory-{side}": memory_figure(some, signs) for side, some in by_side.items() if some}


def memory_figure(some: Sequence[Growth], signs: Mapping[str, Look]) -> Figure:
    """A panel per setting, in it a fit and a mark per block for each runtime. some: of one side."""
    settings = list(dict.fromkeys(one.label for one in some))
    shown = {arm: look for arm, look in signs.items() if arm in {one.arm for one in some}}
    figure, panels = GRID.figure([label.replace(", ", "\n") for label in settings], list(shown))
    for one in some:
        _draw(panels[settings.index(one.label)], one, shown[one.arm])
    _scale(panels[0], some)
    label_edges(panels, PARAMETERS[CLIENTS].label, f"memory of all {some[0].side} [MiB]")
    fit = "line: fit whose slope is reported, with the sharing of pages" if any(one.shared for one in some) else "line"
    title(figure, f"Memory of {some[0].side} against {CLIENTS}", f"{fit} · marks: each block · less is better")
    legend(figure, [line_sign(look) for look in shown.values()], list(shown))
    return figure


def _draw(axes: Axes, one: Growth, look: Look) -> None:
    marks = [count for count, _ in one.points], [size / MIB for _, size in one.points]
    axes.plot(*marks, look.marker, **block_mark(look))
    counts = [float(count) for count in np.linspace(*one.ends, CURVE_POINTS)]
    axes.plot(counts, [one.at(count) / MIB for count in counts], look.line, color=look.colour)


def _scale(axes: Axes, some: Sequence[Growth]) -> None:
    counts = [count for one in some for count in one.ends]
    room = MARGIN * (max(counts) - min(counts))
    axes.set_xlim(min(counts) - room, max(counts) + room)
    axes.set_ylim(0, 1.08 * max(size for one in some for _, size in one.points) / MIB)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
