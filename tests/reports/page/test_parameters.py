"""What was measured: the size in one line, every parameter once, and what differs between settings."""

from dataclasses import replace

import pytest

from core.cell import PARAMETERS, Value
from core.method import Method
from core.result import Run
from reports.page.parameters import common, size_line, varying
from reports.page.settings import Settings
from reports.page.tables import Table
from reports.page.texts import TEXTS
from reports.rows.view import view_of
from tests.reports.page.reading import record_view
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of

WORDS = TEXTS["en"]


def swept(*counts: int) -> Run:
    cells = []
    for count in counts:
        values: dict[str, Value] = {"NUM_API_SERVICES": 4, "NUM_CLIENTS": count, "NUM_REQUESTS_PER_CLIENT": 2500}
        cells.append(measured(cell_of("2", "3.14t", values), 1, [2000 * MS] * count))
    return run_of(cells, runtimes=["3.14t"])


def texts(table: Table) -> dict[str, list[str]]:
    return {line[0].text: [one.text for one in line[1:]] for group in table.groups for line in group.lines}


def test_services_clients_and_load_are_told_in_one_line() -> None:
    assert size_line(view_of(swept(2)), WORDS) == (
        "services: 4 · clients: 2 · worker threads of a service: 25 · threads of a client: 25 · "
        "requests of a client to a service: 2,500 · CALC_TARGET 1,000"
    )


def test_several_values_stand_together_and_many_are_told_by_their_ends() -> None:
    assert "clients: 1 / 2 / 8 ·" in size_line(view_of(swept(8, 1, 2)), WORDS)
    assert "clients: 1 to 32 (6 values) ·" in size_line(view_of(swept(1, 2, 4, 8, 16, 32)), WORDS)


def test_with_a_duration_that_is_told_in_place_of_the_requests() -> None:
    run = swept(2)
    run.plan["method"] = Method(duration_s=1.5).to_json()
    line = size_line(view_of(run), WORDS)
    assert line.endswith(" · each cell for 1.5 s")
    assert "requests" not in line


def test_every_parameter_stands_in_one_of_the_two_tables() -> None:
    view = record_view()
    settings = Settings(view, WORDS, {})
    table, same = varying(view, settings, WORDS), texts(common(view, WORDS, "en"))
    differing = [one.text for one in table.heads[1:]]
    assert {name for row in view.rows for name in row.params} == {*same, *differing}
    assert not set(same) & set(differing)
    assert same["NUM_API_SERVICES"] == ["20", "service processes"]
    assert same["PAYLOAD_BYTES"][0] == "0 bytes"


def test_each_setting_has_its_own_values_and_a_dash_for_what_its_system_does_not_read() -> None:
    view = record_view()
    table = varying(view, Settings(view, WORDS, TITLES), WORDS)
    heads, lines = [one.text for one in table.heads], [[one.text for one in line] for line in table.groups[0].lines]
    assert len(lines) == 11
    sockets = heads.index("NUM_MULTI_SOCKET")
    assert [line[sockets] for line in lines] == ["-"] * 4 + ["1", "5", "10", "10", "1", "5", "10"]
    assert lines[1][heads.index("REUSE_CLIENT")] == "true"


def test_one_setting_has_no_table_of_differences() -> None:
    view = view_of(swept(2))
    assert not varying(view, Settings(view, WORDS, {}), WORDS)


@pytest.mark.parametrize("name", [*PARAMETERS])
def test_every_parameter_has_its_meaning_in_chinese(name: str) -> None:
    run = swept(2)
    run.cells = [replace(cell, params={name: PARAMETERS[name].default}) for cell in run.cells]
    run.plan["rows"] = []
    assert not texts(common(view_of(run), TEXTS["zh"], "zh"))[name][1].isascii()
