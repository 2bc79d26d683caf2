"""Latency by percentile, HDR style: a panel for each setting, a curve for each arm. Pure."""

from collections.abc import Mapping, Sequence
from math import ceil, log10

from reports.page.figures import Figure
from reports.page.panels import Axis, Curve, Mark, Panel
from reports.page.settings import Settings
from reports.page.tables import Group, Line, Table, heads, number, runtime
from reports.page.traces import of_rows
from reports.rows.columns import microseconds
from reports.rows.curves import curve, percentiles
from reports.rows.summary import Row

LEFT_EDGE = 100 / 99  # the first percentile: the few fastest requests would take half of the panel
SHARES = (2.0, 10.0, 100.0, 1000.0, 10_000.0)
HEADS = ("p50", "p90", "p99", "p99.9", "p99.99")
GAP = 1.1


def latencies(settings: Settings, words: Mapping[str, str]) -> Figure:
    """All panels have the same scales, so that they can be compared."""
    curves = {(id(row)): curve(row.latency) for some in settings.groups for row in some}
    every = [point for points in curves.values() for point in points if point[0] >= LEFT_EDGE]
    across, up = _axes(every, words)
    panels = tuple(
        Panel(
            key=f"latency-{place}",
            title=settings.short(some[0].system, some[0].params),
            across=across,
            up=up,
            curves=tuple(_curve(row, curves[id(row)], settings) for row in some if curves[id(row)]),
        )
        for place, some in enumerate(settings.groups)
        if any(row.figures for row in some)
    )
    table = _table(settings, words)
    return Figure(key="latency-plots", caption=words["latency_caption"], panels=panels if every else (), table=table)


def _axes(points: Sequence[tuple[float, float]], words: Mapping[str, str]) -> tuple[Axis, Axis]:
    furthest = max((x for x, _ in points), default=10.0) * GAP
    values = [y for _, y in points] or [1.0]
    nines = [10.0**place for place in range(1, ceil(log10(furthest)) + 1)]
    ticks = [(one, f"{100 - 100 / one:.6g}") for one in (2.0, *nines) if one <= furthest]
    across = Axis(label=words["percentile"], low=LEFT_EDGE, high=furthest, is_log=True, ticks=tuple(ticks))
    up = Axis(label=words["latency_us"], low=min(values) / GAP, high=max(values) * GAP, is_log=True)
    return across, up


def _curve(row: Row, points: Sequence[tuple[float, float]], settings: Settings) -> Curve:
    """The line, and a mark at 50, 90, 99, ... %."""
    cells = of_rows([row])
    marks = [
        Mark(x=x, y=y, tip=f"{row.runtime} p{100 - 100 / x:g}: {y:,.4g} us", cells=cells)
        for x, y in percentiles(row.latency)
    ]
    line = tuple(point for point in points if point[0] >= LEFT_EDGE)
    return Curve(name=row.runtime, look=settings.looks[row.runtime], line=line, marks=tuple(marks))


def _table(settings: Settings, words: Mapping[str, str]) -> Table:
    groups = [
        Group(
            head=settings.name(some[0].system, some[0].params),
            lines=tuple(_line(row, settings) for row in some if row.latency.count),
        )
        for some in settings.groups
    ]
    titles = heads(words["runtime"], *HEADS, words["requests"], numbers=[*HEADS, words["requests"]])
    return Table(name=words["latency_us"], heads=titles, groups=tuple(one for one in groups if one.lines))


def _line(row: Row, settings: Settings) -> Line:
    cells = of_rows([row])
    known = dict(percentiles(row.latency))
    figures = [
        number(microseconds(known[share] * 1e3) if share in known else "-", cells, f"latency {head}")
        for share, head in zip(SHARES, HEADS, strict=True)
    ]
    name = runtime(row.runtime, settings.looks[row.runtime], cells)
    return name, *figures, number(f"{row.latency.count:,}", cells, "latency count")
