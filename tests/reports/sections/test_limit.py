"""The machine's limit: the share of a native service's requests/s that each Python service reaches."""

from typing import Any

import pytest

from core.result import CellResult
from reports.rows.limits import shares
from reports.rows.summary import rows
from reports.sections.limit import section
from reports.view import View
from tests.reports.contestants import blocks_of, contest_run


def system_4(requests_per_s: float, runtime: str, **params: Any) -> list[CellResult]:
    """System 4 in three blocks."""
    return blocks_of("4", requests_per_s, runtime=runtime, **{"CALC_TARGET": 0, **params})


def test_a_row_is_compared_with_the_limit_at_its_own_setting() -> None:
    heavy = {"CALC_TARGET": 100_000}
    run = contest_run(
        *(system_4(rate, "native", **more) for rate, more in ((100_000, {}), (5_000, heavy))),
        *(system_4(rate, "3.14t", **more) for rate, more in ((10_000, {}), (2_500, heavy))),
        view="",
    )
    assert [str(line).rpartition(" at ")[2] for line in section(View(run)).sentences] == [
        "CALC_TARGET 0.",
        "CALC_TARGET 100000.",
    ]
    assert [share.share.value for share in shares(rows(run))] == [pytest.approx(0.1), pytest.approx(0.5)]
