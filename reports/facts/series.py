"""Cells that agree in all parameters but some: what a sweep of these is read from. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.cell import Value
from core.messages import Message, listed, message, verbatim
from core.result import CellResult, Run
from reports.facts.arrangement import value_text
from reports.facts.figures import requests_per_s
from reports.facts.summary import runtimes, setting_key


@dataclass(frozen=True, kw_only=True)
class Series:
    """Cells of one system, all of them ok, arm by arm, block by block. params: those that all of them agree in."""

    system: str
    params: Mapping[str, Value]
    cells: tuple[CellResult, ...]

    @property
    def arms(self) -> list[str]:
        """The arms that have a cell."""
        return list(dict.fromkeys(cell.arm for cell in self.cells))

    def values(self, name: str) -> list[int]:
        """The values of parameter *name*, a whole number, in order."""
        return sorted({number(cell, name) for cell in self.cells})

    def by_value(self, name: str, arm: str) -> dict[int, list[CellResult]]:
        """The cells of *arm* for each value of *name*."""
        mine = [cell for cell in self.cells if cell.arm == arm]
        every = {value: [cell for cell in mine if number(cell, name) == value] for value in self.values(name)}
        return {value: cells for value, cells in every.items() if cells}


def series(run: Run, along: Sequence[str]) -> list[Series]:
    """The cells that are ok and have all parameters of *along*, apart by every other one; in the plan's order."""
    order = arms(run)
    by_setting: dict[tuple[str, str], list[CellResult]] = {
        setting_key(row["system"], _without(row["params"], along)): [] for row in run.plan["rows"]
    }
    for cell in run.cells:
        if cell.status == "ok" and all(name in cell.params for name in along):
            by_setting.setdefault(setting_key(cell.system, _without(cell.params, along)), []).append(cell)
    return [
        Series(
            system=cells[0].system,
            params=_without(cells[0].params, along),
            cells=tuple(sorted(cells, key=lambda cell: (order.index(cell.arm), cell.block))),
        )
        for cells in by_setting.values()
        if cells
    ]


def arms(run: Run) -> list[str]:
    """The runtimes present, then arms that go by another name: the order of every table and plot."""
    return list(dict.fromkeys([*runtimes(run), *(cell.arm for cell in run.cells)]))


def labels(every: Sequence[Series]) -> list[Message]:
    """What tells each from the others: 'system 2, PAYLOAD_BYTES 0'; nothing where nothing does."""
    values: dict[str, set[str]] = {}
    for each in every:
        for name, value in each.params.items():
            values.setdefault(name, set()).add(value_text(value))
    telling = [name for name, texts in values.items() if len(texts) > 1]
    systems = len({each.system for each in every}) > 1
    return [
        listed(
            [message("system {system}", system=each.system)] * systems
            + [verbatim(f"{name} {value_text(each.params[name])}") for name in telling if name in each.params]
        )
        for each in every
    ]


def about(sentence: Message, *subjects: Message | str) -> Message:
    """*sentence* with what it is about before it, those *subjects* that are not empty: 'system 2, 3.14t: ...'."""
    named = [subject for subject in subjects if subject]
    return message("{about}: {sentence}", about=listed(named), sentence=sentence) if named else sentence


def number(cell: CellResult, name: str) -> int:
    """The value of a parameter that is a whole number."""
    value = cell.params[name]
    assert isinstance(value, int)
    return value


def median_requests_per_s(cells: Sequence[CellResult]) -> float:
    """The median over the blocks."""
    return median(requests_per_s(cell) for cell in cells)


def is_proportional(processes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the system reported the proportional set size of every process."""
    return all(process.get("pss_bytes") for process in processes)


def memory_bytes(processes: Sequence[Mapping[str, Any]]) -> int | None:
    """Memory of all *processes*: proportional set sizes, or peaks where these are unknown; None without either."""
    name = "pss_bytes" if is_proportional(processes) else "max_rss_bytes"
    sizes: list[int] = [process.get(name, 0) for process in processes]
    return sum(sizes) if all(sizes) else None


def _without(params: Mapping[str, Value], along: Sequence[str]) -> dict[str, Value]:
    return {name: value for name, value in params.items() if name not in along}
