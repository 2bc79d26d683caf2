"""The table on a terminal: a heading per system and parameters, a line per runtime, with a bar. Fits 80 columns."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from textwrap import indent as indented

from rich.console import Console
from rich.text import Text

from core.result import Run
from reports.rows.arrangement import by_system, groups, shown, system_head, varying
from reports.rows.columns import Column, columns
from reports.rows.comparisons import is_timed
from reports.rows.summary import Row, rows, same_work
from reports.terminal.console import shows_unicode, wrapped
from reports.terminal.textbars import bar
from reports.words.notes import readings, troubles
from reports.words.translation import said

INDENT = 2
LEAST_BAR, MOST_BAR = 6, 24
BAR_RANK = 6  # columns that rank higher make room for bars


def print_run(run: Run, titles: Mapping[str, str], console: Console, lang: str = "en") -> None:
    """Print the run's table and what must be said with it, in *lang*. titles: of the systems, by number or name."""
    all_rows = rows(run)
    bars = _Bars(all_rows, is_timed(run), shows_unicode(console))
    lines = _Lines(all_rows, console.width, bars, partial(said, lang=lang))
    console.print(lines.heads(), style="bold")
    names = varying(all_rows)
    for system, of_system in by_system(all_rows):
        console.print()
        _print_wrapped(_head(system, titles, lang), console, "bold")
        for group in groups(of_system):
            _print_group(group, names, lines, console, lang)
    _print_notes(run, all_rows, console, lines.bar_note(), lang)


def _head(system: str, titles: Mapping[str, str], lang: str) -> str:
    name, between, title = system_head(system, titles).partition(": ")
    return f"{said(name, lang)}{between}{title}"


def setting_text(row: Row, names: Sequence[str]) -> str:
    """The row's title, or the parameters that vary, with their values; empty if nothing does."""
    return row.title or ", ".join(f"{name} {value}" for name, value in shown(row, names).items())


class _Bars:
    """A bar for each row: of its completion time, or of its requests/s where every cell was timed for as long."""

    def __init__(self, all_rows: Sequence[Row], timed: bool, unicode: bool) -> None:
        self.timed = timed
        self._unicode = unicode
        self._longest = {id(row): max(map(self._value, alike)) for alike in self._alike(all_rows) for row in alike}

    def text(self, row: Row, width: int) -> str:
        """Its bar, of at most *width* characters."""
        longest = self._longest[id(row)]
        return bar(self._value(row) / longest if longest else 0.0, width, unicode=self._unicode)

    def _value(self, row: Row) -> float:
        if row.figures is None:
            return 0.0
        return row.figures.requests_per_s if self.timed else row.figures.completion_ns

    def _alike(self, all_rows: Sequence[Row]) -> list[Sequence[Row]]:
        """The rows in parts whose values can be compared: all, or those of a system, or of a setting."""
        if self.timed or same_work(all_rows):
            return [all_rows]
        systems = [list(some) for _, some in by_system(all_rows)]
        return [part for some in systems for part in ([some] if same_work(some) else map(list, groups(some)))]


class _Lines:
    """The columns that fit into *width*, as wide as their widest text, and a bar in what is left."""

    def __init__(self, all_rows: Sequence[Row], width: int, bars: _Bars, tell: Callable[[str], str]) -> None:
        self._tell = tell
        self._name_width = max([len("runtime"), *(len(row.runtime) for row in all_rows)]) + INDENT
        self._bars = bars
        kept, least_bar = self._with_bar(all_rows, width), LEAST_BAR + 2
        if not kept:
            kept, least_bar = self._without_bar(all_rows, width), 0
        self._gap = 2 if self._needed(kept, all_rows, 2) + least_bar <= width else 1
        self._columns = kept
        self._widths = _widths(kept, all_rows, self._gap)
        self._bar_width = min(MOST_BAR, width - self._needed(kept, all_rows, self._gap) - 2) if least_bar else 0

    def _with_bar(self, all_rows: Sequence[Row], width: int) -> list[Column]:
        """The columns that leave room for a bar; none if it would cost one that says more."""
        kept = columns(all_rows)
        while self._needed(kept, all_rows, 1) + LEAST_BAR + 2 > width:
            last = max(kept, key=lambda column: column.rank)
            if last.rank <= BAR_RANK:
                return []
            kept.remove(last)
        return kept

    def _without_bar(self, all_rows: Sequence[Row], width: int) -> list[Column]:
        kept = columns(all_rows)
        while len(kept) > 1 and self._needed(kept, all_rows, 1) > width:
            kept.remove(max(kept, key=lambda column: column.rank))
        return kept

    def bar_note(self) -> str:
        """What the bars are; empty where there are none."""
        if not self._bar_width:
            return ""
        return "Bars: requests/s." if self._bars.timed else "Bars: median completion time; shorter is faster."

    def _needed(self, kept: Sequence[Column], all_rows: Sequence[Row], gap: int) -> int:
        return self._name_width + sum(width + gap for width in _widths(kept, all_rows, gap))

    def heads(self) -> Text:
        """Both lines of the heads."""
        gap, upper, place = " " * self._gap, " " * self._name_width, 0
        for head, some in _shared(self._columns):
            room = sum(self._widths[place : place + len(some)]) + self._gap * (len(some) - 1)
            upper += gap + (f"{head:>{room}}" if len(some) == 1 else f"{head:^{room}}")
            place += len(some)
        lower = self._line("runtime", [column.lines[1] for column in self._columns])
        return Text(f"{upper}\n{lower.rstrip()}")

    def figures(self, row: Row) -> Text:
        """The row's figures, or its state where it has none."""
        if row.figures is None:
            return Text(f"{self._line(row.runtime, [])}  {self._tell(row.state)}")
        line = self._line(row.runtime, [column.of(row) for column in self._columns])
        return Text(f"{line}  {self._bars.text(row, self._bar_width)}".rstrip() if self._bar_width else line)

    def _line(self, name: str, texts: Sequence[str]) -> str:
        start = f"{'':{INDENT}}{name}".ljust(self._name_width)
        gap = " " * self._gap
        return start + "".join(f"{gap}{text:>{width}}" for text, width in zip(texts, self._widths, strict=False))


def _shared(kept: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Neighbours under the first line of their heads."""
    return [(head, list(some)) for head, some in groupby(kept, lambda column: column.lines[0])]


def _widths(kept: Sequence[Column], all_rows: Sequence[Row], gap: int) -> list[int]:
    """Characters for each column, so that its texts and its share of a head fit."""
    widths: list[int] = []
    for head, some in _shared(kept):
        own = [max(len(text) for text in (one.lines[1], *(one.of(row) for row in all_rows))) for one in some]
        own[0] += max(0, len(head) - sum(own) - gap * (len(own) - 1))
        widths += own
    return widths


def _print_group(group: Sequence[Row], names: Sequence[str], lines: _Lines, console: Console, lang: str) -> None:
    setting = setting_text(group[0], names)
    if setting:
        _print_wrapped(setting, console, "italic", indent=1)
    for row in group:
        console.print(lines.figures(row))
        if row.trouble:
            _print_wrapped(said(row.trouble, lang), console, "red", indent=2 * INDENT)


def _print_notes(run: Run, all_rows: Sequence[Row], console: Console, bar_note: str, lang: str) -> None:
    console.print()
    for line in troubles(run, all_rows):
        _print_wrapped(said(line, lang), console, "red")
    for line in [*readings(run, all_rows), *filter(None, [bar_note])]:
        _print_wrapped(said(line, lang), console)


def _print_wrapped(text: str, console: Console, style: str = "", indent: int = 0) -> None:
    space = " " * indent
    console.print(Text(indented(wrapped(text, console.width - indent), space), style=style))
