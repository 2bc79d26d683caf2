"""The bars of completion times, and the seed's tables beside ours."""

from dataclasses import replace

import pytest

from core.result import Run
from reports.document.model import Figure
from reports.sections.completion import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def figure(run: Run) -> Figure:
    (drawn,) = section(View(run)).figures
    return drawn


def test_bars_begin_at_zero_end_at_the_median_and_lead_to_their_cells() -> None:
    cell = cell_of("1", "3.11", SMALL)
    (panel,) = figure(run_of([measured(cell, block, [block * 100 * MS]) for block in (1, 2, 3)])).panels
    (span,) = panel.curves[0].spans
    assert [span.start, span.end] == pytest.approx([0, 0.2])
    assert str(span.text) == "0.200"
    assert span.cells == f"3.11-{cell.cell_id}"
    assert str(panel.curves[1].spans[0].text) == "not measured"


def test_settings_of_unlike_work_have_scales_of_their_own_and_idle_ones_none() -> None:
    few, none = {**SMALL, "NUM_REQUESTS_PER_CLIENT": 10}, {**SMALL, "NUM_CLIENTS": 0}
    cells = [measured(cell_of("1", "3.11", values), 1, [time]) for values, time in ((SMALL, 900 * MS), (few, MS))]
    cells.append(replace(cells[0], params={**cells[0].params, **none}, clients=[], requests=0))
    panels = figure(run_of(cells, blocks=1, runtimes=["3.11"])).panels
    assert [panel.across.high for panel in panels] == [pytest.approx(0.936), pytest.approx(0.00104)]
