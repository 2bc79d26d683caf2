"""Show the routes of a user's service: the requests of a plan by name, with the figures of each
under each runtime, and how the speed of each differs between runtimes.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
A route is the requests of a plan that have one name (analysis/routes.py).
"""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from analysis.cell_index import grouped
from analysis.comparison_words import Comparison
from analysis.formats import ratio, whole, whole_percent
from analysis.metrics import METRICS, Metric, pooled
from analysis.others import on_busy
from analysis.routes import Route
from core.messages import NOTHING, SENTENCES, Message, listed, message, plural
from record.comparison import VALUE
from reports.document import ABSENT, Datum, Section, Table
from reports.parts.comparison_table import (
    ends_words,
    interval_datum,
    part_verdict,
    ratio_head,
)
from reports.tables import POOLED, Col, col, marked, metric_head, of_row, table
from reports.view import View

PLACE = 29  # in the order of sections (reports/sections/__init__.py)
TITLE = message("Routes")
MOST_LINES = 12  # on a terminal
PERCENTILES = ("p50_ns", "p99_ns")  # keys of METRICS
READING = message(
    "Ratio: the mean latency of the older runtime or service divided by that of the newer one, "
    "paired by block (round of measurement): above 1, the newer one is faster. Verdicts are "
    "adjusted for the number of routes and of compared latency percentiles, without A/A."
)


class Line(NamedTuple):
    """A route in a comparison.

    head: the comparison as text, with its setting
    arms: the route under the denominator and under the numerator; under the only runtime if nothing
        is compared
    """

    head: Message
    arms: Sequence[Route]
    compared: Comparison | None = None


def section(view: View) -> Section:
    """Return the report's section on routes. It is empty if fewer than two routes were measured."""
    lines = [*_lines(view)]
    # A/A is left to the page.
    brief = [line for line in lines if not line.compared or line.compared.step != "aa"]
    left = len(brief[MOST_LINES:])
    more = plural(
        "{count} more route is on the report page.",
        "{count} more routes are on the report page.",
        count=left,
    )
    return Section(
        "routes",
        TITLE,
        tables=(_table(lines),),
        terminal=(_table(brief[:MOST_LINES]), *[more] * bool(left)) if brief else (),
    )


def _lines(view: View) -> Iterator[Line]:
    """Yield the routes of each comparison at one setting; without comparisons, those of each
    row.
    """
    for one in view.compared_by_route:
        named = view.settings.values if one.step == VALUE else view.settings.name
        setting = named(one) if len(view.groups) > 1 else NOTHING
        both = message("{setting}, {cause}", setting=setting, cause=one.label)
        head = both if setting else one.label
        for name in one.routes:
            same = [route for route in view.routes if route.name == name]
            # 0 is the denominator and 1 the numerator; a side without the route is left out.
            below = [route for route in same if route.is_side_of(one, 0)]
            above = [route for route in same if route.is_side_of(one, 1)]
            yield Line(head, (*below[:1], *above[:1]), one)
    for route in view.routes if not view.compared_by_route else ():
        names = (route.row.runtime, view.settings.values(route.row))
        yield Line(listed(filter(None, names)), (route,))


def _table(lines: Sequence[Line]) -> Table:
    """Return a table with a line for each route. Figures are those of the two arms, such as
    '1.20 → 0.80'.
    """
    compared = [line.compared for line in lines if line.compared]
    routes = [route for line in lines for route in line.arms]
    cols: list[Col[Line]] = [
        col("Request", lambda line: line.arms[0].name),
        col("Share", _both(lambda route: whole_percent(route.share)), rank=9),
        col("Requests", _both(lambda route: whole(route.requests)), rank=8),
        col("Errors", _both(lambda route: whole(route.errors)), rank=7),
        *(_percentile_col(METRICS[key], routes) for key in PERCENTILES),
    ]
    if compared:
        cols += [col(ratio_head(compared), _speed, ratio), col("Verdict", _verdict)]
    reading = [READING, *ends_words(compared)] if compared else []
    has_pooled = any(_is_marked(METRICS[key], route) for key in PERCENTILES for route in routes)
    return table(
        TITLE,
        cols,
        grouped(lines, attrgetter("head")).items(),
        caption=listed([*reading, *[POOLED] * has_pooled], SENTENCES),
    )


# A cell of the table shows the denominator's figure, an arrow and the numerator's.
def _both(text: Callable[[Route], str]) -> Callable[[Line], str]:
    return lambda line: " → ".join(map(text, line.arms))


def _percentile_col(metric: Metric, routes: Sequence[Route]) -> Col[Line]:
    column, form = metric_head(metric, routes, _figure)

    def text(route: Route) -> str:
        value = _figure(metric, route)
        written = marked(form) if _is_marked(metric, route) else form
        return ABSENT if value is None else written(value)

    return col(column.head, _both(text), rank=metric.rank or 0)


def _figure(metric: Metric, route: Route) -> float | None:
    return of_row(metric, route.row)


def _is_marked(metric: Metric, route: Route) -> bool:
    """Return whether a route shows a percentile of all its blocks together, which is marked *."""
    is_known = _figure(metric, route) is not None
    return is_known and metric.percentile in pooled(route.row.good)


def _speed(line: Line) -> Datum:
    assert line.compared
    name = line.arms[0].name
    return interval_datum(line.compared.routes[name], line.compared, f"route {name}")


def _verdict(line: Line) -> Datum:
    one = line.compared
    assert one
    route = one.routes[line.arms[0].name]
    return part_verdict(route, one, on_busy(route.word, one.others))
