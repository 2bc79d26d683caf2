"""Sweeps and latencies: panels, axes, lines and marks."""

from collections.abc import Sequence

from core.cell import Value
from core.result import Run
from reports.document.model import Figure
from reports.sections import latency
from reports.sections.sweeps import section
from reports.view import View
from tests.reports.sample import MS, RUNTIMES, cell_of, measured, run_of, seed_run

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


def test_a_sweep_has_a_panel_for_each_set_of_the_other_parameters() -> None:
    drawn = figure(seed_run(blocks=1))
    assert drawn.key == "sweep-num_multi_socket-4"
    assert [str(panel.title) for panel in drawn.panels] == [
        "SELECT_MODE all, CLIENT_BINDING random",
        "SELECT_MODE single, CLIENT_BINDING pinned",
    ]
    assert [x for x, _ in drawn.panels[0].curves[0].line] == [1, 5, 10]
    assert [curve.name for curve in drawn.panels[0].curves] == list(RUNTIMES)


def test_a_parameter_that_follows_another_has_no_figure_of_its_own_and_is_named() -> None:
    cells = [
        measured(cell_of("1", "3.11", {**SMALL, "NUM_API_SERVICES": count, "NUM_CLIENTS": count}), 1, [count * MS])
        for count in (1, 2)
    ]
    drawn = figure(run_of(cells, blocks=1, runtimes=["3.11"]))
    assert drawn.key == "sweep-num_api_services-1"
    assert str(drawn.panels[0].across.label) == "NUM_API_SERVICES (with NUM_CLIENTS)"


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


def test_latency_has_a_panel_for_each_setting_on_common_scales_with_a_curve_for_each_arm() -> None:
    (drawn,) = latency.section(View(seed_run(blocks=2))).figures
    assert len(drawn.panels) == 11
    assert len({(panel.across, panel.up) for panel in drawn.panels}) == 1
    assert [curve.name for curve in drawn.panels[0].curves] == list(RUNTIMES)
    assert [text for _, text in drawn.panels[0].across.ticks] == ["50", "90", "99"]
    assert [round(mark.x) for mark in drawn.panels[0].curves[0].marks] == [2, 10, 100]
    assert drawn.table is not None
    assert [datum.value is None for datum in drawn.table.lines[0][1:]] == [False, False, False, True, True, False]


def test_there_is_no_latency_where_too_few_requests_were_timed() -> None:
    assert not latency.section(View(run_of([measured(cell_of("1", "3.11", SMALL), 1, [MS])], blocks=1)))
