"""Experiments that compare systems, not runtimes: the record of each, for its own file and for the terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.result import Run
from reports.contests import echo, http_clients, league, loadgen, targets
from reports.rows.standings import Short
from reports.rows.summary import Row
from reports.rows.view import View
from reports.terminal.console import shows_unicode
from reports.terminal.textbars import bar
from reports.words.notes import troubles
from reports.words.translation import said

BARRED = ("requests/s", "mean ms")  # the heads of columns that bars show
LEAST_BAR, MOST_BAR = 10, 24
GAP = 2

Rows = Sequence[Row]
Titles = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Record:
    """page: the Markdown of its file. shorts, sentences: what the terminal shows, tables and what they say.

    ranked: whether the lines of shorts go from most requests/s to fewest
    """

    page: Callable[[Run, Rows, Titles], str]
    shorts: Callable[[Rows, Titles], list[Short]]
    sentences: Callable[[Run, Rows, Titles], list[str]]
    ranked: bool = True


RECORDS = {
    "echo": Record(page=echo.echo_page, shorts=echo.shorts, sentences=echo.sentences),
    "loadgen": Record(page=loadgen.loadgen_page, shorts=loadgen.shorts, sentences=loadgen.sentences),
    "league": Record(page=league.league_page, shorts=league.shorts, sentences=league.sentences),
    "targets": Record(page=targets.targets_page, shorts=targets.shorts, sentences=targets.sentences),
    "http-clients": Record(
        page=http_clients.http_clients_page,
        shorts=http_clients.shorts,
        sentences=http_clients.sentences,
        ranked=False,
    ),
}


def record_of(view: View) -> Record | None:
    """The record that the run's plan asks for; None for runtimes side by side."""
    return RECORDS.get(view.run.plan.get("view", ""))


def print_record(record: Record, view: View, console: Console, lang: str = "en") -> None:
    """A table for each setting, then what the record says in words and what failed. lang: of these words."""
    for table in record.shorts(view.rows, view.titles):
        console.print(Text(f"\n{table.title}", style="bold"))
        console.print(_table(table, console))
    console.print()
    sentences = record.sentences(view.run, view.rows, view.titles)
    for line in dict.fromkeys([*sentences, *troubles(view.run, view.rows)]):
        console.print(said(line, lang), markup=False, highlight=False)


def _table(table: Short, console: Console) -> Table:
    """With a bar for each line where there is room for it."""
    shown = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    name, *figures = table.heads
    shown.add_column(name, overflow="fold")
    for head in figures:
        shown.add_column(head, justify="right", no_wrap=True)
    place = next((place for place, head in enumerate(table.heads) if head in BARRED), 0)
    values = [_number(line[place]) for line in table.lines] if place else [0.0] * len(table.lines)
    room = min(MOST_BAR, console.width - _width(table))
    width = room if room >= LEAST_BAR and any(values) else 0
    if width:
        shown.add_column(table.heads[place], no_wrap=True)
    for line, value in zip(table.lines, values, strict=True):
        drawn = [bar(value / max(values), width, unicode=shows_unicode(console))] if width else []
        shown.add_row(*line, *drawn)
    return shown


def _width(table: Short) -> int:
    """Characters that the columns take, with the gap behind each."""
    return sum(GAP + max(map(cell_len, column)) for column in zip(table.heads, *table.lines, strict=True))


def _number(told: str) -> float:
    """A figure of a table; 0 where it has none."""
    plain = told.replace(",", "")
    return float(plain) if plain.replace(".", "", 1).isdigit() else 0.0
