"""How far a run has come: a live line on a terminal, one plain line a cell anywhere else."""

import sys
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from core.cell import Cell
from core.result import CellResult
from reports.terminal import terminal


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


def display() -> Display:
    """The display that suits standard error."""
    console = terminal(sys.stderr)
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


def cell_line(result: CellResult) -> str:
    """One cell in one line: what, how long, how fast, or why not."""
    name = f"block {result.block}  system {result.system}  {result.runtime:<9}"
    if result.status != "ok":
        return f"{name} {result.status}: {result.reason}"
    if not result.clients:
        return f"{name} idle: no clients"
    rate = result.requests / (result.wall_ns / 1e9)
    return f"{name} {result.wall_ns / 1e9:8.3f} s {rate:9,.0f} requests/s"


class PlainDisplay:
    """One line a cell; no control codes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Nothing: the line comes when the cell has ended."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Its line."""
        line = f"[{done:>{len(str(total))}}/{total}] {cell_line(result)}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class LiveDisplay:
    """One live line: block, cell, bar, time left, failures so far. Failed cells scroll by above it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._failures = 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("[red]{task.fields[failures]}"),
            console=console,
            transient=True,
            expand=True,
        )
        self._task: TaskID = self._progress.add_task("starting", total=None, failures="")

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show what runs now."""
        now = f"block {block}, system {cell.system}, {cell.runtime}"
        self._progress.update(self._task, description=now, completed=done, total=total)

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that it has ended, and keep a line of it if it failed."""
        if result.status != "ok":
            self._failures += 1
            self._console.print(cell_line(result), markup=False, highlight=False, style="red")
        failures = f"{self._failures} failed" if self._failures else ""
        self._progress.update(self._task, completed=done, total=total, failures=failures)
