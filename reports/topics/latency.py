"""Latency by percentile, HDR style: a panel for each setting, a curve for each arm."""

from collections.abc import Sequence
from math import ceil, log10

from core.messages import NOTHING, message, verbatim
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import Column, Figure, Line, Section, Table, arm, columns, groups, number, words
from reports.document.shapes import tip
from reports.document.values import microseconds, ratio, whole
from reports.facts.cells import Row
from reports.facts.comparisons import Comparison
from reports.facts.curves import curve, percentiles
from reports.facts.loops import loop_words
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import of_rows
from reports.statistics.verdict import WORDS
from reports.topics.comparisons import by_setting
from reports.view import View

PLACE = 70
LEFT_EDGE = 100 / 99  # the first percentile: the few fastest requests would take half of the panel
PERCENTILES = {"p50": 2.0, "p90": 10.0, "p99": 100.0, "p99.9": 1000.0, "p99.99": 10_000.0}
TAILS = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
GAP = 1.1
TITLE = message("Latency of requests")
Points = list[tuple[float, float]]


def section(view: View) -> Section:
    """Nothing where too few requests were timed."""
    curves = {id(row): [point for point in curve(row.latency) if point[0] >= LEFT_EDGE] for row in view.rows}
    if not any(curves.values()):
        return Section(key="latency", title=TITLE)
    return Section(
        key="latency",
        title=TITLE,
        figures=(_figure(view, curves),),
        tables=(_tails(view),),
        notes=tuple(loop_words(view.rows)),
    )


def _tails(view: View) -> Table:
    """Ratios of percentiles of each step, those over all settings first."""
    known = sorted((one for one in view.compared if one.tails), key=lambda one: one.system != OVER_ALL)
    heads = [message("{percentile}: verdict", percentile=name) for name in TAILS.values()]
    return Table(
        name=message("Percentiles compared"),
        columns=(
            Column(head=message("Step")),
            *(
                column
                for name, head in zip(TAILS.values(), heads, strict=True)
                for column in (Column(head=verbatim(name), is_number=True), Column(head=head))
            ),
        ),
        groups=by_setting(known, _tail_line, view),
        caption=message("Ratio of latencies, block by block; above 1 the newer side is faster. All are one family."),
    )


def _tail_line(comparison: Comparison, view: View) -> Line:
    cells = view.traces.of(comparison)
    data = [words(comparison.label, cells=cells, leads=True)]
    for name in TAILS:
        tail = comparison.tails.get(name, {})
        low, high = tail.get("low"), tail.get("high")
        shown = number(
            tail.get("ratio"), ratio, cells, f"tail {name}", low=low, high=high, is_range=comparison.is_range
        )
        word = tail.get("verdict", "")
        data += [shown, words(WORDS[word], state=f"word {word}") if word else words(NOTHING)]
    return tuple(data)


def _figure(view: View, curves: dict[int, Points]) -> Figure:
    """All panels have the same scales, so that they can be compared."""
    across, up = _axes([point for points in curves.values() for point in points])
    return Figure(
        key="latency",
        title=TITLE,
        caption=message(
            "Every further nine is as wide as the one before. A curve ends where 10 requests were slower. Marks: 50, "
            "90, 99, ... %. Both axes are logarithmic. Less is better."
        ),
        panels=tuple(
            Panel(
                title=view.settings.short(rows[0].system, rows[0].params),
                across=across,
                up=up,
                curves=tuple(_curve(row, curves[id(row)], view) for row in rows if curves[id(row)]),
            )
            for rows in view.groups
        ),
        table=_table(view),
    )


def _axes(points: Sequence[tuple[float, float]]) -> tuple[Axis, Axis]:
    furthest = max(x for x, _ in points) * GAP
    values = [y for _, y in points]
    nines = [10.0**place for place in range(1, ceil(log10(furthest)) + 1)]
    ticks = tuple((place, f"{100 - 100 / place:.6g}") for place in (2.0, *nines) if place <= furthest)
    across = Axis(label=message("percentile of requests [%]"), low=LEFT_EDGE, high=furthest, is_log=True, ticks=ticks)
    return across, Axis(label=message("latency [us]"), low=min(values) / GAP, high=max(values) * GAP, is_log=True)


def _curve(row: Row, points: Points, view: View) -> Curve:
    """The line, and a mark at 50, 90, 99, ... %."""
    cells = of_rows([row])
    marks = (
        Mark(x=x, y=y, tip=tip(f"{row.runtime} p{100 - 100 / x:g}", f"{y:,.4g} us"), cells=cells)
        for x, y in percentiles(row.latency)
    )
    return Curve(name=row.runtime, look=view.looks[row.runtime], line=tuple(points), marks=tuple(marks))


def _table(view: View) -> Table:
    heads = (*map(verbatim, PERCENTILES), message("Requests"))
    return Table(
        name=message("latency [us]"),
        columns=columns((message("Runtime"),), heads),
        groups=groups(
            (head, (_line(row, view) for row in rows if row.latency.count)) for head, rows in view.named_groups
        ),
    )


def _line(row: Row, view: View) -> Line:
    cells, known = of_rows([row]), dict(percentiles(row.latency))
    figures = (
        number(known[place] * 1e3 if place in known else None, microseconds, cells, f"latency {name}")
        for name, place in PERCENTILES.items()
    )
    count = number(row.latency.count, whole, cells, "latency count")
    return arm(row.runtime, view.looks[row.runtime], cells), *figures, count
