"""Completion time, or throughput, of every setting and arm: a bar for the median, a mark for each block. Pure."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from core.result import CellResult
from reports.page.look import Look
from reports.page.settings import Settings
from reports.page.states import trouble
from reports.page.svg import Html, Scale, percent, tag
from reports.page.tables import Datum, Group, Line, Table, axis, drawing, heads, number, runtime
from reports.page.traces import of_rows
from reports.rows.columns import seconds
from reports.rows.comparisons import is_timed
from reports.rows.summary import Row, completion_ns, reference, requests_per_s, same_work
from reports.rows.view import View

HEIGHT = 20


def measure(view: View) -> Callable[[CellResult], float]:
    """What a cell is shown by: seconds to completion, or requests/s where cells were timed for a duration."""
    return requests_per_s if is_timed(view.run) else lambda cell: completion_ns(cell) / 1e9


def bars(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> Table:
    """A group for each setting, a bar for each arm. Settings of unlike work have a scale for each system."""
    of, timed = measure(view), is_timed(view.run)
    shared = timed or same_work(view.rows)
    groups = []
    for some in settings.groups:
        beside = [row for row in view.rows if shared or row.system == some[0].system]
        scale = length_scale(beside, of)
        told = [row for row in some if not is_idle(row)]
        base = [row for row in told if row.runtime in reference(view.run)]
        lines = tuple(
            _line(row, scale, of, settings.looks[row.runtime], base)
            if row.figures
            else nothing(row, settings.looks[row.runtime], words, lang)
            for row in told
        )
        groups.append(Group(head=settings.name(some[0].system, some[0].params), lines=lines))
    figure, slowest = words["requests_s" if timed else "completion_s"], words["completion_max_s"]
    plot = Datum(drawing=_axis(view, of, figure) if shared else None, kind="plot")
    numbers = (figure, slowest, words["requests_s"], words["ratio_plain"])
    some_heads = [figure] if timed else [figure, slowest, words["requests_s"]]
    names = heads(words["runtime"], plot, *some_heads, words["ratio_plain"], numbers=numbers)
    return Table(name=words["completion"], heads=names, groups=tuple(one for one in groups if one.lines), kind="bars")


def is_idle(row: Row) -> bool:
    """Services without clients take no time."""
    return row.params.get("NUM_CLIENTS") == 0


def length_scale(rows: Sequence[Row], of: Callable[[CellResult], float]) -> Scale:
    """A scale from 0 that the longest block of *rows* fits on."""
    longest = max((of(cell) for row in rows for cell in row.good if cell.clients), default=1.0)
    return Scale(low=0.0, high=1.02 * longest)


def _axis(view: View, of: Callable[[CellResult], float], name: str) -> Html:
    scale = length_scale(view.rows, of)
    return axis([(scale.at(one), f"{one:,g}") for one in scale.ticks(5)], name)


def nothing(row: Row, look: Look, words: Mapping[str, str], lang: str) -> Line:
    """A row that has no figures says why."""
    return runtime(row.runtime, look, of_rows([row])), Datum(text=trouble(row, words, lang), kind="trouble")


def _line(row: Row, scale: Scale, of: Callable[[CellResult], float], look: Look, base: Sequence[Row]) -> Line:
    """base: the row that ratios refer to, if there is one."""
    cells, figures = of_rows([row]), row.figures
    assert figures is not None
    blocks = [of(cell) for cell in row.good]
    some = [number(f"{median(blocks):,.0f}", cells, "requests_per_s")]
    if of is not requests_per_s:
        some = [
            number(seconds(figures.completion_ns), cells, "completion_s"),
            number(seconds(figures.completion_max_ns), cells, "completion_max_s"),
            number(f"{figures.requests_per_s:,.0f}", cells, "requests_per_s"),
        ]
    told = "-" if row.ratio is None else f"{row.ratio:.2f}"
    ratio = number(told, of_rows([*base, row]), "" if row.ratio is None else "ratio_to_first")
    picture = Datum(drawing=bar(row.runtime, median(blocks), blocks, scale, look), kind="plot", cells=cells)
    return runtime(row.runtime, look, cells), picture, *some, ratio


def bar(name: str, middle: float, blocks: Sequence[float], scale: Scale, look: Look) -> Html:
    """A bar from 0 to *middle*, with a mark for each block. name: for a screen reader."""
    length = percent(scale.at(middle))
    body = tag("rect", x="0", width=length, y="3", height="14", fill=look.fill, class_=f"bar {look.name}")
    marks = [look.marker(percent(scale.at(one)), 10.0, f"{one:,.4g}") for one in blocks]
    return drawing(HEIGHT, f"{name}: {middle:,.4g}", body, *marks)
