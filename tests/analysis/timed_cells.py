"""Cells whose one client took a time, and what comparing them says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.comparing import compare
from analysis.comparison_words import Comparison
from core.cell import Value
from record.saved_run import CellResult, Run
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 8
NO_VALUES: Mapping[str, Value] = {}


def timed(
    arm: str, block: int, ms: float, values: Mapping[str, Value] = NO_VALUES, *, system: str = "2", **more: Any
) -> CellResult:
    """An ok cell of *arm* that took *ms*."""
    cell = measured(cell_of(system, arm.removesuffix(" again"), values), block, [round(ms * MS)])
    return replace(cell, **{"arm": arm, "wall_ns": round(ms * MS), **more})


def steady(arm: str, ms: float, values: Mapping[str, Value] = NO_VALUES, blocks: int = BLOCKS) -> list[CellResult]:
    """As many blocks, all alike."""
    return in_blocks(arm, [ms] * blocks, values)


def in_blocks(
    arm: str, times_ms: Iterable[float], values: Mapping[str, Value] = NO_VALUES, **more: Any
) -> list[CellResult]:
    """A block for each time."""
    return [timed(arm, block, ms, values, **more) for block, ms in enumerate(times_ms, 1)]


def compared(cells: Sequence[CellResult]) -> list[Comparison]:
    return compare(run_of(cells))


def by_step(run: Run) -> dict[str, Comparison]:
    return {one.step: one for one in compare(run)}


def only(cells: Sequence[CellResult]) -> Comparison:
    (one,) = compared(cells)
    return one
