"""Machine, runtimes, plan and parameters: what is known stands there, and what is not is a dash."""

from dataclasses import replace

import pytest

from core.cell import PARAMETERS, Value
from core.languages import ENGLISH
from core.method import Method, Warmup
from core.result import Run
from reports.document.model import Table
from reports.rows.builds import build_flags
from reports.sections.machine import section, size_line
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import MS, TITLES, cell_of, facts, measured, run_of, seed_run


def swept(*counts: int) -> Run:
    cells = []
    for count in counts or (2,):
        values: dict[str, Value] = {"NUM_API_SERVICES": 4, "NUM_CLIENTS": count, "NUM_REQUESTS_PER_CLIENT": 2500}
        cells.append(measured(cell_of("2", "3.14t", values), 1, [2000 * MS] * count))
    return run_of(cells, runtimes=["3.14t"])


def tables(run: Run) -> list[Table]:
    """Machine, runtimes, plan, parameters that differ, parameters in common."""
    made = section(View(run, TITLES))
    return [*made.tables, *(table for part in made.parts for table in part.tables)]


def texts(table: Table) -> dict[str, list[str]]:
    return {line[0]: line[1:] for line in lines_of(table)}


def sizes(run: Run) -> str:
    return str(size_line(View(run)))


def test_facts_of_the_machine_and_a_dash_for_what_is_not_known() -> None:
    shown = texts(tables(swept())[0])
    assert shown["CPU"] == ["Sample CPU"]
    assert shown["Memory"] == ["16.0 GiB"]
    assert shown["Load (1, 5, 15 min)"] == ["0.10, 0.20, 0.30"]
    assert shown["ulimit -n (open files)"] == ["20000"]
    assert shown["Governor"] == ["-"]


def test_a_runtime_has_its_build_and_flags() -> None:
    run = swept()
    run.runtimes["native"] = {"version": "", "flags": {}}
    shown = texts(tables(run)[1])
    assert shown["3.14t"][:4] == ["3.14.7", "free-threaded", "GCC 13.2.0", "PGO, no LTO, static"]
    assert shown["native"] == ["-", "-", "-", "-", ""]


def test_flags_that_few_builds_have_are_named_where_they_are_set() -> None:
    flags = facts("3.14", pgo=False, lto=True, shared=True, tail_call=True, jit=True)["flags"]
    assert str(build_flags(flags)) == "no PGO, LTO, shared library, tail calls, JIT"


def test_the_plan_has_its_method_seed_and_command() -> None:
    run = swept()
    run.plan["method"] = Method(warmup=Warmup(share=0.05), duration_s=2, pin_services=(0, 1)).to_json()
    shown = texts(tables(run)[2])
    (method,) = shown["Method"]
    assert method.split(", ", 2)[:2] == ["warm-up of 5% of the requests", "each cell for 2 s"]
    assert method.endswith("clients run under the service's runtime, services on CPU 0, 1")
    assert shown["Seed"] == ["1"]
    assert shown["To repeat it"] == ["python runner.py --seed 1"]


def test_services_clients_and_load_are_in_one_line() -> None:
    assert sizes(swept()) == (
        "services: 4 · clients: 2 · worker threads of a service: 25 · threads of a client: 25 · "
        "requests of a client to a service: 2,500 · CALC_TARGET 1,000 · DISPATCH any"
    )


def test_several_values_stand_together_and_of_many_the_ends() -> None:
    assert "clients: 1 / 2 / 8 ·" in sizes(swept(8, 1, 2))
    assert "clients: 1 to 32 (6 values) ·" in sizes(swept(1, 2, 4, 8, 16, 32))


def test_a_duration_stands_in_place_of_the_requests() -> None:
    run = swept()
    run.plan["method"] = Method(duration_s=1.5).to_json()
    assert sizes(run).endswith(" · each cell for 1.5 s")
    assert "requests" not in sizes(run)


def test_every_parameter_stands_in_one_of_the_two_tables() -> None:
    run = seed_run(blocks=1)
    *_, varying, common = tables(run)
    heads, same = [str(column.head) for column in varying.columns], texts(common)
    assert {name for cell in run.cells for name in cell.params} == {*same, *heads[1:]}
    assert not set(same) & set(heads)
    assert same["NUM_API_SERVICES"] == ["20", "service processes"]
    assert same["PAYLOAD_BYTES"][0] == "0 bytes"
    lines = lines_of(varying)
    sockets = heads.index("NUM_MULTI_SOCKET")
    assert [line[sockets] for line in lines] == ["-"] * 4 + ["1", "5", "10", "10", "1", "5", "10"]
    assert lines[1][heads.index("REUSE_CLIENT")] == "true"


def test_one_setting_has_no_table_of_differences() -> None:
    assert not tables(swept())[3]


@pytest.mark.parametrize("name", [*PARAMETERS])
def test_every_parameter_has_its_meaning(name: str) -> None:
    run = swept()
    run.cells = [replace(cell, params={name: PARAMETERS[name].default}) for cell in run.cells]
    run.plan["rows"] = []
    (line,) = tables(run)[4].lines
    assert line[2].text(ENGLISH)
