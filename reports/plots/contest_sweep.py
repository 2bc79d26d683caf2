"""Requests a second against a parameter that varies, for experiments that compare systems: a line per contestant."""

from collections.abc import Sequence
from operator import itemgetter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from core.cell import PARAMETERS
from reports.plots.grid import Grid, label_edges
from reports.plots.style import Look, block_mark, legend, line_sign, looks, title
from reports.plots.sweep import places_of, scale_along
from reports.rows.arrangement import value_text
from reports.rows.standings import Contest
from reports.rows.summary import Row, requests_per_s

GRID = Grid(panel_width=3.6, panel_height=3.0, most_columns=3)


def swept(found: Sequence[Contest]) -> list[str]:
    """Numeric parameters that vary while the other settings stay as they are."""
    names = [name for name in found[0].setting if name in PARAMETERS and PARAMETERS[name].kind is int] if found else []
    return [name for name in names if any(len(some) > 1 for some in _panels(found, name).values())]


def _panels(found: Sequence[Contest], name: str) -> dict[str, list[Contest]]:
    """The contests along *name*, by their other settings in words."""
    panels: dict[str, list[Contest]] = {}
    for contest in found:
        others = [f"{other} {value_text(value)}" for other, value in contest.setting.items() if other != name]
        panels.setdefault(", ".join(others), []).append(contest)
    return panels


def contest_sweep_figure(found: Sequence[Contest], name: str, rows: Sequence[Row]) -> Figure:
    """A panel for each set of the other settings, against *name*. rows: all of the run, in whose order names stand."""
    panels = {label: some for label, some in _panels(found, name).items() if len(some) > 1}
    shown = [contest for some in panels.values() for contest in some]
    signs = looks(_names(found, rows))
    figure, every = GRID.figure(list(panels), list(signs))
    places = places_of(list(dict.fromkeys(contest.setting[name] for contest in shown)))
    for axes, some in zip(every, panels.values(), strict=True):
        for contestant, look in signs.items():
            _draw(axes, some, contestant, look, [places[contest.setting[name]] for contest in some])
    scale_along(every[0], places)
    blocks = [requests_per_s(cell) for contest in shown for one in contest.standings for cell in one.row.good]
    every[0].set_ylim(0, 1.05 * max(blocks))
    every[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    label_edges(every, PARAMETERS[name].label, "answered requests/s")
    title(
        figure, f"Requests a second against {name}", "line: median over the blocks · marks: each block · more is better"
    )
    legend(figure, [line_sign(look) for look in signs.values()], list(signs))
    return figure


def _names(found: Sequence[Contest], rows: Sequence[Row]) -> list[str]:
    names = {id(one.row): one.name for contest in found for one in contest.standings}
    return list(dict.fromkeys(names[id(row)] for row in rows if id(row) in names))


def _draw(axes: Axes, some: Sequence[Contest], contestant: str, look: Look, places: Sequence[float]) -> None:
    """A contestant's line, and a mark for each of its blocks. places: of the contests along the axis."""
    mine = [
        (place, one)
        for place, contest in zip(places, some, strict=True)
        for one in contest.standings
        if one.name == contestant
    ]
    middles = sorted(((place, one.requests_per_s) for place, one in mine), key=itemgetter(0))
    blocks = [(place, requests_per_s(cell)) for place, one in mine for cell in one.row.good]
    axes.plot([x for x, _ in middles], [y for _, y in middles], look.line, color=look.colour, linewidth=1.2)
    axes.plot([x for x, _ in blocks], [y for _, y in blocks], look.marker, **{**block_mark(look), "markersize": 3})
