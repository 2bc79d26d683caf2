"""Completion time against a swept numeric parameter: a line per runtime, a mark per block."""

from collections.abc import Mapping, Sequence
from math import nan
from operator import itemgetter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import Transform, offset_copy

from core.cell import PARAMETERS, Value
from reports.plots.grid import Grid, label_edges
from reports.plots.style import Look, block_mark, legend, line_sign, looks, setting_label, title
from reports.rows.arrangement import system_head, value_text, varying
from reports.rows.summary import Row, completion_ns, longest_s
from reports.rows.sweeping import Sweep

GRID = Grid(panel_width=3.4, panel_height=2.5, most_columns=3)
TITLE_CHARACTERS = 44
LABELLED_VALUES = 10
MARGIN = 0.08
MARK_POINTS = 4.5
LOG_FROM_RATIO = 8


def sweep_figure(sweep: Sweep, rows: Sequence[Row], titles: Mapping[str, str]) -> Figure:
    """One panel per set of the other parameters. rows: all of the run's, so that runtimes look as elsewhere."""
    signs = looks(list(dict.fromkeys(row.runtime for row in rows)))
    others = [name for name in varying(rows) if name not in (sweep.name, *sweep.follows)]
    figure, panels = GRID.figure(
        [setting_label(some[0], others, TITLE_CHARACTERS) for some in sweep.panels], list(signs)
    )
    places = places_of(list(dict.fromkeys(row.params[sweep.name] for some in sweep.panels for row in some)))
    follows = f"\n(with it {', '.join(sweep.follows)})" if sweep.follows else ""
    for axes, some in zip(panels, sweep.panels, strict=True):
        for number, (runtime, look) in enumerate(signs.items()):
            mine = [(places[row.params[sweep.name]], row) for row in some if row.runtime == runtime]
            where = _beside(axes, MARK_POINTS * (number - (len(signs) - 1) / 2))
            _draw(axes, where, sorted(mine, key=itemgetter(0)), look)
    scale_along(panels[0], places)
    panels[0].set_ylim(0, 1.08 * longest_s(row for some in sweep.panels for row in some))
    label_edges(panels, PARAMETERS[sweep.name].label + follows, "completion time of a client [s]")
    head = system_head(sweep.system, titles)
    title(figure, f"Completion time against {sweep.name}", f"{head} · line: median over the blocks · marks: each block")
    legend(figure, [line_sign(look) for look in signs.values()], list(signs))
    return figure


def places_of(values: Sequence[Value]) -> dict[Value, float]:
    """Where each value stands on the axis: at itself, or, if `none` is among them, one after the other."""
    numbers: dict[Value, float] = {value: float(value) for value in values if isinstance(value, int)}
    if len(numbers) == len(values):
        return numbers
    return {value: float(place) for place, value in enumerate([*sorted(numbers, key=numbers.__getitem__), None])}


def _beside(axes: Axes, points: float) -> Transform:
    """Coordinates of the data, moved by some points: the marks of one runtime must not hide another's."""
    return offset_copy(axes.transData, axes.get_figure(root=True), x=points, units="points")


def _draw(axes: Axes, where: Transform, points: Sequence[tuple[float, Row]], look: Look) -> None:
    """A runtime's line, which breaks where a row has no figure, and a mark per block. points: along the axis."""
    medians = [(place, row.figures.completion_ns / 1e9 if row.figures else nan) for place, row in points]
    blocks = [(place, completion_ns(cell) / 1e9) for place, row in points for cell in row.good]
    axes.plot(*_columns(medians), look.line, color=look.colour, transform=where)
    axes.plot(*_columns(blocks), look.marker, transform=where, **block_mark(look))


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def scale_along(axes: Axes, places: Mapping[Value, float]) -> None:
    """Logarithmic if the values span much; a label at each of them, if they are few."""
    low, high = min(places.values()), max(places.values())
    if None not in places and low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        axes.set_xscale("log")
        axes.set_xlim(low / room, high * room)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    else:
        axes.set_xlim(low - MARGIN * (high - low), high + MARGIN * (high - low))
    axes.minorticks_off()
    if len(places) <= LABELLED_VALUES:
        axes.set_xticks(list(places.values()), [value_text(value) for value in places])
