"""The bars of completion times, and the seed's tables beside ours."""

from dataclasses import replace

import pytest

from core.result import Run
from reports.document.model import Figure
from reports.sections.completion import section
from reports.view import View
from tests.reports.sample import MS, RUNTIMES, cell_of, faulty, measured, run_of, seed_run

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def figure(run: Run) -> Figure:
    (drawn,) = section(View(run)).figures
    return drawn


def test_a_record_has_a_panel_for_each_setting_a_bar_for_each_arm_and_a_mark_for_each_block() -> None:
    drawn = figure(seed_run(blocks=2))
    assert len(drawn.panels) == 11
    assert len({(panel.across.low, panel.across.high) for panel in drawn.panels}) == 1
    for panel in drawn.panels:
        assert [text for _, text in panel.up.ticks] == list(RUNTIMES)
        assert [(len(curve.spans), len(curve.marks)) for curve in panel.curves] == [(1, 2)] * 4


def test_bars_begin_at_zero_end_at_the_median_and_lead_to_their_cells() -> None:
    cell = cell_of("1", "3.11", SMALL)
    (panel,) = figure(run_of([measured(cell, block, [block * 100 * MS]) for block in (1, 2, 3)])).panels
    (span,) = panel.curves[0].spans
    assert [span.start, span.end] == pytest.approx([0, 0.2])
    assert str(span.text) == "0.200"
    assert span.cells == f"3.11-{cell.cell_id}"
    assert str(panel.curves[1].spans[0].text) == "not measured"


def test_a_failed_row_says_so_where_its_bar_would_be() -> None:
    cells = [measured(cell_of("1", "3.11", SMALL), 1, [MS]), faulty(cell_of("1", "3.14t", SMALL), 1, "failed", "why")]
    (panel,) = figure(run_of(cells, blocks=1)).panels
    assert str(panel.curves[1].spans[0].text) == "failed"


def test_settings_of_unlike_work_have_scales_of_their_own_and_idle_ones_none() -> None:
    few, none = {**SMALL, "NUM_REQUESTS_PER_CLIENT": 10}, {**SMALL, "NUM_CLIENTS": 0}
    cells = [measured(cell_of("1", "3.11", values), 1, [time]) for values, time in ((SMALL, 900 * MS), (few, MS))]
    cells.append(replace(cells[0], params={**cells[0].params, **none}, clients=[], requests=0))
    panels = figure(run_of(cells, blocks=1, runtimes=["3.11"])).panels
    assert [panel.across.high for panel in panels] == [pytest.approx(0.936), pytest.approx(0.00104)]


def test_without_an_ok_cell_nothing_is_drawn() -> None:
    assert not section(View(run_of([faulty(cell_of("1", "3.11", SMALL), 1, "failed", "why")], blocks=1)))


def test_the_seeds_figures_stand_beside_ours_with_a_warning_where_the_work_is_not_the_same() -> None:
    (part,) = section(View(seed_run(blocks=1, requests=10, runtimes=("3.11",)))).parts
    assert "A cell here has 4,000 requests, one of the seed's 400,000" in str(part.sentences[1])
    lines = [[str(datum.words) for datum in line] for table in part.tables for line in table.lines]
    assert len(part.tables) == 6
    assert [line[2:] for line in lines if line[0] == "Tornado"] == [["16.1", "17.2"]]


def test_where_cells_were_timed_for_a_duration_throughput_is_shown_and_no_seed() -> None:
    run = seed_run(blocks=1, runtimes=("3.11",))
    run.plan["method"] = {
        "duration_s": 1.0,
        "warmup": {},
        "client_runtime": "same",
        "pin_services": [],
        "pin_clients": [],
    }
    made = section(View(run))
    assert str(made.title) == "Throughput"
    assert str(made.figures[0].panels[0].across.label) == "requests/s"
    assert not any(made.parts)
