"""The machine's limit: the share of a native service's requests/s that each Python service reaches."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from core.result import CellResult, Run
from reports.findings.findings import print_findings
from reports.findings.limit import HOW, markdown, sentences, shares
from reports.rows.summary import rows
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.sample import cell_of, faulty

SAID = "System 4 on 3.14t, called by Python clients, reaches 0.31 [0.31, 0.31] of the machine's limit at CALC_TARGET 0."


def system_4(requests_per_s: float, runtime: str, **params: Any) -> list[CellResult]:
    """System 4 in three blocks."""
    return blocks_of("4", requests_per_s, runtime=runtime, **{"CALC_TARGET": 0, **params})


@pytest.fixture
def run() -> Run:
    """System 4 natively and under two runtimes."""
    return contest_run(system_4(100_000, "native"), system_4(20_000, "3.11"), system_4(31_000, "3.14t"), view="")


def test_the_last_runtimes_share_of_the_limit_is_said(run: Run) -> None:
    assert sentences(run) == [
        SAID,
        HOW,
    ]


def test_a_terminal_says_it_also_where_there_is_one_runtime_beside_the_limit() -> None:
    run, out = contest_run(system_4(100_000, "native"), system_4(31_000, "3.14t"), view=""), StringIO()
    print_findings(run, Console(file=out, width=200))
    assert SAID in out.getvalue()


def test_every_rows_share_is_in_the_table(run: Run) -> None:
    table = [line for line in markdown(run).splitlines() if line.startswith("| 4")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert cells == [
        ["4", "CALC_TARGET 0", "3.11", "Python", "20,000", "100,000", "0.20 [0.20, 0.20]"],
        ["4", "CALC_TARGET 0", "3.14t", "Python", "31,000", "100,000", "0.31 [0.31, 0.31]"],
    ]


def test_a_row_is_compared_with_the_limit_at_its_own_setting() -> None:
    heavy = {"CALC_TARGET": 100_000}
    run = contest_run(
        *(system_4(rate, "native", **more) for rate, more in ((100_000, {}), (5_000, heavy))),
        *(system_4(rate, "3.14t", **more) for rate, more in ((10_000, {}), (2_500, heavy))),
        view="",
    )
    assert [line.rpartition(" at ")[2] for line in sentences(run)[:2]] == ["CALC_TARGET 0.", "CALC_TARGET 100000."]
    assert [one.share.value for one in shares(rows(run))] == [pytest.approx(0.1), pytest.approx(0.5)]


def test_where_nothing_was_measured_natively_nothing_is_said() -> None:
    run = contest_run(system_4(20_000, "3.11"), system_4(31_000, "3.14t"), view="")
    assert (sentences(run), markdown(run)) == ([], "")


def test_a_limit_that_failed_is_none() -> None:
    cell = cell_of("4", "native", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "CALC_TARGET": 0})
    failed = [faulty(cell, block, "failed", "it died") for block in (1, 2, 3)]
    assert sentences(contest_run(failed, system_4(31_000, "3.14t"), view="")) == []


def test_the_arm_against_itself_is_not_the_one_that_is_said() -> None:
    again = [replace(cell, arm="3.14t again") for cell in system_4(32_000, "3.14t")]
    run = contest_run(system_4(100_000, "native"), system_4(31_000, "3.14t"), again, view="")
    assert sentences(run)[0].startswith("System 4 on 3.14t, called by Python clients, reaches 0.31 ")


def test_what_calls_the_python_service_is_said() -> None:
    native = [replace(cell, client_runtime="native") for cell in system_4(60_000, "3.14t")]
    run = contest_run(system_4(100_000, "native"), native, view="")
    (sentence, how) = sentences(run)
    assert sentence == (
        "System 4 on 3.14t, called by the native client, reaches 0.60 [0.60, 0.60] "
        "of the machine's limit at CALC_TARGET 0."
    )
    assert "with --client-runtime native every service is called by that generator" in how
    assert "| native  |" in markdown(run)
