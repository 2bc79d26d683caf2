"""Cells whose one client took a time, and what comparing them says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.comparisons import Comparison, compare
from core.cell import Value
from record.run import CellResult
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 8


NO_VALUES: Mapping[str, Value] = {}


def timed(arm: str, block: int, ms: float, values: Mapping[str, Value] = NO_VALUES, **more: Any) -> CellResult:
    """An ok cell of *arm* that took *ms*."""
    cell = measured(cell_of("2", arm.removesuffix(" again"), values), block, [round(ms * MS)])
    return replace(cell, **{"arm": arm, "wall_ns": round(ms * MS), **more})


def steady(arm: str, ms: float, values: Mapping[str, Value] = NO_VALUES, blocks: int = BLOCKS) -> list[CellResult]:
    """As many blocks, all alike."""
    return [timed(arm, block, ms, values) for block in range(1, blocks + 1)]


def compared(cells: Sequence[CellResult], runtimes: Sequence[str] = ("3.11", "3.14")) -> list[Comparison]:
    return compare(run_of(cells, runtimes=runtimes))


def only(cells: Sequence[CellResult], runtimes: Sequence[str] = ("3.11", "3.14")) -> Comparison:
    (one,) = compared(cells, runtimes)
    return one
