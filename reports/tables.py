"""The table on a terminal: a heading per system and parameters, a line per runtime. Fits 80 columns."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from core.result import Run
from reports.arrangement import by_system, groups, shown, system_head, varying
from reports.columns import Column, columns
from reports.notes import readings, troubles
from reports.summary import Row, rows

INDENT = 2


def print_run(run: Run, titles: Mapping[str, str], console: Console) -> None:
    """Print the run's table and what must be said with it. titles: of the systems, by number or name."""
    all_rows = rows(run)
    lines = _Lines(all_rows, console.width)
    console.print(lines.heads(), style="bold")
    names = varying(all_rows)
    for system, of_system in by_system(all_rows):
        console.print()
        _print_wrapped(system_head(system, titles), console, "bold")
        for group in groups(of_system):
            _print_group(group, names, lines, console)
    _print_notes(run, all_rows, console)


def setting_text(row: Row, names: Sequence[str]) -> str:
    """The row's title, or the parameters that vary, with their values; empty if nothing does."""
    return row.title or ", ".join(f"{name} {value}" for name, value in shown(row, names).items())


class _Lines:
    """The columns that fit into *width*, as wide as their widest text."""

    def __init__(self, all_rows: Sequence[Row], width: int) -> None:
        self._name_width = max([len("runtime"), *(len(row.runtime) for row in all_rows)]) + INDENT
        kept = columns(all_rows)
        while len(kept) > 1 and self._needed(kept, all_rows, 1) > width:
            kept.remove(max(kept, key=lambda column: column.rank))
        self._gap = 2 if self._needed(kept, all_rows, 2) <= width else 1
        self._columns = kept
        self._widths = _widths(kept, all_rows, self._gap)

    def _needed(self, kept: Sequence[Column], all_rows: Sequence[Row], gap: int) -> int:
        return self._name_width + sum(width + gap for width in _widths(kept, all_rows, gap))

    def heads(self) -> Text:
        """Both lines of the heads."""
        gap, upper, place = " " * self._gap, " " * self._name_width, 0
        for head, some in _shared(self._columns):
            room = sum(self._widths[place : place + len(some)]) + self._gap * (len(some) - 1)
            upper += gap + (f"{head:>{room}}" if len(some) == 1 else f"{head:^{room}}")
            place += len(some)
        return Text(f"{upper}\n{self._line('runtime', [column.lines[1] for column in self._columns])}")

    def figures(self, row: Row) -> Text:
        """The row's figures, or its state where it has none."""
        if row.figures is None:
            return Text(f"{self._line(row.runtime, [])}  {row.state}")
        return Text(self._line(row.runtime, [column.of(row) for column in self._columns]))

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


def _print_group(group: Sequence[Row], names: Sequence[str], lines: _Lines, console: Console) -> None:
    setting = setting_text(group[0], names)
    if setting:
        _print_wrapped(setting, console, "italic", indent=1)
    for row in group:
        console.print(lines.figures(row))
        if row.trouble:
            _print_wrapped(row.trouble, console, "red", indent=2 * INDENT)


def _print_notes(run: Run, all_rows: Sequence[Row], console: Console) -> None:
    console.print()
    for line in troubles(run, all_rows):
        _print_wrapped(line, console, "red")
    for line in readings(run, all_rows):
        _print_wrapped(line, console)


def _print_wrapped(text: str, console: Console, style: str = "", indent: int = 0) -> None:
    space = " " * indent
    lines = wrap(text, console.width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False)
    console.print(Text("\n".join(lines), style=style))
