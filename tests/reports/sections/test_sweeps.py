"""Sweeps and latencies: panels, axes, lines and marks."""

from collections.abc import Sequence

from core.cell import Value
from core.result import Run
from reports.document.model import Figure
from reports.sections.sweeps import section
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


def test_a_sweep_shows_every_value_the_parameters_unit_and_the_medians_in_a_table() -> None:
    drawn = figure(swept("PAYLOAD_BYTES", [0, 1000, 5000]))
    (panel,) = drawn.panels
    assert str(panel.across.label) == "PAYLOAD_BYTES [bytes]"
    assert [text for _, text in panel.across.ticks] == ["0", "1000", "5000"]
    assert [mark.x for mark in panel.curves[0].marks] == [0, 0, 1000, 1000, 5000, 5000]
    assert panel.up.low == 0
    assert panel.up.high > 0.302
    assert drawn.table is not None
    assert [line[2].value for line in drawn.table.lines[:2]] == [0.1015, 0.1015]


def test_none_has_its_place_after_the_numbers() -> None:
    (panel,) = figure(swept("NUM_MAX_CONNS", [None, 4, 1], system="2")).panels
    assert [text for _, text in panel.across.ticks] == ["1", "4", "none"]
