"""The document model: a report before it is rendered, as sections of sentences, tables and figures.

All renderers (terminal, Markdown, HTML) take these types and know no section. Measured values name
the cells that they come from, as groups (of_cells in analysis/cell_index.py).
An arm is a compared runtime or service, and its look is the index of its style, which is the same
everywhere in a report (View.looks). A new field shows nothing until reports/render/ and its
templates use it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import isfinite, log10
from typing import Any

from analysis.formats import Form
from analysis.stats import Estimate
from core.languages import Language
from core.messages import NOTHING, Json, Message, verbatim

ABSENT = "-"  # text of an unknown value
# styles of arms: as many colours r0.. (colours.css) and markers (definitions.svg, render/panels.py)
COUNT = 8


@dataclass(frozen=True, kw_only=True)
class Traced(Message):
    """A text that shows a measured value, together with the names of the measurements (cells) that
    gave the value.

    cells: groups of cells, separated by spaces; figure: the name of the figure (see Datum)
    """

    cells: str = ""
    figure: str = ""

    # a dataclass would make a hash of args, which is a mapping and has none
    __hash__ = Message.__hash__


def traced(words: Message | str, cells: str, figure: str = "") -> Message:
    """Return *words* as a text that names the measurements it is based on (*cells*); unchanged if
    *cells* is empty.
    """
    text = verbatim(words) if isinstance(words, str) else words
    return Traced(**{**vars(text), "cells": cells, "figure": figure}) if cells else text


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point of a plot, with its tooltip and its error bar.

    tip: its tooltip
    cells: the groups of cells that it links to
    low, high: its interval along y
    """

    x: float
    y: float
    tip: str | Message = ""
    cells: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Span:
    """A horizontal bar in a plot, from x = *start* to x = *end*. Bars whose values of *y* differ by
    1 do not touch.
    """

    y: float
    start: float
    end: float
    faint: bool = False


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The line, marks and bars that a plot shows for one compared runtime or service (arm).

    look: the index of the arm's style, see render.panels
    """

    name: str | Message
    look: int
    line: Sequence[tuple[float, float]] = ()
    marks: Sequence[Mark] = ()
    spans: Sequence[Span] = ()


@dataclass(frozen=True)
class Axis:
    """An axis of one plot (panel) of a figure.

    label: name with unit
    ticks: values with their texts; if empty, round values are chosen
    """

    label: Message
    _: KW_ONLY
    low: float = 0.0
    high: float
    is_log: bool = False
    ticks: Sequence[tuple[float, str | Message]] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot of a figure: its title, axes and curves, and an optional reference line.

    across, up: its axes
    level: a reference line at this y
    """

    title: Message = NOTHING
    across: Axis
    up: Axis
    curves: Sequence[Curve] = ()
    level: float | None = None


@dataclass(frozen=True)
class Figure:
    """A figure of one or more plots (panels), drawn by matplotlib for the HTML page and for files
    in plots/.

    key: its id and file name

    table: the data of the figure; the page folds it
    """

    key: str
    title: Message
    _: KW_ONLY
    caption: Message
    panels: Sequence[Panel]
    table: "Table | None" = None


@dataclass(frozen=True, kw_only=True)
class Flame:
    """A flame graph, which a JavaScript library draws on the page (render/templates/vendor).

    key: its id

    tree: {name, value, children}; in a difference graph each part also has delta, a share
    """

    key: str
    title: Message
    caption: Message
    tree: Json
    is_difference: bool = False


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A small drawing in a line of a table: bars, marks and an interval, on a scale from *low* to
    *high*.

    bars:    (start, end, CSS class) of each bar
    marks:   values that are drawn with the arm's marker
    whisker: (low, high) of an interval; dot: value and CSS class of an estimate
    band:    a shaded range; lines: (value, CSS class) of vertical lines
    ticks:   (value, text) of a scale
    look:    index of the arm's style; tip: description for a screen reader
    """

    low: float = 0.0
    high: float
    is_log: bool = False
    bars: Sequence[tuple[float, float, str]] = ()
    marks: Sequence[float] = ()
    whisker: tuple[float, float] | None = None
    dot: tuple[float, str] | None = None
    band: tuple[float, float] | None = None
    lines: Sequence[tuple[float, str]] = ()
    ticks: Sequence[tuple[float, str]] = ()
    look: int | None = None
    tip: str = ""

    def place(self, value: float) -> float:
        """Return where *value* lies on the scale, from 0 (left end) to 100 (right end).

        A value beyond an end of the scale is placed at this end.
        """
        held = min(max(value, self.low), self.high)
        if self.high <= self.low:
            return 50.0
        if self.is_log:
            return 100 * log10(held / self.low) / log10(self.high / self.low)
        return 100 * (held - self.low) / (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Datum:
    """One cell of a table, which shows words, a number with its interval, or a small drawing
    (Strip).

    form:     formats the number as text; low, high: its interval
    is_range: whether low and high are minimum and maximum of a few blocks, not an interval
    mark:     text before the words or the number
    cells, figure: the cells that the datum comes from, and the name of their figure; leads: whether
        it links to them
    look:     index of the arm's style, for an arm's name
    state:    CSS class (passed, faster, ...); hint: tooltip
    raw:      sort key; anchor: id of the table line on the page
    """

    words: Message = NOTHING
    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_range: bool = False
    mark: str = ""
    form: Form | None = None
    strip: Strip | None = None
    cells: str = ""
    figure: str = ""
    leads: bool = False
    look: int | None = None
    state: str = ""
    hint: Message = NOTHING
    raw: str = ""
    anchor: str = ""

    def text(self, language: Language) -> str:
        """Return the text of the table cell in *language*; empty if it has neither words nor a
        number, as beside a drawing (strip).
        """
        if self.form is None:
            text = language.text(self.words) if self.words else ""
        elif self.value is None:
            text = ABSENT
        elif self.low is None or self.high is None:
            text = self.form(self.value)
        else:
            text = interval(self.value, self.low, self.high, self.form, is_range=self.is_range)
        return self.mark + text


def interval(value: float, low: float, high: float, form: Form, *, is_range: bool = False) -> str:
    """Return a value with its interval as text: '1.31 [1.26, 1.37]', or '1.31 (1.26 - 1.37)' with
    the minimum and maximum of a few blocks. Leave out an infinite interval.
    """
    if not (isfinite(low) and isfinite(high)):
        return form(value)
    ends = f"({form(low)} - {form(high)})" if is_range else f"[{form(low)}, {form(high)}]"
    return f"{form(value)} {ends}"


def estimate(of: Estimate, form: Form) -> str:
    """Return an estimate with its interval or range as text."""
    return interval(of.value, of.low, of.high, form, is_range=of.is_range)


Line = Sequence[Datum]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table.

    head: its title with the unit

    brief, over: on a terminal, a shorter title, and a title above it that neighbouring columns
        share
    rank:  if there is too little room, the column with the highest rank is dropped first; rank 0
           never is
    is_strip: whether the column shows small drawings; strip: their scale, which the page draws as
        the column's title
    """

    head: Message
    is_number: bool = False
    is_strip: bool = False
    brief: Message = NOTHING
    over: Message = NOTHING
    rank: int = 0
    strip: Strip | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a report. The first table cell (Datum) of each line is the heading of the line.

    groups:  the lines, in groups with a common title above them, which may be empty
    name:    its name, also for a screen reader; titled: whether the name stands above the table
    kind:    CSS class; key: id on the page; caption: text below the table
    keys:    legend of its strips: (CSS class, words)
    folded:  whether the page folds the table under its name
    filters: (name, column) by which a reader can filter lines; such a table can also be sorted
    """

    name: Message
    columns: Sequence[Column]
    groups: Sequence[tuple[Message, Sequence[Line]]]
    kind: str = ""
    key: str = ""
    caption: Message = NOTHING
    keys: Sequence[tuple[str, Message]] = ()
    folded: bool = False
    titled: bool = False
    filters: Sequence[tuple[str, int]] = ()

    def __bool__(self) -> bool:
        return any(lines for _, lines in self.groups)

    @property
    def lines(self) -> list[Line]:
        """All lines of this table, group after group."""
        return [line for _, lines in self.groups for line in lines]


@dataclass(frozen=True)
class Section:
    """A section of a report, which may begin with a short answer in large type.

    Its fields are shown in this order: answer, sentences, figures, tables, flames, parts, texts,
    notes.

    key:      its id on the page
    answer:   sentences in large type; notes: explanations in small type; texts: preformatted text
    parts:    subsections; folded: whether the page folds the section under its title
    terminal: the sentences and tables that a terminal shows of the section
    bug:      the bug that prevented the section, if its sentences only say so
    """

    key: str
    title: Message
    _: KW_ONLY
    answer: Sequence[Message] = ()
    sentences: Sequence[Message] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[Message] = ()
    texts: Sequence[Message] = ()
    flames: Sequence[Flame] = ()
    parts: Sequence["Section"] = ()
    folded: bool = False
    terminal: Sequence[Message | Table] = ()
    bug: Message = NOTHING

    def __bool__(self) -> bool:
        """Whether the section has content of its own: notes, texts and flames alone are none."""
        parts = (*self.tables, *self.parts, *self.terminal)
        return any((self.answer, self.sentences, self.figures, *parts))


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document for a renderer: title, introductory lines, sections and footer.

    name: title of the browser's tab

    has_cells: whether the document has the table of all cells, to which figures link
    """

    name: str
    title: Message
    about: Sequence[Message]
    sections: Sequence[Section]
    foot: Message = NOTHING
    has_cells: bool = True


def words(text: Message | str, **more: Any) -> Datum:
    """Return a table cell (Datum) that shows words.

    more: other fields of Datum
    """
    return Datum(words=verbatim(text) if isinstance(text, str) else text, **more)


def number(
    value: float | Estimate | None, form: Form, cells: str = "", figure: str = "", **more: Any
) -> Datum:
    """Return a table cell (Datum) that shows a number, with its interval if it is an estimate, or
    '-' for None.
    """
    if isinstance(value, Estimate):
        more |= {"low": value.low, "high": value.high, "is_range": value.is_range}
        value = value.value
    return Datum(
        value=value, form=form, cells=cells, figure=figure if value is not None else "", **more
    )


def arm(name: str, look: int | None, cells: str = "") -> Datum:
    """Return a table cell (Datum) with the name and marker of an arm (a runtime or service), linked
    to its measurements.
    """
    return Datum(words=verbatim(name), look=look, cells=cells, leads=bool(cells), state="runtime")


def _as_datum(item: Any) -> Datum:
    return item if isinstance(item, Datum) else words(item)


def plain_table(
    name: Message,
    heads: Iterable[Message],
    lines: Any,
    numbers: Iterable[Message] = (),
    **more: Any,
) -> Table:
    """Return a table whose lines are not divided into groups.

    lines: the cells of each line, from left to right: a message, a text or a Datum
    numbers: heads of columns of numbers, which come last
    more: other fields of Table
    """
    made = [[*map(_as_datum, line)] for line in lines]
    columns = [
        *(Column(head=head) for head in heads),
        *(Column(head=head, is_number=True) for head in numbers),
    ]
    return Table(name=name, columns=columns, groups=[(NOTHING, made)], **more)
