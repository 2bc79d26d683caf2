"""Rows from cells: figures worked out by hand."""

import csv
import io
from dataclasses import replace

import pytest

from core.messages import NOTHING, message, verbatim
from core.result import CellResult
from reports.exports.csv_sheets import cells_sheet, rows_sheet
from reports.rows.arrangement import alike, groups, value_text, varying
from reports.rows.summary import Row, reasons, rows
from tests.reports.sample import MS, cell_of, facts, faulty, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def the_row(found: list[Row], runtime: str, system: str = "1") -> Row:
    (row,) = (row for row in found if (row.runtime, row.system) == (runtime, system))
    return row


def test_completion_is_the_median_over_blocks_of_the_median_and_of_the_maximum_over_clients() -> None:
    cell = cell_of("1", "3.11", SMALL)
    blocks = [
        measured(cell, 1, [100 * MS, 200 * MS, 900 * MS]),
        measured(cell, 2, [110 * MS, 250 * MS, 300 * MS]),
        measured(cell, 3, [400 * MS, 500 * MS, 600 * MS]),
    ]
    figures = the_row(rows(run_of(blocks)), "3.11").figures
    assert figures is not None
    assert figures.completion_ns == 250 * MS
    assert figures.completion_max_ns == 600 * MS


def test_rates_are_medians_over_blocks_of_requests_by_wall_time() -> None:
    cell = cell_of("1", "3.11", SMALL)
    blocks = [measured(cell, block, [wall_ms * MS - MS]) for block, wall_ms in enumerate((500, 1000, 2000), 1)]
    figures = the_row(rows(run_of(blocks)), "3.11").figures
    assert figures is not None
    assert figures.wall_ns == 1000 * MS
    assert figures.requests_per_s == pytest.approx(1000)


def test_cpu_is_user_and_system_time_of_all_processes_of_a_side_per_request() -> None:
    cell = cell_of("1", "3.11", SMALL)
    run = run_of([measured(cell, 1, [MS, MS, MS], cpu_ns=5 * MS)], blocks=1)
    figures = the_row(rows(run), "3.11").figures
    assert figures is not None
    assert figures.service_cpu_ns == 10_000
    assert figures.client_cpu_ns == 30_000


def test_cpu_is_unknown_where_a_program_does_not_say_it() -> None:
    result = measured(cell_of("1", "3.11", SMALL), 1, [MS])
    figures = the_row(rows(run_of([replace(result, services=[{"service_id": 0}])], blocks=1)), "3.11").figures
    assert figures is not None
    assert figures.service_cpu_ns is None
    assert figures.client_cpu_ns == 20_000


def test_percentiles_are_those_of_all_requests_of_all_blocks_together() -> None:
    cell = cell_of("1", "3.11", SMALL)
    blocks = [measured(cell, 1, [MS], [10] * 98), measured(cell, 2, [MS], [200, 201])]
    figures = the_row(rows(run_of(blocks, blocks=2)), "3.11").figures
    assert figures is not None
    assert (figures.p50_ns, figures.p99_ns) == (10, 200)


def test_there_is_no_p99_of_fewer_than_a_hundred_requests() -> None:
    run = run_of([measured(cell_of("1", "3.11", SMALL), 1, [MS], [10] * 99)], blocks=1)
    figures = the_row(rows(run), "3.11").figures
    assert figures is not None
    assert (figures.p50_ns, figures.p99_ns) == (10, None)


def test_ratio_is_above_one_where_the_row_is_faster_than_the_first_runtime() -> None:
    run = run_of(
        [
            measured(cell_of("1", "3.14t", SMALL), 1, [200 * MS]),
            measured(cell_of("1", "3.11", SMALL), 1, [300 * MS]),
            measured(cell_of("2", "3.14t", SMALL), 1, [800 * MS]),
            measured(cell_of("2", "3.11", SMALL), 1, [400 * MS]),
        ],
        blocks=1,
    )
    found = [(row.system, row.runtime, row.ratio) for row in rows(run)]
    assert found == [
        ("1", "3.11", 1.0),
        ("1", "3.14t", pytest.approx(301 / 201)),
        ("2", "3.11", 1.0),
        ("2", "3.14t", pytest.approx(401 / 801)),
    ]


def test_the_first_runtime_is_the_first_of_the_plan_that_is_present() -> None:
    run = run_of([measured(cell_of("1", name, SMALL), 1, [MS]) for name in ("3.14", "3.14t")], blocks=1)
    run.plan["runtimes"] = ["3.11", "3.14t", "3.14"]
    run.runtimes = {"3.14": facts("3.14"), "3.14t": facts("3.14t")}
    assert [row.runtime for row in rows(run)] == ["3.14t", "3.14"]


def test_no_other_runtime_stands_in_where_the_first_one_failed() -> None:
    cells = [faulty(cell_of("1", "3.11", SMALL), 1, "failed", "why"), measured(cell_of("1", "3.14t", SMALL), 1, [MS])]
    assert [row.ratio for row in rows(run_of(cells, blocks=1))] == [None, None]


def test_blocks_that_are_not_ok_are_in_no_figure_and_are_told() -> None:
    cell = cell_of("1", "3.11", SMALL)
    bad = replace(measured(cell, 2, [900 * MS]), status="invalid", reason=verbatim("the GIL\nwas on"))
    run = run_of([measured(cell, 1, [100 * MS]), bad, faulty(cell, 3, "failed", "exit status 1")])
    row = the_row(rows(run), "3.11")
    assert row.figures is not None
    assert row.figures.completion_ns == 100 * MS
    assert row.state == "ok"
    assert str(row.trouble) == "1 of 3 blocks failed: exit status 1; 1 of 3 blocks invalid: the GIL [...] was on"


def test_a_row_without_an_ok_block_has_a_state_and_no_figures() -> None:
    cells = [faulty(cell_of("1", "3.11", SMALL), block, "invalid", "the GIL was on") for block in (1, 2)]
    row = the_row(rows(run_of(cells, blocks=2)), "3.11")
    assert (row.figures, row.state, row.ratio) == (None, "invalid", None)


def test_what_the_plan_holds_and_nobody_measured_is_a_row() -> None:
    run = run_of([measured(cell_of("1", "3.11", SMALL), 1, [MS])], blocks=2)
    assert [(row.runtime, row.state) for row in rows(run)] == [("3.11", "ok"), ("3.14t", "not measured")]


def test_reasons_are_messages_each_once_with_their_texts_in_short() -> None:
    told = message("exited with {status}. Its last lines: {tail}", status=1, tail="first\n\x1b[31mmiddle\nlast  line")
    cells = [
        replace(faulty(cell_of("1", "3.11"), 1, "failed", ""), reason=why)
        for why in (told, told, NOTHING, verbatim("x" * 300))
    ]
    assert [str(reason) for reason in reasons(cells)] == [
        "exited with 1. Its last lines: first [...] last line",
        "no reason given",
        "[...]",
    ]


def test_rows_come_by_system_then_as_the_plan_has_them_then_by_runtime() -> None:
    values = [{**SMALL, "NUM_MULTI_SOCKET": sockets} for sockets in (10, 5)]
    cells = [measured(cell_of("4", name, one), 1, [MS]) for one in values for name in ("3.14t", "3.11")]
    run = run_of([cells[0], measured(cell_of("1", "3.11", SMALL), 1, [MS]), *cells[1:]], blocks=1)
    found = [(row.system, row.params.get("NUM_MULTI_SOCKET"), row.runtime) for row in rows(run)]
    assert found == [
        ("4", 10, "3.11"),
        ("4", 10, "3.14t"),
        ("4", 5, "3.11"),
        ("4", 5, "3.14t"),
        ("1", None, "3.11"),
        ("1", None, "3.14t"),
    ]
    assert [len(group) for group in groups(rows(run))] == [2, 2, 2]
    assert varying(rows(run)) == ["NUM_MULTI_SOCKET"]


def test_rows_can_be_compared_where_their_cells_have_as_many_requests() -> None:
    values: tuple[dict[str, int], ...] = ({}, {"CALC_TARGET": 5}, {"NUM_REQUESTS_PER_CLIENT": 7})
    one, other, less = (measured(cell_of("1", "3.11", {**SMALL, **more}), 1, [MS]) for more in values)
    elsewhere = measured(cell_of("2", "3.11", SMALL), 1, [MS])

    def sizes(*cells: CellResult) -> list[int]:
        return [len(part) for part in alike(rows(run_of(cells, blocks=1, runtimes=["3.11"])))]

    assert sizes(one, other, elsewhere) == [3]
    assert sizes(one, less, elsewhere) == [1, 1, 1]
    assert sizes(less, elsewhere) == [1, 1]


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (None, "none"), (1, "1"), (0, "0")])
def test_values_read_as_in_a_plan(value: bool | int | None, text: str) -> None:
    assert value_text(value) == text


def test_the_sheet_of_cells_has_a_line_per_cell_and_block_with_whole_numbers() -> None:
    cells = [
        measured(cell_of("1", "3.11", SMALL), 1, [100 * MS, 300 * MS], [7] * 100),
        faulty(cell_of("2", "3.14t", SMALL), 1, "failed", "two\nlines, and a comma"),
    ]
    head, first, second = cells_sheet(run_of(cells)).splitlines()
    columns = head.split(",")
    line = dict(zip(columns, first.split(","), strict=True))
    assert line["completion_median_ns"] == "200000000"
    assert line["wall_ns"] == "301000000"
    assert line["latency_p99_ns"] == "7"
    assert line["latency_p999_ns"] == ""
    assert line["client_cpu_user_ns"] == "20000000"
    assert line["service_voluntary_switches"] == "7"
    assert line["REUSE_CLIENT"] == ""
    assert '"two lines, and a comma"' in second
    assert second.count(",") == len(columns)


def test_the_sheet_of_rows_has_raw_numbers_and_all_parameters() -> None:
    cells = [
        measured(cell_of("1", "3.11", SMALL), 1, [1500 * MS, 1600 * MS, 1999 * MS]),
        measured(cell_of("1", "3.14t", SMALL), 1, [1000 * MS]),
        faulty(cell_of("3", "3.11", SMALL), 1, "invalid", "the GIL was off"),
    ]
    lines = list(csv.DictReader(io.StringIO(rows_sheet(rows(run_of(cells, blocks=1))))))
    assert [line["status"] for line in lines] == ["ok", "ok", "invalid", "not measured"]
    assert lines[0]["completion_median_ns"] == "1600000000"
    assert float(lines[1]["ratio_to_first_runtime"]) == pytest.approx(2000 / 1001, rel=1e-3)
    assert lines[0]["NUM_WORKERS_PER_API_SERVICE"] == "25"
    assert lines[2]["completion_median_ns"] == ""
    assert lines[2]["trouble"] == "1 of 1 block invalid: the GIL was off"
