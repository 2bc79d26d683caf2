"""Sweeps and latencies: panels, axes, lines and marks."""

from collections.abc import Sequence

from core.cell import Value
from core.result import Run
from reports.document.model import Figure
from reports.topics.sweeps import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def swept(name: str, values: Sequence[Value], system: str = "4") -> Run:
    cells = [
        measured(cell_of(system, runtime, {**SMALL, name: value}), block, [place * 100 * MS + block * MS])
        for place, value in enumerate(values, 1)
        for runtime in ("3.11", "3.14t")
        for block in (1, 2)
    ]
    return run_of(cells, blocks=2)


def figure(run: Run) -> Figure:
    (drawn,) = section(View(run)).figures
    return drawn


def test_none_has_its_place_after_the_numbers() -> None:
    (panel,) = figure(swept("NUM_MAX_CONNS", [None, 4, 1], system="2")).panels
    assert [text for _, text in panel.across.ticks] == ["1", "4", "none"]
