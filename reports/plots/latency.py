"""Latency by percentile, HDR style: every further nine is as wide as the one before."""

from collections.abc import Mapping, Sequence
from math import ceil, log10
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from core.histogram import Histogram
from reports.plots.grid import Grid, label_edges
from reports.plots.style import GREY, Look, legend, line_sign, looks, setting_label, title
from reports.rows.arrangement import groups, system_head, varying
from reports.rows.curves import SLOWER_REQUESTS, curve, percentiles
from reports.rows.summary import Row

LEFT_EDGE = 100 / 99  # the first percentile: the few fastest requests would take half of the panel
GRID = Grid(panel_width=3.1, panel_height=2.0, most_columns=4)
TITLE_CHARACTERS = 46


def latency_figure(rows: Sequence[Row], titles: Mapping[str, str]) -> Figure | None:
    """A panel per system and set of parameters, a curve per runtime; None if there is no latency to show."""
    shown_points = [point for row in rows for point in curve(row.latency)]
    if not shown_points:
        return None
    some, signs = (
        [group for group in groups(rows) if not _tells_none(group)],
        looks(list(dict.fromkeys(row.runtime for row in rows))),
    )
    names = varying(rows)
    figure, panels = GRID.figure([_panel_title(group[0], names, titles) for group in some], list(signs))
    for axes, group in zip(panels, some, strict=True):
        for row in group:
            _draw(axes, row.latency, signs[row.runtime])
        _explain_if_empty(axes, group)
    label_edges(panels, "percentile of requests [%]", "latency [us]")
    _scale(panels[0], shown_points)
    title(
        figure,
        "Latency of requests by percentile",
        f"a curve ends where {SLOWER_REQUESTS} requests were slower · marks: 50, 90, 99, ... % · lower is better",
    )
    legend(figure, [line_sign(look) for look in signs.values()], list(signs))
    return figure


def _tells_none(group: Sequence[Row]) -> bool:
    """Whether all of it was measured and no latency is known: of other load generators, which print percentiles."""
    return all(row.figures and not row.latency.count for row in group)


def _explain_if_empty(axes: Axes, group: Sequence[Row]) -> None:
    if not any(curve(row.latency) for row in group):
        why = "too few requests" if any(row.figures for row in group) else group[0].state
        axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=GREY)


def _draw(axes: Axes, latency: Histogram, look: Look) -> None:
    axes.plot(*_columns(curve(latency)), look.line, color=look.colour)
    axes.plot(*_columns(percentiles(latency)), look.marker, color=look.colour, markersize=4, linestyle="none")


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _scale(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """Both axes logarithmic, with percentiles for labels; the other panels share them."""
    furthest = max(x for x, _ in points)
    latencies = [y for x, y in points if x >= LEFT_EDGE]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(LEFT_EDGE, furthest * 1.15)
    axes.set_ylim(min(latencies) * 0.8, max(latencies) * 1.25)
    places = [LEFT_EDGE, 2.0, *(10.0**nines for nines in range(1, ceil(log10(furthest)) + 1))]
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{100 - 100 / place:.6g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    wide = max(latencies) > 300 * min(latencies)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _panel_title(row: Row, names: Sequence[str], titles: Mapping[str, str]) -> str:
    head = "\n".join(wrap(system_head(row.system, titles), TITLE_CHARACTERS))
    label = setting_label(row, names, TITLE_CHARACTERS)
    return f"{head}\n{label}" if label else head
