"""A report before it is rendered: sections of sentences, tables and figures, all made of facts.

Every renderer (terminal, Markdown, HTML) takes these and knows no topic. Whatever is measured names the cells it
comes from, as groups (reports/facts/traces.py).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from core.languages import Language
from core.messages import NOTHING, Message, verbatim
from reports.document.drawing import Panel
from reports.statistics.stats import Estimate

ABSENT = "-"
Form = Callable[[float], str]


@dataclass(frozen=True, kw_only=True)
class Traced(Message):
    """Words that come from cells: an argument of a sentence, or a whole sentence. figure: which of their figures."""

    cells: str = ""
    figure: str = ""

    __hash__ = Message.__hash__


def traced(words: Message | str, cells: str, figure: str = "") -> Message:
    """*words* with the cells that they come from; as they are where there are none."""
    text = verbatim(words) if isinstance(words, str) else words
    return Traced(**{**vars(text), "cells": cells, "figure": figure}) if cells else text


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels of one kind, drawn once by matplotlib, for the page and for plots/. key: its id and file name.

    table: the figures that it shows; folded up on the page
    """

    key: str
    title: Message
    caption: Message
    panels: tuple[Panel, ...]
    table: "Table | None" = None


@dataclass(frozen=True, kw_only=True)
class Flame:
    """A flame graph of the page, drawn there by a library (render/templates/vendor). key: its id

    tree: {name, value, children}; of a difference each part has its delta too, a share
    """

    key: str
    title: Message
    caption: Message
    tree: Mapping[str, Any]
    is_difference: bool = False


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A drawing within a line of a table: bars between values, marks, an interval, on the scale *low* to *high*.

    bars: (start, end, class); marks: values with the arm's sign; whisker: (low, high); dot: value and class
    band: a range of no meaning; lines: upright lines (value, class); tip: what it shows, for a screen reader
    """

    low: float
    high: float
    is_log: bool = False
    bars: tuple[tuple[float, float, str], ...] = ()
    marks: tuple[float, ...] = ()
    whisker: tuple[float, float] | None = None
    dot: tuple[float, str] | None = None
    band: tuple[float, float] | None = None
    lines: tuple[tuple[float, str], ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    look: int | None = None
    tip: str = ""


@dataclass(frozen=True, kw_only=True)
class Datum:
    """One cell of a table: words, or a number that *form* shows, with its interval; or a strip.

    is_range: whether low and high are the least and the most of a few blocks, and no interval
    cells, figure: where it comes from, and which of their figures it is; leads: whether it is a link to these cells
    look: of an arm's name; state: its class in the style sheet (passed, faster, ...); hint: more of it on pointing
    code: whether it is a command; raw: what a table is sorted by; anchor: id of its line on the page
    """

    words: Message = NOTHING
    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_range: bool = False
    form: Form | None = None
    strip: Strip | None = None
    cells: str = ""
    figure: str = ""
    leads: bool = False
    look: int | None = None
    state: str = ""
    hint: Message = NOTHING
    code: bool = False
    raw: str = ""
    anchor: str = ""

    def text(self, language: Language) -> str:
        """What it says."""
        if self.form is None:
            return language.text(self.words) if self.words else ""
        if self.value is None:
            return ABSENT
        if self.low is None or self.high is None:
            return self.form(self.value)
        return interval(self.value, self.low, self.high, self.form, is_range=self.is_range)


def interval(value: float, low: float, high: float, form: Form, *, is_range: bool = False) -> str:
    """A value with its interval, wherever one is shown: '1.31 [1.26, 1.37]'; alone where that has no end."""
    text = bounds(low, high, form, is_range=is_range)
    return f"{form(value)} {text}" if isfinite(low) and isfinite(high) else form(value)


def bounds(low: float, high: float, form: Form, *, is_range: bool = False) -> str:
    """An interval alone: '[1.26, 1.37]'; the range of a few blocks: '(1.26 - 1.37)'."""
    return f"({form(low)} - {form(high)})" if is_range else f"[{form(low)}, {form(high)}]"


def estimate(of: Estimate, form: Form) -> str:
    """An estimate with its interval, or its range."""
    return interval(of.value, of.low, of.high, form, is_range=of.is_range)


Line = tuple[Datum, ...]


@dataclass(frozen=True, kw_only=True)
class Column:
    """head: with the unit; brief, over: on a terminal, where neighbours share the line *over* theirs.

    rank: where there is too little room the highest is dropped first; 0 never is
    """

    head: Message
    is_number: bool = False
    is_strip: bool = False
    brief: Message = NOTHING
    over: Message = NOTHING
    rank: int = 0
    strip: Strip | None = None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines that belong together. head: what they have in common, or nothing."""

    lines: tuple[Line, ...]
    head: Message = NOTHING


@dataclass(frozen=True, kw_only=True)
class Table:
    """name: what it is called, also for a screen reader. The first datum of a line is its head.

    kind: its class in the style sheet; caption: below it; keys: (class, words) of the parts of its strips
    folded: whether the page shows its name alone until asked; titled: whether its name stands above it
    filters: (name, column) of what a reader chooses lines by; such a table can also be sorted
    """

    name: Message
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    kind: str = ""
    key: str = ""
    caption: Message = NOTHING
    keys: tuple[tuple[str, Message], ...] = ()
    folded: bool = False
    titled: bool = False
    filters: tuple[tuple[str, int], ...] = ()

    def __bool__(self) -> bool:
        return any(group.lines for group in self.groups)

    @property
    def lines(self) -> list[Line]:
        """Those of all groups."""
        return [line for group in self.groups for line in group.lines]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A topic of a report: what it says, shows and lists, in this order; then its parts.

    key: its anchor on the page and what gaps are found by; answer: sentences in large type
    notes: how to read it, in small type, last; texts: preformatted, line by line as they are
    terminal: what a terminal shows of it (sentences and tables); elsewhere it is all
    """

    key: str
    title: Message
    answer: tuple[Message, ...] = ()
    sentences: tuple[Message, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[Message, ...] = ()
    texts: tuple[Message, ...] = ()
    flames: tuple[Flame, ...] = ()
    parts: tuple["Section", ...] = ()
    folded: bool = False
    terminal: tuple[Message | Table, ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.answer or self.sentences or any(self.tables) or self.figures or any(self.parts) or any(self.terminal)
        )


@dataclass(frozen=True, kw_only=True)
class Document:
    """What is rendered: a title, lines about it, and sections. name: of the run or plan, for the browser's tab.

    has_cells: whether there is a table of all cells, to which figures lead
    """

    name: str
    title: Message
    about: tuple[Message, ...]
    sections: tuple[Section, ...]
    foot: Message = NOTHING
    has_cells: bool = True

    @property
    def has_flames(self) -> bool:
        """Whether a section has a flame graph."""
        return any(section.flames for section in self.sections)


def words(text: Message | str, **more: Any) -> Datum:
    """A datum of words."""
    return Datum(words=verbatim(text) if isinstance(text, str) else text, **more)


def number(value: float | None, form: Form, cells: str = "", figure: str = "", **more: Any) -> Datum:
    """A datum of a number; '-' where there is none."""
    return Datum(value=value, form=form, cells=cells, figure=figure if value is not None else "", **more)


def estimated(of: Estimate | None, form: Form, cells: str = "", figure: str = "") -> Datum:
    """A datum of an estimate with its interval; '-' where there is none."""
    if of is None:
        return number(None, form, cells)
    return number(of.value, form, cells, figure, low=of.low, high=of.high, is_range=of.is_range)


def arm(name: str, look: int | None, cells: str = "") -> Datum:
    """An arm's name with its sign, which leads to its cells."""
    return Datum(words=verbatim(name), look=look, cells=cells, leads=bool(cells), state="runtime")


def plain_table(
    name: Message, heads: Iterable[Message], lines: Any, numbers: Iterable[Message] = (), **more: Any
) -> Table:
    """A table without groups, of words (messages or texts) or data. numbers: heads of its columns of numbers, last"""
    made = tuple(tuple(item if isinstance(item, Datum) else words(item) for item in line) for line in lines)
    columns = (*(Column(head=head) for head in heads), *(Column(head=head, is_number=True) for head in numbers))
    return Table(name=name, columns=columns, groups=(Group(lines=made),), **more)
