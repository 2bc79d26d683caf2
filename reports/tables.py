"""Build tables for the sections of a report. These functions have no side effects.

A section declares its columns with col(), arm_col() and metric_col(), and passes them to table()
with groups of items. An item is any object, of which each column reads one value: a row of results
(analysis/cell_index.py), a comparison, a profile. Its attribute `trace` has the groups of cells
that its figures come from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import median
from typing import Any, Generic, TypeVar

from analysis.causes import Profile
from analysis.cell_index import Row, is_open
from analysis.formats import Form, Scale, whole
from analysis.metrics import METRICS, THROUGHPUT, Metric
from analysis.stats import Estimate
from core.messages import Message, listed, message
from reports.document import (
    COUNT,
    Column,
    Datum,
    Strip,
    Table,
    arm,
    number,
    words,
)

Item = TypeVar("Item")
# caption of a table with percentiles that marked() marks
POOLED = message("Percentiles marked * are computed from the requests of all blocks together.")
# said once beside paths such as docs/why.md, because an installed gilscope has them elsewhere
PAGES = message("The named pages are in gilscope's documentation. --help names its folder.")
CellValue = Datum | Message | str | float | Estimate | None  # what a column reads from an item


@dataclass(frozen=True)
class Col(Generic[Item]):
    """A column of a table, with the function that makes a table cell from the object (item) shown
    in a line.
    """

    column: Column
    datum: Callable[[Item], Datum]


def col(
    head: Message | str,
    read: str | Callable[[Item], CellValue],
    form: Form | None = None,
    figure: str = "",
    trace: str | Callable[[Item], str] = "",
    leads: bool = False,
    **more: Any,
) -> Col[Item]:
    """Return a table column, which shows numbers if *form* is given, else words.

    head:   a message, or its English text as a literal, which `make messages` collects
    read:   returns the value of an item (number, Estimate, words or Datum), or names the attribute
            or key with this value; None is shown as '-'
    figure: the name of the figure on the page
    trace:  returns the groups of cells from which the value comes, or names the attribute with
            them; by default, a figure comes from the *trace* of its item
    leads:  whether the words are a link to these cells
    more:   other fields of Column
    """
    value_of, trace_of = _reader(read), _reader(trace or _own_trace)
    head = head if isinstance(head, Message) else Message(msgid=head)

    def datum(item: Item) -> Datum:
        value = value_of(item)
        if isinstance(value, Datum):
            return value
        cells = trace_of(item) if trace or figure or leads else ""
        if isinstance(value, Message | str):
            return words(value, cells=cells, leads=leads)
        return number(value, form or str, cells, figure)

    return Col(Column(head=head, is_number=form is not None, **more), datum)


def _reader(read: str | Callable[[Item], Any]) -> Callable[[Item], Any]:
    """Return *read*, or a function that returns the attribute or the key of an item that *read*
    names.
    """
    if not isinstance(read, str):
        return read
    return lambda item: item.get(read) if isinstance(item, Mapping) else attrgetter(read)(item)


def _own_trace(item: object) -> str:
    """Return the *trace* of an item, if it has one."""
    return getattr(item, "trace", "")


def arm_col(
    name: str | Callable[[Item], str],
    looks: Mapping[str, int],
    trace: str | Callable[[Item], str] = "",
) -> Col[Item]:
    """Return a column of runtime names (arms) with markers. Each name links to the measurements of
    the runtime.

    name, trace: as *read* and *trace* of col(); by default, the *trace* of an item that has one
    looks: as in View.looks
    """
    name_of, trace_of = _reader(name), _reader(trace or _own_trace)
    return Col(
        Column(head=message("Runtime")),
        lambda item: arm(name_of(item), looks.get(name_of(item)), trace_of(item)),
    )


def metric_head(
    metric: Metric, items: Iterable[Item], read: Callable[[Metric, Item], float | None]
) -> tuple[Column, Form]:
    """Return the head of a metric's column, with the unit that suits the values, and the format of
    the values.

    All percentiles of a table have the unit that suits the median latencies.
    items: what the table shows; read: returns the metric's value of an item; None if unknown
    """
    decisive = METRICS["p50_ns"] if metric.percentile else metric
    values = filter(None, (read(decisive, item) for item in items))
    scale = metric.scale(max(values, default=0.0))
    over = metric.over
    if scale.name and over:
        over = message("{name} {unit}", name=over, unit=scale.name)
    head = with_unit(metric.label, scale)
    return Column(head=head, is_number=True, brief=metric.brief, over=over), scale.form


def marked(form: Form) -> Form:
    """Return a form that marks numbers as pooled: of the requests of all blocks together."""
    return lambda value: f"{form(value)}*"


def with_unit(label: Message, scale: Scale) -> Message:
    """Return a label with its unit, if the scale has one: 'p99 [ms]'."""
    return message("{name} [{unit}]", name=label, unit=scale.name) if scale.name else label


def metric_col(
    metric: Metric, items: Iterable[Item], read: Callable[[Metric, Item], float | None], **more: Any
) -> Col[Item]:
    """Return a column with the values of a metric.

    items, read: as of metric_head()
    more: fields of Column that differ
    """
    column, form = metric_head(metric, items, read)
    return Col(
        replace(column, **more),
        # 0 is shown as '-', too
        lambda item: number(read(metric, item) or None, form, _own_trace(item), metric.row_key),
    )


def of_row(metric: Metric, row: Row) -> float | None:
    """Return the value of a metric in a row of results; None if unknown."""
    value: float | None = row.columns.get(metric.row_key)
    return value


def bar(row: Row, end: float, look: int, name: str = "") -> Datum:
    """Return a drawing of a row's throughput: a bar up to the median, and a mark for each block.

    row: a row with at least one cell that is ok
    end: the end of the scale, which begins at 0
    name: what the row stands for; its runtime by default
    """
    values = [THROUGHPUT.read(cell) or 0.0 for cell in row.good]
    middle = median(values)
    strip = Strip(
        high=end,
        # strips.html fills a bar with the pattern that its last class names
        bars=((0.0, middle, f"bar r{look % COUNT} p{look % COUNT}"),),
        marks=values,
        look=look,
        tip=f"{name or row.runtime}: {whole(middle)}",
    )
    return Datum(strip=strip, cells=row.trace)


def most_throughput(rows: Iterable[Row]) -> float:
    """Return the largest throughput of a block in *rows*; 1 if there is none."""
    return THROUGHPUT.most(cell for row in rows for cell in row.good if cell.clients) or 1.0


def table(
    name: Message,
    cols: Sequence[Col[Item]],
    groups: Iterable[tuple[Message, Iterable[Item]]],
    **more: Any,
) -> Table:
    """Return a table with a line for each item of *groups*.

    groups: (head, items) of each
    more: other fields of Table
    """

    def line(item: Item) -> tuple[Datum, ...]:
        return tuple(one.datum(item) for one in cols)

    made = [(head, [*map(line, items)]) for head, items in groups]
    return Table(name=name, columns=[one.column for one in cols], groups=made, **more)


def tip(name: str | Message, value: str) -> Message:
    """Return the tooltip of a mark: 'name: value'."""
    return message("{name}: {value}", name=name, value=value)


ROOM = 1.02  # end of a scale of bars, as a multiple of the longest
MOST_RATES = 4  # that a caption names
AT_RATE = message(
    "They follow the planned rate, which is the number of clients x the rate of each: {planned}."
)
BARS = message(
    "Bars show requests/s: the median over the blocks (rounds of measurement). Marks show single "
    "blocks. {better}"
)
BARS_BRIEF = message("Bars show requests/s. {better}")


def bars_words(rows: Sequence[Row], *, is_brief: bool = False) -> Message:
    """Return the caption of a table with drawings of bar(); is_brief: for a terminal.

    At a fixed rate, it has the rate, and not that more requests/s are better.
    """
    better = THROUGHPUT.better
    if are_at_rate(rows):
        planned = [*{f"{row.params['NUM_CLIENTS']} x {row.params['RATE']}": None for row in rows}]
        more = ["..."] * (len(planned) > MOST_RATES)
        better = replace(AT_RATE, args={"planned": listed([*planned[:MOST_RATES], *more])})
    return replace(BARS_BRIEF if is_brief else BARS, args={"better": better})


def are_at_rate(rows: Sequence[Row]) -> bool:
    """Return whether the clients of all *rows* send at a fixed rate. Requests/s are no result
    then.
    """
    return bool(rows) and all(is_open(row.params) for row in rows)


def frame_text(frames: Sequence[Profile], otherwise: Message) -> Message:
    """Return the innermost of *frames* as text, or *otherwise* if there are no frames.

    frames: the innermost first; each has file, line and function (record/result_parts.py)
    """
    return message("{file}:{line} in {function}", **frames[0]) if frames else otherwise
