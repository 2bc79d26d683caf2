"""A search for the capacity, against queues whose answer is known: M/M/c by Erlang's C formula, and a token bucket."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import exp
from typing import Any

import numpy as np
import pytest

from analysis.capacity_model import Crossing, Loop, Probe, bracket
from analysis.capacity_probes import counted
from analysis.capacity_ratios import CapacityRatio, ratios
from analysis.capacity_search import (
    PROBES_OF_ROUND,
    capacities,
    choices_of_arms,
    wanted,
)
from benchmarks.known_capacities import capacity_of, late_mmc
from core.messages import message
from core.objective import Objective
from lab.places import REPOSITORY
from record.child_lines import ServiceResult
from record.saved_run import CellResult, Run
from reports.sections import validity
from reports.sections.capacity import headlines, section
from reports.view import View
from tests.analysis.searches import P99, answered, late_of_queue, searched, steep, unsearched
from tests.analysis.simulated_searches import Searches
from tests.reports.contestants import lines_of
from tests.reports.sample import histogram_of, with_clients, with_load
from tests.tables import each_row

GIL_ON = message("the GIL was on")


def test_a_report_of_another_run_does_not_pay_for_scipy() -> None:
    code = "import sys, reports.view; print([name for name in sys.modules if name.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_formula_is_erlangs() -> None:
    # one server: P(sojourn > t) = exp(-(1/mean - rate) t)
    assert late_mmc(60, 1, 0.01, 0.05) == pytest.approx(exp(-40 * 0.05), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_capacity_of_queues_is_within_5_percent_of_erlangs_and_their_ratio_has_the_right_verdict(seed: int) -> None:
    servers = {"3.14": 8, "3.14t": 12}

    run = searched(lambda arm, rate: late_of_queue(rate, servers[arm]), closed={"3.14": 800, "3.14t": 1200}, seed=seed)
    truth = {arm: capacity_of(partial(late_of_queue, servers=many), 100 * many) for arm, many in servers.items()}
    found = capacities(run)
    for one in found:
        assert one.crossing
        assert one.crossing.rate == pytest.approx(truth[one.arm], rel=0.05)
        assert one.crossing.low < truth[one.arm] < one.crossing.high
        assert not one.contradiction
    step = judged(run)
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)
    assert (step.verdict, step.low < step.ratio < step.high) == ("faster", True)


def test_a_cliff_is_reported_as_the_rates_on_both_sides_of_it() -> None:
    run = searched(lambda arm, rate: 0.0 if rate <= 500 else 1.0, arms=("3.14",))
    (one,) = capacities(run)
    assert one.crossing
    assert one.crossing.is_bracket
    assert one.crossing.low <= 500 < one.crossing.high < 1.15 * one.crossing.low
    said = [str(note) for note in section(View(run)).sentences]
    assert any("rises suddenly" in note and "is a bracket, not a confidence interval" in note for note in said)


@each_row
def test_a_probe_that_contradicts_the_others_by_chance_does_not_hide_them(line: str) -> None:
    given, _, rates = line.partition(" -> ")
    probes = []
    for probe in given.split(", "):
        rate, excess, allowed = map(float, probe.split())
        probes.append(Probe(rate=rate, offered=rate, excess=excess, allowed=allowed))
    assert bracket(probes) == tuple(map(float, rates.split()))


def test_the_first_rate_is_a_share_of_the_correct_answers() -> None:
    run = searched(lambda arm, rate: 0.0, closed=1000, arms=("3.14",))
    run.cells[:] = [replace(run.cells[0], wrong=4000)]  # of 5000 in 5 s
    (one,) = wanted(run)
    assert one.rate == pytest.approx(0.8 * 200)


def test_an_objective_that_no_rate_meets_ends_the_search_without_a_capacity() -> None:
    (one,) = capacities(searched(lambda arm, rate: 0.5, arms=("3.14",)))
    assert (one.crossing, one.highest_pass, one.wanted) == (None, 0.0, None)


@pytest.mark.parametrize(("limit", "low"), [(500, 450), (np.inf, 0)])
def test_probes_of_a_late_load_generator_show_neither_misses_nor_a_capacity(limit: float, low: float) -> None:
    def change(cell: CellResult) -> CellResult:
        return replace(cell, lag=histogram_of([30_000_000]))

    (one,) = capacities(searched(lambda arm, rate: 0.5 * (rate > limit), arms=("3.14",), change=change))
    assert (one.crossing, one.known, one.is_generators) == (None, [], True)
    assert low < one.highest_pass <= limit


def test_a_closed_loop_that_is_no_measurement_ends_the_search_of_its_arm_alone() -> None:
    run = searched(
        steep, change=lambda cell: replace(cell, status="failed", clients=[]) if cell.arm == "3.14t" else cell
    )
    assert {one.arm: one.crossing is None for one in capacities(run)} == {"3.14": False, "3.14t": True}
    assert sum(cell.arm == "3.14t" for cell in run.cells) == 3
    assert ratios(run, capacities(run)) == []


def test_the_search_of_an_arm_without_one_right_answer_ends_after_two_probes() -> None:
    def change(cell: CellResult) -> CellResult:
        wrong = replace(cell, status="failed", reason=message("errors: 9 x 500"), errors={"500": cell.requests})
        return wrong if cell.arm == "3.14t" else cell

    run = searched(steep, change=change)
    assert sum(cell.arm == "3.14t" for cell in run.cells) == 2
    assert "3.14t: no capacity was found, because no answer was right (errors: 9 x 500)." in map(
        str, headlines(View(run))
    )


def test_requests_that_were_not_sent_miss_a_latency_once_they_are_overdue_for_so_long() -> None:
    latency = histogram_of([10_000_000, 59_000_000, 61_000_000, 80_000_000])
    # 100 of 1000 requests/s: the oldest unsent request was due 100 ms before the end, so 40 of them for over 60 ms
    _, probe, *_ = searched(lambda arm, rate: 0.0, arms=("3.14",)).cells
    probe = with_clients(probe, overdue=50)
    cell = replace(
        probe,
        params={"RATE": 500, "NUM_CLIENTS": 2}, requests=4, errors={"closed": 1}, latency=latency,
        clients=probe.clients * 2,
    )  # fmt: skip
    assert counted(cell, P99) == (2 + 1 + 40, 4 + 40)
    assert counted(cell, Objective.parse("errors<1%")) == (101, 104)


# ---- when a verdict is withheld ------------------------------------------------------------------------------------


REACHED = {"3.14": 600.0, "3.14t": 850.0}  # so that the capacities under steep differ by 40 %


def judged(run: Run) -> CapacityRatio:
    """Return the only ratio of a search of two arms."""
    (step,) = ratios(run, capacities(run))
    return step


@each_row
def test_an_arm_with_probes_that_are_no_measurements_gets_no_verdict(bad: dict[str, Any]) -> None:
    def change(cell: CellResult) -> CellResult:
        passes = counted(cell, P99)[0] <= 0.01 * cell.requests
        return (
            replace(cell, reason=GIL_ON, **bad) if passes and cell.arm == "3.14t" and cell.probe == "search" else cell
        )

    run = searched(steep, REACHED, change=change)
    view = View(run)
    assert {cell.arm for cell in view.failed_cells} == {"3.14t"}
    for step in ratios(run, capacities(run)):  # none if the search ended without a capacity
        assert step.verdict == "invalid"
        assert "the GIL was on" in str(step.why)
    checks = {line[0]: line[1] for line in lines_of(validity.section(view).tables[0])}
    assert checks["All planned measurements were made"] == "× failed"
    assert any("the GIL was on" in str(note) for note in (*section(view).sentences, *section(view).answer))


def test_requests_that_fail_because_the_rate_is_too_high_are_misses_and_no_fault() -> None:
    def change(cell: CellResult) -> CellResult:
        misses, known = counted(cell, P99)
        return replace(cell, status="failed", reason=GIL_ON, wrong=misses) if misses > 0.01 * known else cell

    run = searched(steep, REACHED, change=change)
    assert any(cell.status == "failed" for cell in run.cells)
    assert (View(run).failed_cells, judged(run).verdict) == ([], "faster")


def test_code_that_changed_between_probes_makes_the_verdict_invalid() -> None:
    step = judged(searched(steep, REACHED, change=lambda cell: replace(cell, code=f"state{cell.block > 3}")))
    assert step.verdict == "invalid"
    assert "2 different versions" in str(step.why)


def test_the_same_runtime_measured_twice_withholds_the_verdict_if_its_capacities_differ() -> None:
    def late(arm: str, rate: float) -> float:
        return steep(arm, rate * (1.2 if arm.endswith("again") else 1.0))

    run = searched(late, REACHED, aa=True)
    found = {one.verdict: str(one.why) for one in ratios(run, capacities(run))}
    assert {*found} == {"invalid", "slower"}
    assert "two measurements of the same runtime differ" in found["invalid"]


def test_other_processes_that_used_the_cpu_withhold_the_verdict() -> None:
    run = searched(steep, REACHED, change=lambda cell: with_load(cell, 0.4))
    assert judged(run).verdict == "inconclusive"
    assert "other processes used 40% of the cores" in str(judged(run).why)
    said = " ".join(map(str, section(View(run)).sentences))
    assert "Stop other programs, and repeat the search" in said


def test_a_search_that_was_stopped_has_no_verdict() -> None:
    run = searched(steep, REACHED)
    while not wanted(run):
        run.cells.pop()
    assert judged(run).verdict == "inconclusive"
    assert str(judged(run).why) == "the search was stopped before its end"


def test_a_probe_that_contradicts_the_others_withholds_the_verdict() -> None:
    """A long probe 10 % below the capacity missed 36 times as often as it may, because something disturbed it."""
    run = searched(steep, REACHED)
    last = max((cell for cell in run.cells if cell.arm == "3.14t"), key=lambda cell: cell.block)
    latency = histogram_of([100_000_000] * 1134 + [5_000_000] * 2016)
    params = {**last.params, "RATE": 630}
    run.cells.append(replace(last, block=last.block + 1, params=params, requests=3150, latency=latency))
    assert judged(run).verdict == "inconclusive"
    assert "a probe of 3.14t at 630 requests/s had 36.0 times the number of misses" in str(judged(run).why)


def test_verdicts_have_the_level_of_all_reports_which_is_not_that_of_their_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def known(probes: Sequence[Probe], loop: Loop) -> Crossing:
        draws = np.linspace(0.991, 1.4, 4000) if loop.rate > 700 else np.ones(4000)  # 2.2 % are below 1
        return Crossing(rate=1.05, low=0.9, high=1.1, draws=tuple(draws.tolist()))

    run = searched(steep, REACHED)
    monkeypatch.setattr("analysis.capacity_search.crossing", known)
    step = judged(run)
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


# ---- which topology it chooses under each runtime --------------------------------------------------------------------

# The servers of the queue of each arm, by its number of processes.
SERVERS = {"3.14": {1: 4, 2: 8, 4: 16}, "3.14t": {1: 20, 2: 10, 4: 8}}


def test_the_best_topology_is_chosen_by_some_probes_and_judged_by_others_and_a_dropped_one_gets_no_more() -> None:
    run, generator = unsearched(P99, [*SERVERS]), np.random.default_rng(3)
    (row,) = run.plan.rows
    params = {**row.params, "NUM_WORKERS_PER_API_SERVICE": 1}
    rows = tuple(replace(row, params={**params, "NUM_API_SERVICES": number}) for number in (1, 2, 4))
    run.plan = replace(run.plan, picks=True, rows=rows)
    while asked := wanted(run):
        assert len(run.cells) < 120
        for one in asked:
            many = SERVERS[one.arm][one.cell.num_api_services]
            run.cells.append(answered(one, late_of_queue(one.rate, many), 100.0 * many, generator))
    best = {one.arm: one for one in capacities(run)}
    assert {arm: one.params["NUM_API_SERVICES"] for arm, one in best.items()} == {"3.14": 4, "3.14t": 1}
    for found in best.values():
        assert {cell.probe for cell in found.cells} == {"closed", "scan", "search"}
    choice = choices_of_arms(run)["3.14"]
    assert [one.params["NUM_API_SERVICES"] for one in choice.candidates] == [4, 2, 1]
    *better, dropped = (len(one.probes) for one in choice.candidates)
    assert min(better) >= 2 * PROBES_OF_ROUND
    assert dropped == PROBES_OF_ROUND


# ---- simulated queues ------------------------------------------------------------------------------------------------


@each_row
def test_searches_of_simulated_queues_stay_below_saturation_and_enclose_theory(
    servers: int, mean_s: float, limit_ms: int
) -> None:
    """The long form is `python -m tests.analysis.simulated_searches`."""
    seen = Searches(servers, mean_s, limit_ms, 4)
    assert len(seen.known) == 4
    assert all(probe.rate < seen.saturation for one in seen.found for probe in one.probes)
    assert seen.near() >= 3
    assert seen.holding(seen.known) >= 3
