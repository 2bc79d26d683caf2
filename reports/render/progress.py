"""Displays of a run's progress: a live line on a terminal, else one line per measurement (cell), or
only failures.

commands/running.py opens display() around a run. lab/run/experiment.py calls cell_started() and
cell_ended() of it (its protocol Progress) from the main thread, between measurements.
Other threads read the display: the reminder of PlainDisplay, and the one with which rich redraws
LiveDisplay. So replace shared values such as _starts as a whole, and do not change them in place.
Everything is printed on standard error.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from math import isfinite
from operator import attrgetter
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, RenderableColumn, TextColumn
from rich.table import Column
from rich.text import Text

from analysis.capacity_probes import RATE, rate_of
from analysis.cell_index import grouped
from analysis.formats import whole
from analysis.metrics import requests_per_s
from analysis.settings import place_in_plan, varying
from core.cell import Cell, Value
from core.languages import ENGLISH, Language, for_terminal
from core.messages import NOTHING, Message, listed, message, verbatim
from record.saved_run import CellResult
from reports.render.console import terminal

BAR_WIDTH = 12  # columns of the terminal
LONGER = 1.1  # times of measurements whose ratio is below this count as equal
SILENT_S = 12.0  # after so long without a line, a plain display says that the measurement goes on


class _Start(NamedTuple):
    """The start of measurements (cells) that end together.

    done: number of completed cells at this time
    """

    block: int
    done: int
    time_s: float


def time_left(left_s: float) -> Message:
    """Return the remaining time as text, such as '45 s left' or '3 h 05 min left'."""
    if left_s < 100:
        return message("{seconds:.0f} s left", seconds=left_s)
    minutes = round(left_s / 60)
    if minutes < 120:
        return message("{minutes} min left", minutes=minutes)
    return message("{hours} h {minutes:02d} min left", hours=minutes // 60, minutes=minutes % 60)


def _system(system: str, names: Mapping[str, str]) -> Message:
    return verbatim(names[system]) if system in names else message("system {system}", system=system)


def cell_line(result: CellResult, names: Mapping[str, str] = MappingProxyType({})) -> Message:
    """Return a line about a measurement (cell): block, system, runtime, then time and throughput,
    or why it failed.

    names: as analysis.settings.service_names() returns them
    """
    cell = message(
        "block {block}  {system}  {runtime:<9}",
        block=result.block, system=_system(result.system, names), runtime=result.runtime,
    )  # fmt: skip
    if result.status != "ok":
        outcome = {
            "failed": message("failed: {reason}", reason=result.reason),
            "invalid": message("invalid: {reason}", reason=result.reason),
        }[result.status]
        return message("{cell} {outcome}", cell=cell, outcome=outcome)
    if not result.clients:
        return message("{cell} idle: no clients", cell=cell)
    wall_s, rate = result.wall_ns / 1e9, whole(requests_per_s(result))
    measured = message(
        "{cell} {wall_s:8.3f} s {rate:>9} requests/s", cell=cell, wall_s=wall_s, rate=rate
    )
    if not result.params.get(RATE):
        return measured
    return message("{cell} at a planned {due}", cell=measured, due=whole(rate_of(result)))


class QuietDisplay(ExitStack):
    """A display that is open during a run and prints a line for each cell that is not ok, and
    nothing else.

    cells: the cells that will be measured; lines show the parameters that vary between cells of one
        system
    names: the names of systems, as analysis.settings.service_names() returns them
    limit_s: the time after which the run ends at the latest, even before all of its blocks; inf if
        unknown. None if the run measures all blocks
    clock: returns the current time in s
    timed_s: how long a cell is timed: as the plan says, or longer because requests are long; 0 if
        unknown. display() sets it, and _say_if_longer() raises it
    style: style of rich for lines on failed cells
    """

    style = ""
    timed_s = 0.0

    def __init__(
        self,
        console: Console,
        language: Language = ENGLISH,
        cells: Iterable[Cell] = (),
        names: Mapping[str, str] = MappingProxyType({}),
        *,
        limit_s: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._console = console
        self._language = language
        self._names = names
        self._limit_s = limit_s
        self._clock = clock
        self._failures = 0
        # only PlainDisplay waits for news
        self._has_news, self._is_over = threading.Event(), False
        self._starts: list[_Start] = []  # of the latest two blocks
        self._done, self._total = 0, 0
        self._due_s: float | None = None  # when the run ends at the latest
        self._telling = {
            system: varying(some) for system, some in grouped(cells, attrgetter("system")).items()
        }

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Record that a measurement (cell) starts after *done* of *total* measurements have ended.

        The first *done* of a resumed run is above 0.
        """
        self._done, self._total = done, total
        self._has_news.set()
        start = _Start(block, done, self._clock())
        if not self._starts and self._limit_s is not None and isfinite(self._limit_s):
            self._due_s = start.time_s + self._limit_s
        # starts of older blocks are dropped, because _left_s() is about the latest two
        latest = sorted({block, *(one.block for one in self._starts)})[-2:]
        self._starts = [*(one for one in self._starts if one.block in latest), start]

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Record that *done* measurements (cells) are completed now, and show the last of them."""
        self._done, self._total = done, total
        self._failures += result.status != "ok"
        self._has_news.set()
        self._show(result)

    def _show(self, result: CellResult) -> None:
        """Print a line about a completed measurement (cell) if it failed or is invalid."""
        if result.status != "ok":
            values = self._values(result.system, result.params)
            self._print(cell_line(result, self._names), values, style=self.style)

    def left(self) -> Message:
        """Return the time until the run ends; empty if unknown. It falls while a cell runs."""
        if self._due_s is not None:
            left = time_left(max(0.0, self._due_s - self._clock()))
            return message("at most {left}", left=left)
        # a run with a limit has no known number of cells, and one start shows no duration
        if self._limit_s is not None or not self._starts[1:]:
            return NOTHING
        return time_left(self._left_s())

    def _left_s(self) -> float:
        """Return the time in s until all blocks are measured, if cells take as long as in the
        latest blocks. Two starts must be known.

        If the cells that run now take longer, the time is that which they need at least.
        """
        starts = self._starts  # another thread may ask while the main thread replaces the list
        first, earlier, now = starts[0], starts[-2], starts[-1]
        together = now.done - earlier.done  # cells that end together, because they share slices
        cell_s = (now.time_s - first.time_s) / (now.done - first.done)
        left, spent_s = self._total - now.done, self._clock() - now.time_s
        return max(cell_s * left - spent_s, spent_s / together * (left - together), 0.0)

    def _say_if_longer(self, result: CellResult) -> None:
        """Print a line if a cell was timed for longer than was planned and than all cells before
        it, and raise *timed_s* to its time.

        Probes of a search for the capacity have lengths of their own.
        """
        before_s, timed_s = self.timed_s, result.turns.slices * result.turns.length_ns / 1e9
        if before_s and not result.probe and timed_s >= LONGER * before_s:
            self.timed_s = timed_s
            longer = message(
                "Requests take so long that each measurement is timed for {long:.1f} s instead of "
                "{short:.1f} s.",
                long=timed_s,
                short=before_s,
            )
            self._print(longer)

    def place(self) -> Message:
        """Return the progress as '3/12', or as 'cells done: 3' if the total is unknown."""
        if self._limit_s is not None:
            return message("cells done: {count}", count=self._done)
        return verbatim(f"{self._done:>{len(str(self._total))}}/{self._total}")

    def _values(self, system: str, params: Mapping[str, Value]) -> Message:
        """Return the parameters that distinguish a measurement (cell) from other measurements of
        the same system.
        """
        return verbatim(
            place_in_plan(params, self._telling.get(system, ()), is_own=system in self._names)
        )

    def _print(self, *parts: Message, style: str = "") -> None:
        line = "  ".join(self._text(part) for part in parts if part)
        self._console.print(line, markup=False, highlight=False, soft_wrap=True, style=style)

    def _text(self, part: Message) -> str:
        return for_terminal(self._language.text(part))

    def _failed(self) -> Message:
        return message("cells not ok: {count}", count=self._failures) if self._failures else NOTHING


class PlainDisplay(QuietDisplay):
    """A display without control codes: one line per measurement (cell), with the time left and
    number of failures.

    While a measurement takes long, a line every SILENT_S says so.
    """

    def __enter__(self) -> Self:
        reminding = threading.Thread(target=self._remind, name="progress", daemon=True)
        reminding.start()
        # callbacks run in reverse order: _end() wakes the thread before join() waits for it
        self.callback(reminding.join)
        self.callback(self._end)
        return self

    def _end(self) -> None:
        self._is_over = True
        self._has_news.set()

    def _remind(self) -> None:
        silent_s = 0.0
        while not self._is_over:
            if self._has_news.wait(SILENT_S):
                self._has_news.clear()
                silent_s = 0.0
                continue
            silent_s += SILENT_S
            if self._starts:
                waiting = message("still measuring: {seconds:.0f} s", seconds=silent_s)
                self._print(message("[{place}] {cell}", place=self.place(), cell=waiting))
            else:
                starting = message("starting the programs beside the service")
                self._print(
                    message("{starting}: {seconds:.0f} s", starting=starting, seconds=silent_s)
                )

    def _show(self, result: CellResult) -> None:
        """Print a line about a completed measurement (cell), and one if its time was longer."""
        self._say_if_longer(result)
        left = self.left() if self._done < self._total else NOTHING
        line = message("[{place}] {cell}", place=self.place(), cell=cell_line(result, self._names))
        self._print(line, self._values(result.system, result.params), left, self._failed())


class LiveDisplay(QuietDisplay):
    """A display of one live line: cell, bar, throughput, time left, failures. Lines on failed cells
    stay above it.
    """

    style = "red"

    def __enter__(self) -> Self:
        self._rate = NOTHING
        self._progress = Progress(  # a narrow terminal truncates the description, not the progress
            TextColumn(
                "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)
            ),
            BarColumn(bar_width=BAR_WIDTH),
            RenderableColumn(self, table_column=Column(no_wrap=True)),
            console=self._console,
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task(self._text(message("starting")), total=None)
        self.enter_context(self._progress)
        return self

    def __rich__(self) -> Text:
        """Return the run's progress as text for the line on the terminal that shows it.

        rich calls this whenever it draws the line, so the remaining time is up to date.
        """
        place = self.place() if self._total else NOTHING
        parts = ((place, ""), (self._rate, ""), (self.left(), "dim"), (self._failed(), "red"))
        return Text(" ").join(Text(self._text(part), style) for part, style in parts if part)

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Show which measurement (cell) runs now, and how many measurements are completed."""
        super().cell_started(cell, block, done, total)
        now = message(
            "block {block}, {system}, {runtime}",
            block=block,
            system=_system(cell.system, self._names),
            runtime=cell.runtime,
        )
        shown = listed(filter(None, [now, self._values(cell.system, cell.params)]))
        self._progress.update(self._task, description=self._text(shown))
        self._advance()

    def _show(self, result: CellResult) -> None:
        """Show the throughput of a completed measurement (cell), and print a line if it failed or
        is invalid.
        """
        super()._show(result)
        self._say_if_longer(result)
        is_known = result.clients and result.wall_ns
        self._rate = verbatim(f"{whole(requests_per_s(result))}/s") if is_known else NOTHING
        self._advance()

    def _advance(self) -> None:
        # without a total, rich shows a bar that only moves
        total = self._total if self._limit_s is None else None
        self._progress.update(self._task, completed=self._done, total=total)


def display(
    cells: Iterable[Cell] = (),
    names: Mapping[str, str] = MappingProxyType({}),
    *,
    quiet: bool = False,
    limit_s: float | None = None,
    duration_s: float = 0.0,
    language: Language = ENGLISH,
) -> QuietDisplay:
    """Return the kind of display that suits standard error, which may be a terminal.

    quiet: whether to show only cells that are not ok
    duration_s: how long each cell is timed if its requests are short enough; 0 if unknown
    names, limit_s: as QuietDisplay takes them
    """
    console = terminal(sys.stderr)
    kind = QuietDisplay if quiet else LiveDisplay if console.is_terminal else PlainDisplay
    shown = kind(console, language, cells, names, limit_s=limit_s)
    shown.timed_s = duration_s
    return shown
