"""A run's cells grouped over its blocks: one row per system, parameters and runtime. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any, Literal

from core.cell import Value
from core.histogram import Histogram
from core.messages import SEMICOLON, Arg, Message, listed, message, plural
from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.facts.figures import Figures, figures_of
from reports.statistics.stats import paired_effect

REASON_CHARACTERS = 200
NO_REASON = message("no reason given")

State = Literal["ok", "failed", "invalid", "not measured"]
STATES: Mapping[State, Message] = {
    "ok": message("ok"),
    "failed": message("failed"),
    "invalid": message("invalid"),
    "not measured": message("not measured"),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One system with one set of parameters under one runtime, over all blocks.

    cells: what was measured, in the order in which it ran; planned: how many blocks there should be
    figures: by name (reports.facts.figures); None if no cell is ok
    ratio: throughput here over that under the first runtime present, of the blocks that both have
    title: what the plan calls it, or ""
    """

    system: str
    params: Mapping[str, Value]
    runtime: str
    title: str = ""
    planned: int
    cells: tuple[CellResult, ...]
    latency: Histogram
    figures: Figures | None
    ratio: float | None = None

    @property
    def good(self) -> list[CellResult]:
        """The cells that are ok: all figures come from these alone."""
        return [cell for cell in self.cells if cell.status == "ok"]

    @property
    def bad(self) -> list[CellResult]:
        """The cells that failed or are invalid."""
        return [cell for cell in self.cells if cell.status != "ok"]

    @property
    def state(self) -> State:
        """ok where at least one block is."""
        if self.good:
            return "ok"
        return self.bad[0].status if self.bad else "not measured"

    @property
    def trouble(self) -> Message:
        """How many of its blocks are not ok, and the first reason of each kind; nothing if all are."""
        by_status = {status: [cell for cell in self.bad if cell.status == status] for status in ("failed", "invalid")}
        return listed(
            (_trouble(status, cells, len(self.cells)) for status, cells in by_status.items() if cells), SEMICOLON
        )


def _trouble(status: str, cells: Sequence[CellResult], count: int) -> Message:
    """count: of all cells of the row"""
    bad, reason = len(cells), first_reason(cells)
    if status == "failed":
        return plural(
            "{bad} of {count} block failed: {reason}",
            "{bad} of {count} blocks failed: {reason}",
            count=count,
            bad=bad,
            reason=reason,
        )
    return plural(
        "{bad} of {count} block invalid: {reason}",
        "{bad} of {count} blocks invalid: {reason}",
        count=count,
        bad=bad,
        reason=reason,
    )


def as_message(value: Any) -> Message:
    """A reason as a message; plain text, as earlier versions kept it, word for word."""
    return value if isinstance(value, Message) else Message.from_json(value)


def first_reason(cells: Iterable[CellResult]) -> Message:
    """The first reason of cells that are not ok, and how many others there are."""
    first, *others = reasons(cells)
    if not others:
        return first
    return plural(
        "{reason} (and {count} more reason, in cells.csv)",
        "{reason} (and {count} more reasons, in cells.csv)",
        count=len(others),
        reason=first,
    )


def reasons(cells: Iterable[CellResult]) -> list[Message]:
    """The reasons of cells that are not ok, each once, in short: of several lines the first and the last."""
    return list(dict.fromkeys(_short(as_message(cell.reason)) or NO_REASON for cell in cells))


def _short(reason: Message) -> Message:
    """The message with each of its texts in one line."""
    args = {name: _short_arg(value) for name, value in reason.args.items()}
    return replace(reason, args=args, text=_short_text(reason.text))


def _short_arg(value: Arg) -> Arg:
    if isinstance(value, Message):
        return _short(value)
    return _short_text(value) if isinstance(value, str) else value


def _short_text(text: str) -> str:
    printable = "".join(sign for sign in text if sign.isprintable() or sign.isspace())
    lines = [" ".join(line.split()) for line in printable.splitlines() if line.strip()]
    ends = [lines[0], lines[-1]] if len(lines) > 1 else lines
    return " [...] ".join(shorten(line, REASON_CHARACTERS, placeholder=" [...]") for line in ends)


def request_ns(cells: Iterable[CellResult]) -> dict[int, float]:
    """Wall time per answered request by block, of the cells that timed any: every ratio of throughputs is of these."""
    return {cell.block: cell.wall_ns / cell.answered for cell in cells if cell.answered and cell.wall_ns}


def runtimes(run: Run) -> list[str]:
    """The runtimes that are present, in the plan's order."""
    return [name for name in run.plan["runtimes"] if name in run.runtimes]


def reference(run: Run) -> list[str]:
    """The runtime that ratios refer to: the first that is present and no limit. Empty if there is none."""
    return [name for name in runtimes(run) if name != NATIVE][:1]


def rows(run: Run) -> list[Row]:
    """Every row of the plan, system by system, measured or not, and whatever else the run holds."""
    by_arm: dict[tuple[str, str, str], list[CellResult]] = {}
    for cell in run.cells:
        by_arm.setdefault((*setting_key(cell.system, cell.params), cell.arm), []).append(cell)
    planned = {setting_key(row["system"], row["params"]): row.get("runtimes") for row in run.plan["rows"]}
    made: list[Row] = []
    for setting, (params, title) in _settings(run).items():
        measured = [arm for *where, arm in by_arm if tuple(where) == setting]
        group = [
            _row(setting[0], params, title, arm, by_arm.get((*setting, arm), []), run.plan["blocks"])
            for arm in _arms(run, planned.get(setting), measured)
        ]
        made += _with_ratios(group, reference(run))
    return made


def setting_key(system: str, params: Mapping[str, Value]) -> tuple[str, str]:
    """What rows have in common that differ in the runtime alone."""
    return system, json.dumps(params, sort_keys=True)


def _settings(run: Run) -> dict[tuple[str, str], tuple[Mapping[str, Value], str]]:
    """Parameters and title of every row of the plan, then of cells that are no part of it; systems together."""
    planned = [(row["system"], row["params"], row.get("title", "")) for row in run.plan["rows"]]
    every = planned + [(cell.system, cell.params, "") for cell in run.cells]
    systems = list(dict.fromkeys(system for system, _, _ in every))
    settings: dict[tuple[str, str], tuple[Mapping[str, Value], str]] = {}
    for system, params, title in sorted(every, key=lambda setting: systems.index(setting[0])):
        settings.setdefault(setting_key(system, params), (params, title))
    return settings


def _arms(run: Run, planned: Sequence[str] | None, measured: Iterable[str]) -> list[str]:
    """Of the runtimes present those that the setting has cells under, then arms that go by another name."""
    names = [name for name in runtimes(run) if planned is None or name in planned]
    return list(dict.fromkeys([*names, *measured]))


def _row(
    system: str, params: Mapping[str, Value], title: str, arm: str, cells: Sequence[CellResult], planned: int
) -> Row:
    good = [cell for cell in cells if cell.status == "ok"]
    latency = Histogram()
    for cell in good:
        if cell.latency:
            latency.merge(Histogram.from_json(cell.latency))
    return Row(
        system=system,
        params=params,
        title=title,
        runtime=arm,
        planned=planned,
        cells=tuple(cells),
        latency=latency,
        figures=figures_of(good, latency),
    )


def _with_ratios(group: Sequence[Row], first: Sequence[str]) -> list[Row]:
    """Rows that differ in the runtime alone, each with its ratio to the first runtime's, if that has a figure."""
    base = next((row for row in group if row.runtime in first and row.figures), None)
    if base is None:
        return list(group)
    return [replace(row, ratio=_ratio(base, row)) if row.figures else row for row in group]


def _ratio(base: Row, row: Row) -> float | None:
    logarithm = paired_effect(request_ns(base.good), request_ns(row.good))
    return logarithm.ratio.value if logarithm else None
