"""Services that already run: they are compared like runtimes, and what is known of their processes is shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from analysis.comparing import compare
from core.request_plan import RequestPlan
from record.child_lines import ServiceResult
from record.saved_run import CellResult, Run
from reports.parts.answer import answer
from reports.sections.targets import section
from reports.view import View
from tests.reports.contestants import blocks_of, contest_run, lines_of
from tests.reports.sample import set_plan

OLD, NEW = "load-wrk", "load-oha"


def a_run(*cells: Sequence[CellResult], arms: Sequence[str] = (OLD, NEW)) -> Run:
    run = contest_run(*cells, view="")
    targets: list[dict[str, Any]] = [{"name": name, "url": f"http://{name}/"} for name in arms]
    params = run.cells[0].params
    own = {"name": "shops", "targets": targets, "requests": RequestPlan().to_json()}
    return set_plan(run, rows=[{"system": name, "params": params} for name in arms], own=own)


def test_each_service_is_compared_with_the_first_and_a_second_measurement_is_the_noise() -> None:
    first = blocks_of(OLD, 1000, blocks=range(1, 7))
    again = [replace(cell, arm=f"{cell.system} again") for cell in first]
    run = a_run(first, again, blocks_of(NEW, 500, blocks=range(1, 7)))
    assert [(one.step, one.numerator, one.noise_floor) for one in compare(run)] == [
        ("aa", f"{OLD} again", 0.0), ("other", NEW, 0.0)
    ]  # fmt: skip
    assert str(answer(View(run))[0]) == f"shops: {NEW} serves only 0.50x [0.50, 0.50] the requests of {OLD}."
    assert len(section(View(run)).tables[0].lines) == 2


@pytest.mark.parametrize(
    ("ready", "end", "shown"), [(False, False, "off"), (False, True, "GIL sometimes on"), (None, None, "-")]
)
def test_what_is_known_of_its_processes_stands_in_its_row(ready: bool | None, end: bool | None, shown: str) -> None:
    states: dict[str, Any] = {"gil_enabled_ready": ready, "gil_enabled_end": end}
    service = ServiceResult(service_id=0, requests=0, pss_bytes=3 * 2**20, **states)
    run = a_run([replace(cell, services=[service]) for cell in blocks_of("load-ab", 1000)], arms=("load-ab",))
    (line,) = lines_of(section(View(run)).tables[0])
    assert line == ["load-ab", "http://load-ab/", "3.0", shown]
