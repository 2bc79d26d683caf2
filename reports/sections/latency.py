"""Show latency by percentile, like plots of HDR histograms, with a panel per setting and a curve
per runtime.

The scale of percentiles is logarithmic: 90 %, 99 %, 99.9 %. The place of a share of the requests is
1 / (1 - share): 50 % is at 2, 99 % at 100.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
The functions below "curves" know only histograms, and no view.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, log10
from operator import attrgetter

from analysis.cell_index import Row
from analysis.comparison_words import Comparison
from analysis.formats import microseconds, ratio, whole
from core.histogram import Histogram, bounds_ns
from core.messages import SENTENCES, Message, listed, message, verbatim
from record.comparison import DIFFERENT, RatioInterval
from reports.document import Axis, Curve, Datum, Figure, Mark, Panel, Section, Table
from reports.parts.comparison_table import (
    STEP_COL,
    ends_words,
    interval_datum,
    of_settings,
    part_verdict,
)
from reports.parts.run_words import loop_words
from reports.tables import Col, arm_col, col, table, tip
from reports.view import View

PLACE = 30  # in the order of sections (reports/sections/__init__.py)
LEFT_EDGE = (
    100 / 99
)  # percentile 1: to its left, the few fastest requests would take half of the panel
# the columns of the table: place on the axis by name
PERCENTILES = {"p50": 2.0, "p90": 10.0, "p99": 100.0, "p99.9": 1000.0, "p99.99": 10_000.0}
# the compared percentiles: name on the page by name in Comparison.tails
TAILS = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
SLOWER_REQUESTS = 10  # fewest requests beyond a percentile that is shown
POINTS_PER_NINE = 60  # of a curve, for each factor of 10 on the axis; steep parts have more
GAP = 1.1  # between the curves and the edge of a panel, as a factor
TITLE = message("Latency of requests")
Points = Sequence[tuple[float, float]]


def section(view: View) -> Section:
    """Return the report's section on latency percentiles. It is empty if too few requests were
    timed.
    """
    # By identity, because rows cannot be hashed. view.rows and view.groups have the same objects.
    curves = {
        id(row): [*filter(lambda point: point[0] >= LEFT_EDGE, curve(row.latency))]
        for row in view.rows
    }
    if not any(curves.values()):
        return Section("latency", TITLE)
    return Section(
        "latency",
        TITLE,
        figures=(_figure(view, curves),),
        tables=(_tails(view),),
        notes=(*loop_words(view.rows), *_noise(view.compared)),
    )


def _noise(compared: Sequence[Comparison]) -> Iterator[Message]:
    """Yield a note for each A/A comparison that finds a difference in latency percentiles."""
    for one in compared:
        differing = [TAILS[name] for name, tail in one.tails.items() if tail.verdict in DIFFERENT]
        if one.step == "aa" and differing:
            yield message(
                "A/A: two measurements of {arm} differ in {percentiles}, so no comparison of this "
                "latency has a verdict.",
                arm=one.denominator,
                percentiles=listed(differing),
            )


def _tails(view: View) -> Table:
    """Return a table that compares two runtimes' latency percentiles in each line. Means over
    settings come first.
    """
    known = of_settings((one for one in view.compared if one.tails), view)
    cols = [STEP_COL]
    for name, shown in TAILS.items():
        cols += _tail_cols(name, shown)
    reading = message(
        "Older runtime's latency divided by the newer runtime's, paired by block (measured round). "
        "Above 1, the newer runtime has lower latency. Verdicts are adjusted for the number of "
        "comparisons in this table, without A/A. A percentile is compared if at least 10 requests "
        "of each block lie beyond it."
    )
    return table(
        message("Comparison of latency percentiles"),
        cols,
        known,
        caption=listed([reading, *ends_words(view.compared)], SENTENCES),
    )


def _tail_cols(name: str, shown: str) -> list[Col[Comparison]]:
    """Return two table columns for a latency percentile: the ratio, and the verdict on this ratio.

    shown: the name of the percentile
    """

    def value(one: Comparison) -> Datum:
        return interval_datum(one.tails.get(name, RatioInterval()), one, f"tail {name}")

    head = message("{percentile}: verdict", percentile=shown)
    return [
        col(verbatim(shown), value, ratio),
        col(head, lambda one: part_verdict(one.tails.get(name), one)),
    ]


def _figure(view: View, curves: Mapping[int, Points]) -> Figure:
    """Return the figure with the latency curves of all settings and runtimes. All panels have the
    same scales.
    """
    places, values = zip(*(point for points in curves.values() for point in points), strict=True)
    furthest = max(places) * GAP
    nines = [10.0**place for place in range(1, ceil(log10(furthest)) + 1)]
    ticks = [(place, f"{100 - 100 / place:.6g}") for place in (2.0, *nines) if place <= furthest]
    across = Axis(
        message("percentile of requests [%]"),
        low=LEFT_EDGE,
        high=furthest,
        is_log=True,
        ticks=ticks,
    )
    up = Axis(message("latency [us]"), low=min(values) / GAP, high=max(values) * GAP, is_log=True)
    panels = []
    for rows in view.groups:
        drawn = [_curve(row, curves[id(row)], view) for row in rows if curves[id(row)]]
        panels.append(Panel(title=view.settings.short(rows[0]), across=across, up=up, curves=drawn))
    return Figure(
        "latency",
        TITLE,
        caption=message(
            "Each curve covers the requests of all blocks together. Both axes are logarithmic, so "
            "90 %, 99 % and 99.9 % are equally far apart. A curve ends at the percentile that only "
            "10 requests exceeded. Marks show the percentiles 50, 90, 99 and so on. Lower latency "
            "is better."
        ),
        panels=panels,
        table=_table(view),
    )


def _curve(row: Row, points: Points, view: View) -> Curve:
    """Return the latency curve of one setting under one runtime, with marks at the percentiles 50,
    90, 99 and so on.
    """
    marks = [
        Mark(
            x=x, y=y, tip=tip(f"{row.runtime} p{100 - 100 / x:g}", f"{y:,.4g} us"), cells=row.trace
        )
        for x, y in percentiles(row.latency)
    ]
    return Curve(name=row.runtime, look=view.looks[row.runtime], line=points, marks=marks)


def _table(view: View) -> Table:
    """Return a table of the latency percentiles of each result row."""
    return table(
        message("latency [us]"),
        [
            arm_col("runtime", view.looks),
            *(_percentile_col(name, place) for name, place in PERCENTILES.items()),
            col("Requests", "latency.count", whole, "latency count"),
        ],
        view.groups_with(attrgetter("latency.count")),
    )


def _percentile_col(name: str, place: float) -> Col[Row]:
    return col(
        message("{name} [{unit}]", name=name, unit=message("us")),
        lambda row: percentile_ns(row.latency, place),
        microseconds,
        f"latency {name}",
    )


# ---- curves --------------------------------------------------------------------------------------


def curve(latency: Histogram) -> list[tuple[float, float]]:
    """Return the curve's points (place on the axis, latency in us) up to the highest percentile
    that is reliable.

    The place of a percentile is 1 divided by the share of slower requests.
    A percentile is reliable if at least SLOWER_REQUESTS requests are slower: p999 needs 10,000
    requests.
    """
    count = left = latency.count
    if count <= SLOWER_REQUESTS:
        return []
    points: list[tuple[float, float]] = []
    for bucket, number in latency.filled():
        value_us = min(max((sum(bounds_ns(bucket)) - 1) // 2, latency.min_ns), latency.max_ns) / 1e3
        # Two points a bucket make a step: at the share of slower requests before and after it.
        points.append((count / max(left, SLOWER_REQUESTS), value_us))
        left -= number
        points.append((count / max(left, SLOWER_REQUESTS), value_us))
        if left <= SLOWER_REQUESTS:
            break
    # The exact percentiles and the last point are never thinned out.
    return sorted([*_thinned(points[:-1]), *percentiles(latency), points[-1]])


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first point of a curve, and each later point that is visibly apart from the
    previous point.
    """
    kept = [points[0]]
    step = 10 ** (1 / POINTS_PER_NINE)
    for point in points[1:]:
        if point[0] >= kept[-1][0] * step or point[1] >= kept[-1][1] * 1.1:
            kept.append(point)
    return kept


def percentiles(latency: Histogram) -> list[tuple[float, float]]:
    """Return the points of a curve at 50 %, 90 %, 99 % and so on."""
    places = (2.0, *(10.0**nines for nines in range(1, 10)))
    return [
        (place, value_ns / 1e3)
        for place in places
        if (value_ns := percentile_ns(latency, place)) is not None
    ]


def percentile_ns(latency: Histogram, place: float) -> int | None:
    """Return the latency in ns at a percentile; None if there are too few requests.

    place: 1 divided by the share of slower requests, so 2 is the percentile 50 and 100 is the
        percentile 99
    """
    return latency.quantile(1 - 1 / place) if place <= latency.count / SLOWER_REQUESTS else None
