"""How far a run has come: a live line on a terminal, one plain line a cell anywhere else, or failures alone."""

import sys
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from core.cell import Cell, Value
from core.languages import ENGLISH, Language
from core.messages import NOTHING, Message, listed, message, verbatim
from core.printable import for_terminal
from core.result import CellResult
from reports.document.values import whole
from reports.facts.figures import requests_per_s
from reports.facts.settings import parameter_values, varying_names
from reports.render.console import terminal
from reports.terminal.pace import Pace, time_left

BAR_WIDTH = 12
WHOLE = Column(no_wrap=True)  # a narrow terminal cuts what runs now, not how far it is


class Display(Protocol):
    """A progress display, open for as long as the run goes on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """*done* of *total* cells are behind us."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """One more is."""


def display(
    cells: Iterable[Cell] = (), *, quiet: bool = False, open_ended: bool = False, language: Language = ENGLISH
) -> Display:
    """The display that suits standard error.

    cells: that will be measured; those of one system are told apart by what differs between them
    quiet: only what is not ok. open_ended: the run may end before all of its blocks, so no time left is known
    """
    console = terminal(sys.stderr)
    kind = QuietDisplay if quiet else LiveDisplay if console.is_terminal else PlainDisplay
    return kind(console, Pace(open_ended=open_ended), language, cells)


def cell_line(result: CellResult) -> Message:
    """One cell in one line: what, how long, how fast, or why not."""
    name = message(
        "block {block}  system {system}  {runtime:<9}",
        block=result.block, system=result.system, runtime=result.runtime,
    )  # fmt: skip
    if result.status != "ok":
        failed = message("failed: {reason}", reason=result.reason)
        invalid = message("invalid: {reason}", reason=result.reason)
        return message("{cell} {outcome}", cell=name, outcome=failed if result.status == "failed" else invalid)
    if not result.clients:
        return message("{cell} idle: no clients", cell=name)
    wall_s, rate = result.wall_ns / 1e9, whole(requests_per_s(result))
    return message("{cell} {wall_s:8.3f} s {rate:>9} requests/s", cell=name, wall_s=wall_s, rate=rate)


class QuietDisplay:
    """A line for each cell that is not ok, and nothing else."""

    def __init__(
        self,
        console: Console,
        pace: Pace | None = None,
        language: Language = ENGLISH,
        cells: Iterable[Cell] = (),
    ) -> None:
        self._console = console
        self._pace = pace or Pace()
        self._language = language
        self._failures = 0
        every = [*cells]
        self._telling = {
            system: varying_names(cell.params for cell in every if cell.system == system)
            for system in {cell.system for cell in every}
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Nothing: the line comes when the cell has ended."""
        self._pace.started(done)

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Its line, if it is not ok."""
        if result.status != "ok":
            self._print(cell_line(result), self._values(result.system, result.params))

    def _values(self, system: str, params: Mapping[str, Value]) -> Message:
        """What tells a cell from others of its system."""
        return verbatim(parameter_values(params, self._telling.get(system, ())))

    def _print(self, *parts: Message, style: str = "") -> None:
        line = "  ".join(self._text(part) for part in parts if part)
        self._console.print(line, markup=False, highlight=False, soft_wrap=True, style=style)

    def _text(self, part: Message) -> str:
        return for_terminal(self._language.text(part))

    def _failed(self) -> Message:
        return message("{count} not ok", count=self._failures) if self._failures else NOTHING


class PlainDisplay(QuietDisplay):
    """One line a cell, with the time left and failures so far; no control codes."""

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Its line."""
        self._pace.ended(done)
        self._failures += result.status != "ok"
        left = time_left(self._pace.left_s(total)) if done < total else NOTHING
        place = self._pace.place(done, total)
        line = message("[{place}] {cell}", place=place, cell=cell_line(result))
        self._print(line, self._values(result.system, result.params), left, self._failed())


class LiveDisplay(QuietDisplay):
    """One live line: block, cell, bar, rate, time left, failures so far. Failed cells scroll by above it."""

    def __enter__(self) -> Self:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            BarColumn(bar_width=BAR_WIDTH),
            *(TextColumn(f"{{task.fields[{name}]}}", markup=False, table_column=WHOLE) for name in ("place", "rate")),
            _TimeLeft(self._pace, self._language),
            TextColumn("{task.fields[failures]}", markup=False, style="red", table_column=WHOLE),
            console=self._console,
            transient=True,
            expand=True,
        )
        self._task: TaskID = self._progress.add_task("", total=None, place="", rate="", failures="")
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show what runs now."""
        super().cell_started(cell, block, done, total)
        now = message(
            "block {block}, system {system}, {runtime}", block=block, system=cell.system, runtime=cell.runtime
        )
        self._update(done, total, description=listed(filter(None, [now, self._values(cell.system, cell.params)])))

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Show that it has ended and how fast it was, and keep a line of it if it failed."""
        self._pace.ended(done)
        if result.status != "ok":
            self._failures += 1
            self._print(cell_line(result), self._values(result.system, result.params), style="red")
        rate = verbatim(f"{whole(requests_per_s(result))}/s") if result.clients and result.wall_ns else NOTHING
        self._update(done, total, rate=rate, failures=self._failed())

    def _update(self, done: int, total: int, **shown: Message) -> None:
        known = None if self._pace.open_ended else total
        texts: dict[str, Any] = {name: self._text(part) for name, part in shown.items()}
        texts["place"] = self._text(self._pace.place(done, total))
        self._progress.update(self._task, completed=done, total=known, **texts)


class _TimeLeft(ProgressColumn):
    """The time left, by the pace of the cells."""

    def __init__(self, pace: Pace, language: Language) -> None:
        super().__init__(WHOLE)
        self._pace = pace
        self._language = language

    def render(self, task: Task) -> Text:
        """Text for the column."""
        left = time_left(self._pace.left_s(int(task.total))) if task.total else NOTHING
        return Text(self._language.text(left), style="dim")
