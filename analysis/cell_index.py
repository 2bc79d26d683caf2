"""An index of a run's measurements (cells) by setting, runtime and block, with table rows as views
of it.

A setting is a system with one combination of parameter values (record/comparison.py: Setting, Key).
An arm is a runtime, the second runtime of A/A, or a service that already runs. Most of analysis/
and reports/ starts from these rows. A row keeps what it has computed, so nobody may change its
histogram or its figures.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter, itemgetter
from textwrap import shorten
from typing import Literal, TypeVar

from analysis.metrics import LABELLED, Figures
from analysis.stats import paired_ratio
from core.histogram import Histogram
from core.messages import SEMICOLON, Arg, Json, Message, listed, message, plural
from core.runtime import NATIVE, RuntimeName
from record.comparison import Key, Setting, setting_key
from record.saved_plan import SavedRow
from record.saved_run import CellResult, Run

REASON_CHARACTERS = 200  # of each line of a reason
EXCEPTION = re.compile(
    r"[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt)\b"
)  # the line of a traceback that says what was raised
NO_REASON = message("no reason given")
# a block counts if its slices are so many times as long as the longest requests that matter
LEAST_TAILS = 2

Item = TypeVar("Item")
Same = TypeVar("Same", bound=Hashable)
State = Literal["ok", "failed", "invalid", "not measured"]
STATES: Mapping[State, Message] = {
    "ok": message("ok"),
    "failed": message("failed"),
    "invalid": message("invalid"),
    "not measured": message("not measured"),
}
# by state; Row.trouble sets the arguments, count, bad and reason
TROUBLES = {
    "failed": plural(
        "{bad} of {count} block failed: {reason}",
        "{bad} of {count} blocks failed: {reason}",
        count=0,
    ),
    "invalid": plural(
        "{bad} of {count} block invalid: {reason}",
        "{bad} of {count} blocks invalid: {reason}",
        count=0,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Row(Setting, SavedRow):
    """A row of the results table: the measurements (cells) of one setting under one runtime (arm),
    in all blocks.

    cells:   the measured cells, in the order in which they ran
    planned: the number of blocks in the plan, or of the blocks that began if the run may end before
        all blocks; of the measured blocks if the run drops settings
    first:   the cells of the same setting under the first runtime, to which the ratio refers
    tail_ns: the length of the longest requests that matter at this setting, under any runtime
    """

    runtime: str
    planned: int
    cells: tuple[CellResult, ...]
    first: tuple[CellResult, ...] = ()
    tail_ns: int = 0

    @property
    def trace(self) -> str:
        """The names of all measurements in the row, for use in links on the page."""
        return of_cells(self.cells)

    @property
    def good(self) -> list[CellResult]:
        """The row's measurements (cells) that are ok and count. All figures of the row come only
        from these measurements. If the slices of all blocks were too short, all count.
        """
        measured = [cell for cell in self.cells if cell.status == "ok"]
        return [cell for cell in measured if is_long(cell, self.tail_ns)] or measured

    @property
    def bad(self) -> list[CellResult]:
        """The row's measurements (cells) that failed or are invalid."""
        return [cell for cell in self.cells if cell.status != "ok"]

    @property
    def state(self) -> State:
        """The state of the row: ok if at least one block is ok."""
        if self.good:
            return "ok"
        return self.bad[0].status if self.bad else "not measured"

    @property
    def trouble(self) -> Message:
        """The number of blocks that are not ok, with the first reason of each kind; empty if all
        are ok.
        """
        count, troubles = len(self.cells), []
        for status, bad in sorted(grouped(self.bad, attrgetter("status")).items()):
            args: dict[str, Arg] = {"count": count, "bad": len(bad), "reason": reasons(bad)[0]}
            troubles.append(replace(TROUBLES[status], args=args))
        return listed(troubles, SEMICOLON)

    @cached_property
    def latency(self) -> Histogram:
        """The latencies of all requests in the cells with the status ok."""
        together = Histogram()
        for cell in self.good:
            together.merge(cell.latency)
        return together

    @cached_property
    def figures(self) -> Figures | None:
        """The row's figures by name; None if the row has no measurement (cell) that is ok and ran
        client processes.
        """
        if not any(cell.clients for cell in self.good):
            return None
        return {metric.row_key: metric.of_row(self.good, self.latency) for metric in LABELLED}

    @cached_property
    def ratio(self) -> float | None:
        """The row's throughput divided by the first runtime's, over the blocks that count for
        both, as in their comparison (analysis/pairs.py); None if unknown.
        """
        longest_ns = tail_ns([*self.first, *self.cells], self.params)
        sides = [replace(self, cells=of, tail_ns=longest_ns) for of in (self.first, self.cells)]
        times = [request_ns(side.good) for side in sides]
        found = paired_ratio(*times) if self.figures else None
        return found.value if found else None

    @property
    def columns(self) -> Figures:
        """All values of the row by key (ROW_METRICS)."""
        return {
            **(self.figures or {}),
            "ratio_to_first_runtime": self.ratio,
            "blocks_ok": len(self.good),
        }


class Cells:
    """An index of the measurements (cells) that *run* had when the index was made.

    arms:     the runtimes that are present, then arms with other names; every table and plot has
              this order
    settings: the settings by key, in the plan's order; then settings of cells that the plan does
        not have
    """

    def __init__(self, run: Run) -> None:
        plan = run.plan
        self.run = run
        begun = max((cell.block for cell in run.cells), default=0)
        self.planned = begun if plan.until else plan.blocks
        self.arms = list(dict.fromkeys([*runtimes(run), *(cell.arm for cell in run.cells)]))
        self.settings = {setting_key(row.system, row.params): row for row in plan.rows}
        self._blocks: dict[tuple[Key, str], dict[int, CellResult]] = {}
        for cell in run.cells:
            key = setting_key(cell.system, cell.params)
            self.settings.setdefault(key, SavedRow(system=cell.system, params=cell.params))
            self._blocks.setdefault((key, cell.arm), {})[cell.block] = cell

    def blocks(self, key: Key, arm: str) -> Mapping[int, CellResult]:
        """Return the measurements of a setting under the runtime or service *arm* by block, in the
        order they ran.
        """
        return self._blocks.get((key, arm), {})

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The table rows of all settings, including settings that were not measured. Rows of a
        system are together.
        """
        here, made = runtimes(self.run), []
        for key in chain(*grouped(self.settings, itemgetter(0)).values()):
            setting = self.settings[key]
            planned = here if setting.runtimes is None else setting.runtimes
            first = tuple(
                cell for name in reference(self.run) for cell in self.blocks(key, name).values()
            )
            by_arm = {arm: tuple(self.blocks(key, arm).values()) for arm in self.arms}
            longest_ns = tail_ns(chain(*by_arm.values()), setting.params)
            for arm, cells in by_arm.items():
                if cells or arm in planned:
                    made.append(
                        Row(
                            **vars(setting),
                            runtime=arm,
                            planned=len(cells) if self.run.plan.halves_settings else self.planned,
                            cells=cells,
                            first=first,
                            tail_ns=longest_ns,
                        )
                    )
        return tuple(made)


def runtimes(run: Run) -> list[RuntimeName]:
    """Return the plan's runtimes that are available, in the plan's order."""
    return [name for name in run.plan.runtimes if name in run.runtimes]


def reference(run: Run) -> list[RuntimeName]:
    """Return the runtime to which ratios refer: the first available one that is not native; [] if
    there is none.
    """
    return [name for name in runtimes(run) if name != NATIVE][:1]


# ---- rows together -------------------------------------------------------------------------------


def grouped(items: Iterable[Item], key: Callable[[Item], Same]) -> dict[Same, list[Item]]:
    """Return the items by key. Items with the same key need not be neighbours in *items*."""
    found: dict[Same, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def groups(all_rows: Iterable[Row]) -> list[list[Row]]:
    """Return groups of table rows that differ only in the runtime or service."""
    return [*grouped(all_rows, attrgetter("key")).values()]


# ---- of cells ------------------------------------------------------------------------------------


def request_ns(cells: Iterable[CellResult]) -> dict[int, float]:
    """Return the wall time per answered request by block, in ns. All throughput ratios use these
    times.

    Cells without answers or without wall time are left out.
    """
    return {
        cell.block: cell.wall_ns / cell.answered for cell in cells if cell.answered and cell.wall_ns
    }


def is_open(params: Json) -> bool:
    """Return whether clients send requests at a fixed rate (open loop): the parameter RATE is the
    requests/s of each client, and a closed loop has none, or 0. Then throughput is no result.
    """
    return bool(params.get("RATE"))


def tail_ns(cells: Iterable[CellResult], params: Json) -> int:
    """Return the length of the longest requests that matter of *cells*; 0 at a fixed rate."""
    tails = [0, *(cell.turns.tail_ns for cell in cells)]
    return 0 if is_open(params) else max(tails)


def is_long(cell: CellResult, longest_ns: int) -> bool:
    """Return whether the slices of a measurement, if any, are long enough for requests of
    *longest_ns*. In the first blocks, long requests may not be known yet.
    """
    return not cell.turns.slices or cell.turns.length_ns >= LEAST_TAILS * longest_ns


def number(cell: CellResult, name: str) -> int:
    """Return the value of an integer parameter of a cell."""
    value = cell.params[name]
    assert isinstance(value, int)
    return value


def reasons(cells: Iterable[CellResult]) -> list[Message]:
    """Return each reason why measurements (cells) failed or are invalid, shortened to a few lines.

    These are the first and the last line, and the last line between them that names an exception.
    """
    return list(dict.fromkeys(_short(cell.reason) or NO_REASON for cell in cells))


def _short(reason: Message) -> Message:
    def shortened(value: Arg) -> Arg:
        return (
            _short(value)
            if isinstance(value, Message)
            else _short_text(value)
            if isinstance(value, str)
            else value
        )

    args = {name: shortened(value) for name, value in reason.args.items()}
    return replace(reason, args=args, text=_short_text(reason.text))


def _short_text(text: str) -> str:
    printable = "".join(sign for sign in text if sign.isprintable() or sign.isspace())
    lines = [line for line in printable.splitlines() if line.strip()]
    raised = [line for line in lines[1:-1] if EXCEPTION.match(line)]
    ends = [*lines[:1], *raised[-1:], *lines[1:][-1:]]
    return " [...] ".join(shorten(line, REASON_CHARACTERS, placeholder=" [...]") for line in ends)


# ---- traces: names by which links on the page lead from a figure to the cells --------------------
# A cell's line in the table of cells has an id. A figure over several blocks names groups: the
# beginnings of ids.


def group(cell: CellResult) -> str:
    """Return the name that a measurement (cell) shares with its repetitions in other blocks. It has
    no spaces.
    """
    return f"{'_'.join(cell.arm.split())}-{cell.cell_id}"


def line_id(cell: CellResult) -> str:
    """Return the HTML id of a measurement's line in the page's table of all
    measurements (cells).
    """
    return f"cell-{group(cell)}-{cell.block}"


def of_cells(cells: Iterable[CellResult]) -> str:
    """Return the names of the measurements *cells* for use in links on the page, separated by
    spaces.
    """
    return together(map(group, cells))


def of_rows(rows: Iterable[Row]) -> str:
    """Return the names of all measurements in *rows* for use in links on the page, separated by
    spaces.
    """
    return of_cells(cell for row in rows for cell in row.cells)


def together(groups: Iterable[str]) -> str:
    """Join space-separated lists of names into one list that has each name once."""
    return " ".join(dict.fromkeys(" ".join(groups).split()))
