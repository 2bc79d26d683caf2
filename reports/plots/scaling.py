"""Throughput against a swept number of workers, clients or sockets, with the Universal Scalability Law through it."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from core.cell import PARAMETERS
from core.result import Run
from reports.findings.scaling import NAMES, Scaling, scalings
from reports.plots.grid import Grid, label_edges
from reports.plots.style import Look, block_mark, legend, line_sign, looks, title
from reports.rows.series import arms
from reports.statistics.scaling import UslFit

GRID = Grid(panel_width=3.6, panel_height=2.6, most_columns=3)
CURVE_POINTS = 100
MARGIN = 0.06
LOG_FROM_RATIO = 8


def draw(run: Run) -> dict[str, Figure]:
    """A plot for each parameter with a scaling fit, by file name without ending."""
    found, signs = [one for one in scalings(run) if one.usl], looks(arms(run))
    by_name = {name: [one for one in found if one.name == name] for name in NAMES}
    return {f"scaling-{name.lower()}": scaling_figure(some, signs) for name, some in by_name.items() if some}


def scaling_figure(some: Sequence[Scaling], signs: Mapping[str, Look]) -> Figure:
    """A panel per setting, in it a law and a mark per block for each runtime. some: of one parameter."""
    settings = list(dict.fromkeys(one.label for one in some))
    shown = {arm: look for arm, look in signs.items() if arm in {one.arm for one in some}}
    figure, panels = GRID.figure([label.replace(", ", "\n") for label in settings], list(shown))
    for one in some:
        _draw(panels[settings.index(one.label)], one, shown[one.arm])
    _scale(panels[0], sorted({n for one in some for n in one.throughput}))
    panels[0].set_ylim(0, 1.08 * max(rate for one in some for rates in one.blocks.values() for rate in rates))
    label_edges(panels, PARAMETERS[some[0].name].label, "answered requests/s")
    explanation = "line: Universal Scalability Law through the medians · marks: each block · more is better"
    title(figure, f"Throughput against {some[0].name}", explanation)
    legend(figure, [line_sign(look) for look in shown.values()], list(shown))
    return figure


def _draw(axes: Axes, one: Scaling, look: Look) -> None:
    marks = [(n, rate) for n, rates in one.blocks.items() for rate in rates]
    axes.plot([n for n, _ in marks], [rate for _, rate in marks], look.marker, **block_mark(look))
    if one.usl:
        many = [float(n) for n in np.geomspace(min(one.throughput), max(one.throughput), CURVE_POINTS)]
        axes.plot(many, [law(one.usl, n) for n in many], look.line, color=look.colour)


def law(fit: UslFit, n: float) -> float:
    """Throughput of *n* by the law, in the unit of its rate."""
    return fit.rate.value * n / (1 + fit.sigma.value * (n - 1) + fit.kappa.value * n * (n - 1))


def _scale(axes: Axes, values: Sequence[int]) -> None:
    """Logarithmic if the values span much; a label at each that has room."""
    low, high = values[0], values[-1]
    room = (high / low) ** MARGIN
    if high >= LOG_FROM_RATIO * low:
        axes.set_xscale("log")
        axes.set_xlim(low / room, high * room)
    axes.minorticks_off()
    axes.set_xticks(_spread(values, room))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _spread(values: Sequence[int], room: float) -> list[int]:
    """Of *values*, in order, those that are by the factor *room* apart, the last one among them."""
    kept = [values[-1]]
    for value in reversed(values):
        if value * room <= kept[-1]:
            kept.append(value)
    return kept[::-1]
