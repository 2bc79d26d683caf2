"""Experiments that compare systems, not runtimes: the record of each, for its own file and for the terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.result import Run
from reports import echo, http_clients, league, loadgen
from reports.notes import troubles
from reports.standings import Short
from reports.summary import Row
from reports.view import View

Rows = Sequence[Row]
Titles = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Record:
    """page: the Markdown of its file. shorts, sentences: what the terminal shows, tables and what they say."""

    page: Callable[[Run, Rows, Titles], str]
    shorts: Callable[[Rows, Titles], list[Short]]
    sentences: Callable[[Run, Rows, Titles], list[str]]


RECORDS = {
    "echo": Record(page=echo.echo_page, shorts=echo.shorts, sentences=echo.sentences),
    "loadgen": Record(page=loadgen.loadgen_page, shorts=loadgen.shorts, sentences=loadgen.sentences),
    "league": Record(page=league.league_page, shorts=league.shorts, sentences=league.sentences),
    "http-clients": Record(
        page=http_clients.http_clients_page, shorts=http_clients.shorts, sentences=http_clients.sentences
    ),
}


def record_of(view: View) -> Record | None:
    """The record that the run's plan asks for; None for runtimes side by side."""
    return RECORDS.get(view.run.plan.get("view", ""))


def print_record(record: Record, view: View, console: Console) -> None:
    """A table for each setting, then what the record says in words and what failed."""
    for table in record.shorts(view.rows, view.titles):
        console.print(Text(f"\n{table.title}", style="bold"))
        console.print(_table(table))
    console.print()
    said = record.sentences(view.run, view.rows, view.titles)
    for line in dict.fromkeys([*said, *troubles(view.run, view.rows)]):
        console.print(line, markup=False, highlight=False)


def _table(table: Short) -> Table:
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    name, *figures = table.heads
    shown.add_column(name, overflow="fold")
    for head in figures:
        shown.add_column(head, justify="right", no_wrap=True)
    for line in table.lines:
        shown.add_row(*line)
    return shown
