"""How far a run has come: a live line on a terminal, one plain line a cell anywhere else, or failures alone."""

import sys
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from core.cell import Cell
from core.result import CellResult
from reports.terminal.console import terminal
from reports.terminal.pace import Pace, time_left


class Display(Protocol):
    """A progress display, open for as long as the run goes on."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """*done* of *total* cells are behind us."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """One more is."""


def display(*, quiet: bool = False, open_ended: bool = False) -> Display:
    """The display that suits standard error.

    quiet: only what is not ok. open_ended: the run may end before all of its blocks, so no time left is known
    """
    console = terminal(sys.stderr)
    if quiet:
        return QuietDisplay(console)
    return (LiveDisplay if console.is_terminal else PlainDisplay)(console, Pace(open_ended=open_ended))


def rate_text(result: CellResult) -> str:
    """Requests per second of a cell, for people; empty where nothing was timed."""
    return f"{result.requests / (result.wall_ns / 1e9):,.0f}" if result.clients and result.wall_ns else ""


def cell_line(result: CellResult) -> str:
    """One cell in one line: what, how long, how fast, or why not."""
    name = f"block {result.block}  system {result.system}  {result.runtime:<9}"
    if result.status != "ok":
        return f"{name} {result.status}: {result.reason}"
    if not result.clients:
        return f"{name} idle: no clients"
    return f"{name} {result.wall_ns / 1e9:8.3f} s {rate_text(result):>9} requests/s"


def _failed(count: int) -> str:
    return f"{count} not ok" if count else ""


class QuietDisplay:
    """A line for each cell that is not ok, and nothing else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> "QuietDisplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Nothing."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Its line, if it is not ok."""
        if result.status != "ok":
            self._console.print(cell_line(result), markup=False, highlight=False, soft_wrap=True)


class PlainDisplay:
    """One line a cell, with the time left and failures so far; no control codes."""

    def __init__(self, console: Console, pace: Pace | None = None) -> None:
        self._console = console
        self._pace = pace or Pace()
        self._failures = 0

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Nothing: the line comes when the cell has ended."""
        self._pace.started(done)

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Its line."""
        self._pace.ended(done)
        self._failures += result.status != "ok"
        left = time_left(self._pace.left_s(total)) if done < total else ""
        parts = [f"[{self._pace.place(done, total)}] {cell_line(result)}", left, _failed(self._failures)]
        self._console.print("  ".join(filter(None, parts)), markup=False, highlight=False, soft_wrap=True)


class LiveDisplay:
    """One live line: block, cell, bar, rate, time left, failures so far. Failed cells scroll by above it."""

    def __init__(self, console: Console, pace: Pace | None = None) -> None:
        self._console = console
        self._pace = pace or Pace()
        self._failures = 0
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[place]}", markup=False),
            TextColumn("{task.fields[rate]}", markup=False),
            _TimeLeft(self._pace),
            TextColumn("[red]{task.fields[failures]}"),
            console=console,
            transient=True,
            expand=True,
        )
        self._task: TaskID = self._progress.add_task("starting", total=None, place="", rate="", failures="")

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show what runs now."""
        self._pace.started(done)
        now = f"block {block}, system {cell.system}, {cell.runtime}"
        self._update(done, total, description=now)

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that it has ended and how fast it was, and keep a line of it if it failed."""
        self._pace.ended(done)
        if result.status != "ok":
            self._failures += 1
            self._console.print(cell_line(result), markup=False, highlight=False, style="red")
        rate = rate_text(result)
        self._update(done, total, rate=f"{rate}/s" if rate else "", failures=_failed(self._failures))

    def _update(self, done: int, total: int, **fields: Any) -> None:
        place = self._pace.place(done, total)
        known = None if self._pace.open_ended else total
        self._progress.update(self._task, completed=done, total=known, place=place, **fields)


class _TimeLeft(ProgressColumn):
    """The time left, by the pace of the cells."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> Text:
        """Text for the column."""
        return Text(time_left(self._pace.left_s(int(task.total or 0))) if task.total else "", style="dim")
