"""The waterfall: each bar begins where its step starts from, and the last is the whole way as it was measured."""

import pytest

from core.languages import ENGLISH
from reports.document.model import Line, Table
from reports.sections.steps import section
from reports.view import View
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import RUNTIMES, run_of

MS = {"3.11": 4000, "3.14": 2000, "3.14t+gil": 2500, "3.14t": 1250}
MS |= {"3.14+jit": 4000, "3.15": 1600, "3.15t": 800}


def waterfall(*arms: str) -> Table:
    cells = [
        cell for size in (0, 1) for arm in arms for cell in steady(arm, MS[arm] * (1 + size), {"PAYLOAD_BYTES": size})
    ]
    (table,) = section(View(run_of(cells, runtimes=arms))).tables
    return table


def texts(line: Line) -> list[str]:
    return [datum.text(ENGLISH) for datum in line if datum.strip is None]


def test_bars_fall_where_a_step_costs_and_the_whole_begins_at_nothing() -> None:
    bars = [line[1].strip.bars[0] for line in waterfall(*RUNTIMES).lines if line[1].strip]
    assert [kind for _, _, kind in bars] == ["fall total", "fall gain", "fall loss", "fall gain", "fall total"]
    assert [start for start, _, _ in bars] == pytest.approx([0, 1, 2, 1.6, 0])


def test_a_bar_begins_at_the_speed_of_the_runtime_that_its_step_starts_from() -> None:
    """The JIT is a branch; the way without a GIL goes on from 3.14."""
    found = waterfall("3.14", "3.14+jit", "3.15", "3.15t")
    assert [texts(line) for line in found.lines] == [
        ["3.14", "", "1.00"],
        ["JIT: 3.14 → 3.14+jit", "× 0.50", "0.50"],
        ["version: 3.14 → 3.15", "× 1.25", "1.25"],
        ["several: 3.15 → 3.15t", "× 2.00", "2.50"],
        ["whole: 3.14 → 3.15t", "× 2.50", "2.50"],
    ]
    bars = [line[1].strip.bars[0] for line in found.lines if line[1].strip]
    assert [start for start, _, _ in bars] == pytest.approx([0, 1, 1, 1.25, 0])
