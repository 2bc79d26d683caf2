"""The machine's limit: the share of a native service's requests/s that each Python service reaches."""

from dataclasses import replace
from typing import Any

import pytest

from core.result import CellResult, Run
from reports.document.model import Section
from reports.rows.limits import shares
from reports.rows.summary import rows
from reports.sections.limit import section
from reports.view import View
from tests.reports.contestants import blocks_of, contest_run, lines_of
from tests.reports.sample import cell_of, faulty

SENTENCE = (
    "System 4 on 3.14t, called by Python clients, reaches 0.31 (0.31 - 0.31) of the machine's limit at CALC_TARGET 0."
)


def system_4(requests_per_s: float, runtime: str, **params: Any) -> list[CellResult]:
    """System 4 in three blocks."""
    return blocks_of("4", requests_per_s, runtime=runtime, **{"CALC_TARGET": 0, **params})


def made(run: Run) -> Section:
    return section(View(run))


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in made(run).sentences]


@pytest.fixture
def run() -> Run:
    """System 4 natively and under two runtimes."""
    return contest_run(system_4(100_000, "native"), system_4(20_000, "3.11"), system_4(31_000, "3.14t"), view="")


def test_the_last_runtimes_share_of_the_limit_has_a_sentence(run: Run) -> None:
    assert sentences(run) == [SENTENCE]


def test_every_rows_share_is_in_the_table(run: Run) -> None:
    (table,) = made(run).tables
    assert lines_of(table) == [
        ["3.11", "4", "CALC_TARGET 0", "Python", "20,000", "100,000", "0.20 (0.20 - 0.20)"],
        ["3.14t", "4", "CALC_TARGET 0", "Python", "31,000", "100,000", "0.31 (0.31 - 0.31)"],
    ]


def test_a_row_is_compared_with_the_limit_at_its_own_setting() -> None:
    heavy = {"CALC_TARGET": 100_000}
    run = contest_run(
        *(system_4(rate, "native", **more) for rate, more in ((100_000, {}), (5_000, heavy))),
        *(system_4(rate, "3.14t", **more) for rate, more in ((10_000, {}), (2_500, heavy))),
        view="",
    )
    assert [line.rpartition(" at ")[2] for line in sentences(run)] == ["CALC_TARGET 0.", "CALC_TARGET 100000."]
    assert [share.share.value for share in shares(rows(run))] == [pytest.approx(0.1), pytest.approx(0.5)]


def test_without_a_native_service_there_is_no_limit() -> None:
    cell = cell_of("4", "native", {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "CALC_TARGET": 0})
    failed = [faulty(cell, block, "failed", "it died") for block in (1, 2, 3)]
    assert not made(contest_run(system_4(20_000, "3.11"), system_4(31_000, "3.14t"), view=""))
    assert not made(contest_run(failed, system_4(31_000, "3.14t"), view=""))


def test_the_arm_against_itself_has_no_sentence() -> None:
    again = [replace(cell, arm="3.14t again") for cell in system_4(32_000, "3.14t")]
    run = contest_run(system_4(100_000, "native"), system_4(31_000, "3.14t"), again, view="")
    assert sentences(run)[0].startswith("System 4 on 3.14t, called by Python clients, reaches 0.31 ")


def test_what_calls_the_python_service_is_named() -> None:
    native = [replace(cell, client_runtime="native") for cell in system_4(60_000, "3.14t")]
    run = contest_run(system_4(100_000, "native"), native, view="")
    (sentence,) = sentences(run)
    assert sentence == (
        "System 4 on 3.14t, called by the native client, reaches 0.60 (0.60 - 0.60) "
        "of the machine's limit at CALC_TARGET 0."
    )
    assert lines_of(made(run).tables[0])[0][3] == "native"
