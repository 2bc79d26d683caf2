"""When a search for the capacity withholds its verdict."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.capacity_model import Crossing, Loop, Probe
from analysis.capacity_search import CapacityRatio, capacities, counted, ratios, wanted
from core.messages import message
from record.child_lines import ServiceResult
from record.saved_run import CellResult
from reports.sections import validity
from reports.sections.capacity import section
from reports.view import View
from tests.analysis.searches import P99, Late, searched, steep
from tests.reports.contestants import lines_of
from tests.reports.sample import histogram_of, with_load

REACHED = {"3.14": 600.0, "3.14t": 850.0}


def two_arms(
    change: Callable[[CellResult], CellResult] = lambda cell: cell, late: Late = steep, *, aa: bool = False
) -> tuple[View, dict[str, CapacityRatio]]:
    """Return a search of two arms whose capacities differ by 40 %, and its ratios by the arm in the numerator."""
    run = searched(late, REACHED, change=change, aa=aa)
    return View(run), {one.above.arm: one for one in ratios(run, capacities(run))}


def only(arm: str, **fields: Any) -> Callable[[CellResult], CellResult]:
    """Return a function that changes *fields* of the probes of an arm."""
    return lambda cell: replace(cell, **fields) if cell.arm == arm and cell.probe == "search" else cell


GIL_ON = message("the GIL was on")


@pytest.mark.parametrize(
    "bad",
    [
        {"status": "invalid", "reason": GIL_ON},
        {"status": "failed", "reason": GIL_ON, "clients": []},
        {"status": "failed", "reason": GIL_ON, "wrong": 1},  # although the latency objective is met
    ],
)
def test_an_arm_with_probes_that_are_no_measurements_gets_no_verdict(bad: dict[str, Any]) -> None:
    def change(cell: CellResult) -> CellResult:
        passes = counted(cell, P99)[0] <= 0.01 * cell.requests
        return only("3.14t", **bad)(cell) if passes else cell

    view, found = two_arms(change)
    assert {cell.arm for cell in view.failed_cells} == {"3.14t"}
    if found:  # else the search ended without a capacity
        assert found["3.14t"].verdict == "invalid"
        assert "the GIL was on" in str(found["3.14t"].why)
    checks = {line[0]: line[1] for line in lines_of(validity.section(view).tables[0])}
    assert checks["All planned measurements were made"] == "× failed"
    assert any("the GIL was on" in str(note) for note in (*section(view).sentences, *section(view).answer))


def test_requests_that_fail_because_the_rate_is_too_high_are_misses_and_no_fault() -> None:
    def change(cell: CellResult) -> CellResult:
        misses, known = counted(cell, P99)
        return replace(cell, status="failed", reason=GIL_ON, wrong=misses) if misses > 0.01 * known else cell

    view, found = two_arms(change)
    assert any(cell.status == "failed" for cell in view.run.cells)
    assert (view.failed_cells, found["3.14t"].verdict) == ([], "faster")


def test_code_that_changed_between_probes_makes_the_verdict_invalid() -> None:
    _, found = two_arms(lambda cell: replace(cell, code=f"state{cell.block > 3}"))
    assert found["3.14t"].verdict == "invalid"
    assert "2 different versions" in str(found["3.14t"].why)


def test_the_same_runtime_measured_twice_withholds_the_verdict_if_its_capacities_differ() -> None:
    def late(arm: str, rate: float) -> float:
        return steep(arm, rate * (1.2 if arm.endswith("again") else 1.0))

    _, found = two_arms(late=late, aa=True)
    assert {one.verdict for one in found.values()} == {"invalid", "slower"}
    assert "two measurements of the same runtime differ" in str(found["3.14t"].why)


def test_other_processes_that_used_the_cpu_withhold_the_verdict() -> None:
    view, found = two_arms(lambda cell: with_load(cell, 0.4))
    assert found["3.14t"].verdict == "inconclusive"
    assert "other processes used 40% of the cores" in str(found["3.14t"].why)
    said = " ".join(map(str, section(view).sentences))
    assert "Repeat the search while other programs do not run" in said


def test_a_search_that_was_stopped_has_no_verdict() -> None:
    run = searched(steep, REACHED)
    while not wanted(run):
        run.cells.pop()
    found = {one.above.arm: one for one in ratios(run, capacities(run))}
    assert found["3.14t"].verdict == "inconclusive"
    assert str(found["3.14t"].why) == "the search was stopped before its end"


def test_a_probe_that_contradicts_the_others_withholds_the_verdict() -> None:
    """A long probe 10 % below the capacity missed 36 times as often as it may, because something disturbed it."""
    run = searched(steep, REACHED)
    last = max((cell for cell in run.cells if cell.arm == "3.14t"), key=lambda cell: cell.block)
    latency = histogram_of([100_000_000] * 1134 + [5_000_000] * 2016)
    params = {**last.params, "RATE": 630}
    run.cells.append(replace(last, block=last.block + 1, params=params, requests=3150, latency=latency))
    (step,) = ratios(run, capacities(run))
    assert step.verdict == "inconclusive"
    assert "a probe of 3.14t at 630 requests/s had 36.0 times the number of misses" in str(step.why)


def test_verdicts_have_the_level_of_all_reports_which_is_not_that_of_their_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = searched(steep, REACHED)

    def known(probes: Sequence[Probe], loop: Loop) -> Crossing:
        ratios_ = np.linspace(0.991, 1.4, 4000) if loop.rate > 700 else np.ones(4000)  # 2.2 % are below 1
        return Crossing(rate=1.05, low=0.9, high=1.1, draws=tuple(ratios_.tolist()))

    monkeypatch.setattr("analysis.capacity_search.crossing", known)
    (step,) = ratios(run, capacities(run))
    assert step.low > 1
    assert step.verdict == "inconclusive"


# ---- what the tables show --------------------------------------------------------------------------------------------


def test_figures_are_of_the_nearest_probe_that_met_the_objectives_and_its_own_rate_is_divided_by_its_cores() -> None:
    run = searched(steep, 600, arms=("3.14",))
    for cell in run.cells:
        spent_ns = cell.answered * 10**6
        cell.services.append(ServiceResult(service_id=0, requests=0, cpu_user_ns=spent_ns, cpu_system_ns=0))
    (one,) = capacities(run)
    assert one.crossing
    assert one.nearest
    distances = {abs(np.log(probe.rate / one.crossing.rate)): probe.rate for probe in one.probes if probe.passes}
    assert one.nearest.rate == distances[min(distances)]
    shown = section(View(run)).tables[0]
    place = [str(column.head) for column in shown.columns].index("requests/s per core")
    assert lines_of(shown)[0][place] == "1,000"  # 1 ms of CPU time per request
