"""A search for the capacity, against queues whose answer is known: M/M/c by Erlang's C formula, and a token bucket."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp
from typing import Any

import numpy as np
import pytest

from benchmarks.capacity import capacity_of, late_mmc
from core.histogram import Histogram
from core.languages import ENGLISH
from core.messages import NOTHING, message
from core.objective import Objective, Wanted
from core.result import CellResult, Run
from core.run_record import Others
from core.user_service import Command, UserService
from lab.places import REPOSITORY
from reports.facts.capacity import PROBES_OF_ROUND, Ratio, capacities, choices_of_arms, counted, ratios, wanted
from reports.statistics.capacity import Crossing, Loop, Probe, bracket
from reports.topics import validity
from reports.topics.capacity import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.facts.simulated_searches import simulated_search
from tests.reports.sample import facts

P99 = Objective.parse("p99<60ms")
SECONDS = 5.0
Late = Callable[[str, float], float]  # of an arm at a rate: the share of requests that miss


def searched(
    late: Late,
    closed: float | Mapping[str, float],
    seed: int,
    arms: tuple[str, ...] = ("3.14", "3.14t"),
    lag_ns: int = 0,
    change: Callable[[CellResult], CellResult] = lambda cell: cell,
    *,
    aa: bool = False,
) -> Run:
    """Return a run after a whole search; each probe draws its late requests."""
    generator = np.random.default_rng(seed)
    rows = [{"system": "4", "params": {"RATE": 0, "NUM_CLIENTS": 1}}]
    run = Run(
        run_id="searched", started_at="2026-11-25T00:00:00+00:00", seed=seed, command=[],
        plan={"name": "own", "blocks": 1, "runtimes": list(arms), "objectives": [vars(P99)], "rows": rows, "aa": aa},
        machine={}, runtimes={name: facts(name) for name in arms},
    )  # fmt: skip
    while asked := wanted(run):
        assert len(run.cells) < 21 * (len(arms) + 1)
        for one in asked:
            reached = closed[one.arm.removesuffix(" again")] if isinstance(closed, Mapping) else closed
            run.cells.append(change(answered(one, late, reached, generator, lag_ns)))
    return run


def answered(one: Wanted, late: Late, closed: float, generator: np.random.Generator, lag_ns: int) -> CellResult:
    """Return the cell of a probe."""
    cell = one.cell
    sent = round((one.rate or closed) * SECONDS)
    misses = int(generator.binomial(sent, late(one.arm, one.rate))) if one.rate else 0
    latency, lag = Histogram(), Histogram()
    for number in range(sent):
        latency.record(100_000_000 if number < misses else 5_000_000)
    if one.rate:
        lag.record(lag_ns)
    return CellResult(
        cell_id=cell.cell_id, system=cell.system, runtime=cell.runtime, arm=one.arm, block=one.block,
        params=cell.params, status="ok", wall_ns=round(SECONDS * 1e9), requests=sent, answered=sent,
        latency=latency.to_json(),
        lag=lag.to_json() if lag_ns else {}, probe=one.purpose,
        clients=[{"client_id": 0, "completion_ns": 1, "requests": sent, "answered": sent, "wrong": 0, "errors": {}}],
    )  # fmt: skip


def test_a_report_of_another_run_does_not_pay_for_scipy() -> None:
    code = "import sys, reports.view; print([name for name in sys.modules if name.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_formula_is_erlangs() -> None:
    # one server: P(sojourn > t) = exp(-(1/mean - rate) t)
    assert late_mmc(60, 1, 0.01, 0.05) == pytest.approx(exp(-40 * 0.05), rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_capacity_of_queues_is_within_5_percent_of_erlangs_and_their_ratio_has_the_right_verdict(seed: int) -> None:
    servers = {"3.14": 8, "3.14t": 12}

    def late(arm: str, rate: float) -> float:
        return late_mmc(rate, servers[arm], 0.01, 0.06)

    run = searched(late, closed={"3.14": 800, "3.14t": 1200}, seed=seed)
    truth = {arm: capacity_of(partial(late, arm), 100 * servers[arm]) for arm in servers}
    found = {one.arm: one for one in capacities(run)}
    for arm, one in found.items():
        assert one.crossing
        assert one.crossing.rate == pytest.approx(truth[arm], rel=0.05)
        assert one.crossing.low < truth[arm] < one.crossing.high
        assert not one.contradiction
    (step,) = ratios(run, [*found.values()])
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)
    assert (step.verdict, step.low < step.ratio < step.high) == ("faster", True)


def test_a_cliff_is_reported_as_the_rates_on_both_sides_of_it() -> None:
    run = searched(lambda arm, rate: 0.0 if rate <= 500 else 1.0, closed=700, seed=1, arms=("3.14",))
    (one,) = capacities(run)
    assert one.crossing
    assert one.crossing.is_bracket
    assert one.crossing.low <= 500 < one.crossing.high < 1.15 * one.crossing.low
    said = [ENGLISH.text(note) for note in section(View(run)).sentences]
    assert any("rises suddenly" in note and "is a bracket, not an interval" in note for note in said)


@pytest.mark.parametrize(
    ("probes", "rates"),
    [
        ([(100, 0.5, 5), (200, 2.0, 5)], (100, 200)),
        ([(100, 0.5, 5), (200, 0.5, 5)], (200, np.inf)),
        ([(100, 2.0, 5), (200, 2.0, 5)], (0, 100)),
        # one long probe fails by chance, but five at a higher rate pass
        ([(200, 1.5, 20), *[(240, 0.5, 25)] * 5, (300, 3.0, 8)], (240, 300)),
        ([(100, 0.5, 5), (200, 1.2, 2), (220, 0.8, 40), (260, 1.5, 30)], (220, 260)),
        ([(100, 1.2, 40), (120, 0.9, 2)], (100, 120)),  # two probes contradict each other: the capacity is between them
    ],
)
def test_a_probe_that_contradicts_the_others_by_chance_does_not_hide_them(
    probes: list[tuple[float, float, float]], rates: tuple[float, float]
) -> None:
    made = [Probe(rate=rate, offered=rate, excess=excess, allowed=allowed) for rate, excess, allowed in probes]
    assert bracket(made) == rates


def test_the_first_rate_is_a_share_of_the_correct_answers() -> None:
    run = searched(lambda arm, rate: 0.0, closed=1000, seed=1, arms=("3.14",))
    closed, *_ = run.cells
    refusing = replace(closed, wrong=4000)  # of 5000 in 5 s
    (one,) = wanted(replace(run, cells=[refusing]))
    assert one.rate == pytest.approx(0.8 * 200)


def test_an_objective_that_no_rate_meets_ends_the_search_without_a_capacity() -> None:
    (one,) = capacities(searched(lambda arm, rate: 0.5, closed=700, seed=1, arms=("3.14",)))
    assert (one.crossing, one.highest_pass, one.wanted) == (None, 0.0, None)


def test_a_load_generator_that_is_late_is_not_taken_for_the_limit_of_the_service() -> None:
    run = searched(lambda arm, rate: 0.0 if rate <= 500 else 0.5, 700, 1, ("3.14",), lag_ns=30_000_000)
    (one,) = capacities(run)
    assert one.crossing is None
    assert one.is_generators
    assert 450 < one.highest_pass <= 500


def test_a_service_that_does_not_start_ends_its_own_search_alone() -> None:
    def broken(one: Wanted) -> CellResult:
        whole = answered(one, lambda arm, rate: 0.0, 700, np.random.default_rng(1), 0)
        return replace(whole, clients=[], status="failed")

    run = searched(lambda arm, rate: 0.0 if rate < 400 else 1.0, closed=700, seed=1, arms=("3.14",))
    lost = replace(run, cells=[])
    for _ in range(3):
        lost.cells += [broken(one) for one in wanted(lost)]
    assert wanted(lost) == []
    (one,) = capacities(lost)
    assert one.crossing is None


def test_requests_that_were_not_sent_miss_a_latency_once_they_are_overdue_for_so_long() -> None:
    latency = Histogram()
    for value_ns in (10_000_000, 59_000_000, 61_000_000, 80_000_000):
        latency.record(value_ns)
    # 100 of 1000 requests/s: the oldest unsent request was due 100 ms before the end, so 40 of them for over 60 ms
    _, probe, *_ = searched(lambda arm, rate: 0.0, closed=700, seed=1, arms=("3.14",)).cells
    cell = replace(
        probe,
        params={"RATE": 500, "NUM_CLIENTS": 2}, requests=4, errors={"closed": 1}, latency=latency.to_json(),
        clients=[{**probe.clients[0], "overdue": 99}, {**probe.clients[0], "overdue": 1}],
    )  # fmt: skip
    assert counted(cell, P99) == (2 + 1 + 40, 4 + 40)
    assert counted(cell, Objective.parse("errors<1%")) == (101, 104)


Servers = Mapping[tuple[str, int], int]  # of an arm with a number of processes


def chosen(servers: Servers, seed: int) -> Run:
    """Return a run after a whole search that first chooses the best number of processes of each arm."""
    arms, numbers = (list(dict.fromkeys(key[place] for key in servers)) for place in (0, 1))
    shapes = [
        {"RATE": 0, "NUM_CLIENTS": 1, "NUM_API_SERVICES": number, "NUM_WORKERS_PER_API_SERVICE": 1}
        for number in numbers
    ]
    run = searched(lambda arm, rate: 0.0, closed=100, seed=1, arms=tuple(map(str, arms)))
    rows = [{"system": "4", "params": one} for one in shapes]
    run = replace(run, cells=[], plan={**run.plan, "picks": True, "rows": rows})
    generator = np.random.default_rng(seed)
    while asked := wanted(run):
        assert len(run.cells) < 120
        for one in asked:
            many = servers[one.arm, one.cell.num_api_services]
            late = lambda arm, rate, many=many: late_mmc(rate, many, 0.01, 0.06)  # noqa: E731
            run.cells.append(answered(one, late, 100.0 * many, generator, 0))
    return run


DIFFERENT: Servers = {
    ("3.14", 1): 4, ("3.14", 2): 8, ("3.14", 4): 16, ("3.14t", 1): 20, ("3.14t", 2): 10, ("3.14t", 4): 8
}  # fmt: skip


@pytest.fixture(scope="module")
def chooser() -> Run:
    """Return a search in which the best number of processes is 4 under 3.14, and 1 under 3.14t."""
    return chosen(DIFFERENT, seed=3)


def test_the_best_topology_of_each_arm_is_chosen_by_some_probes_and_judged_by_others(chooser: Run) -> None:
    best = {one.arm: one for one in capacities(chooser)}
    assert {arm: one.params["NUM_API_SERVICES"] for arm, one in best.items()} == {"3.14": 4, "3.14t": 1}
    truth = {
        arm: capacity_of(partial(late_mmc, servers=many, mean_s=0.01, limit_s=0.06), 100 * many)
        for arm, many in (("3.14", 16), ("3.14t", 20))
    }
    for arm, found in best.items():
        assert found.crossing
        assert found.crossing.rate == pytest.approx(truth[arm], rel=0.05)
        assert {cell.probe for cell in found.cells} == {"closed", "scan", "search"}
    (step,) = ratios(chooser, [*best.values()])
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)


def test_a_topology_gets_no_more_probes_after_it_was_dropped(chooser: Run) -> None:
    choice = choices_of_arms(chooser)["3.14"]
    assert [one.params["NUM_API_SERVICES"] for one in choice.candidates] == [4, 2, 1]
    probes = [len(one.probes) for one in choice.candidates]
    assert probes[0] >= 2 * PROBES_OF_ROUND
    assert probes[1] >= 2 * PROBES_OF_ROUND
    assert probes[2] == PROBES_OF_ROUND


def test_the_table_of_topologies_marks_the_best_under_each_runtime(chooser: Run) -> None:
    view = View(chooser)
    shown = section(view).tables[2]
    assert [str(column.head) for column in shown.columns] == ["Setting", "3.14", "3.14t"]
    lines = lines_of(shown)
    assert [line[0] for line in lines] == ["1x1", "2x1", "4x1"]
    assert [[cell.startswith("* ") for cell in line[1:]] for line in lines] == [
        [False, True],
        [False] * 2,
        [True, False],
    ]
    said = [ENGLISH.text(sentence) for sentence in section(view).sentences]
    assert said[:2] == [
        "3.14: 4x1 was chosen from 3 settings.",
        "3.14t: 1x1 was chosen from 3 settings.",
    ]


def test_topologies_that_are_equal_may_be_chosen_by_chance() -> None:
    run = chosen({("3.14", 1): 8, ("3.14", 2): 8}, seed=2)
    (sentence, *_) = section(View(run)).sentences
    assert ENGLISH.text(sentence).endswith("may be chance.")


# ---- gates -----------------------------------------------------------------------------------------------------------


def steep(arm: str, rate: float) -> float:
    """Return the share of late requests: 1 % at 500 requests/s, and at 700 under 3.14t."""
    return min(1.0, 0.01 * (rate / (700 if arm == "3.14t" else 500)) ** 20)


REACHED = {"3.14": 600.0, "3.14t": 850.0}


def two_arms(
    change: Callable[[CellResult], CellResult] = lambda cell: cell, late: Late = steep, *, aa: bool = False
) -> tuple[View, dict[str, Ratio]]:
    """Return a search of two arms whose capacities differ by 40 %, and its ratios by the arm in the numerator."""
    run = searched(late, REACHED, 1, change=change, aa=aa)
    return View(run), {one.above.arm: one for one in ratios(run, capacities(run))}


def only(arm: str, **fields: Any) -> Callable[[CellResult], CellResult]:
    """Return a function that changes *fields* of the probes of an arm."""
    return lambda cell: replace(cell, **fields) if cell.arm == arm and cell.probe == "search" else cell


GIL_ON = message("the GIL was on")


def test_a_difference_between_sound_searches_is_called() -> None:
    view, found = two_arms()
    assert (found["3.14t"].verdict, found["3.14t"].why, view.failed_cells) == ("faster", NOTHING, [])
    assert found["3.14t"].low < 1.4 < found["3.14t"].high


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
    assert view.failed_cells
    assert {cell.arm for cell in view.failed_cells} == {"3.14t"}
    if found:  # else the search ended without a capacity
        assert found["3.14t"].verdict == "invalid"
        assert "the GIL was on" in ENGLISH.text(found["3.14t"].why)
    checks = {line[0]: line[1] for line in lines_of(validity.section(view).tables[0])}
    assert checks["All planned measurements were made"] == "× failed"
    assert any("the GIL was on" in ENGLISH.text(note) for note in (*section(view).sentences, *section(view).answer))


def test_a_search_whose_closed_loop_is_invalid_finds_no_capacity() -> None:
    def change(cell: CellResult) -> CellResult:
        return replace(cell, status="invalid", reason=GIL_ON) if cell.arm == "3.14t" else cell

    view, found = two_arms(change)
    assert found == {}
    assert {one.arm: one.crossing is None for one in view.capacities} == {"3.14": False, "3.14t": True}
    assert sum(cell.arm == "3.14t" for cell in view.run.cells) == 3


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
    assert "2 different versions" in ENGLISH.text(found["3.14t"].why)


def test_the_same_runtime_measured_twice_withholds_the_verdict_if_its_capacities_differ() -> None:
    def late(arm: str, rate: float) -> float:
        return steep(arm, rate * (1.2 if arm.endswith("again") else 1.0))

    _, found = two_arms(late=late, aa=True)
    assert {one.verdict for one in found.values()} == {"invalid", "slower"}
    assert "two measurements of the same runtime differ" in ENGLISH.text(found["3.14t"].why)


def test_other_processes_that_used_the_cpu_withhold_the_verdict() -> None:
    seen: dict[str, Others] = {
        "": {"cores": 2, "window_ns": 10**9, "share": 0.4, "busiest": {"cc1": 0.4}, "neighbours": {}}
    }
    view, found = two_arms(lambda cell: replace(cell, others=seen))
    assert found["3.14t"].verdict == "inconclusive"
    assert "other processes used 40% of the cores" in ENGLISH.text(found["3.14t"].why)
    assert any(
        "Repeat the search while other programs do not run" in ENGLISH.text(one) for one in section(view).sentences
    )


def test_a_search_that_was_stopped_has_no_verdict() -> None:
    run = searched(steep, REACHED, 1)
    while not wanted(run):
        run.cells.pop()
    found = {one.above.arm: one for one in ratios(run, capacities(run))}
    assert found["3.14t"].verdict == "inconclusive"
    assert str(found["3.14t"].why) == "the search was stopped before its end"


def test_a_probe_that_contradicts_the_others_withholds_the_verdict() -> None:
    """A long probe 10 % below the capacity missed 36 times as often as it may, because something disturbed it."""
    run = searched(steep, REACHED, 1)
    last = max((cell for cell in run.cells if cell.arm == "3.14t"), key=lambda cell: cell.block)
    latency = Histogram()
    for number in range(3150):
        latency.record(100_000_000 if number < 1134 else 5_000_000)
    odd = replace(
        last, block=last.block + 1, params={**last.params, "RATE": 630}, wall_ns=5 * 10**9, requests=3150,
        latency=latency.to_json(),
    )  # fmt: skip
    run = replace(run, cells=[*run.cells, odd])
    (step,) = ratios(run, capacities(run))
    assert step.verdict == "inconclusive"
    assert "a probe of 3.14t at 630 requests/s had 36.0 times the number of misses" in ENGLISH.text(step.why)


def test_verdicts_have_the_level_of_all_reports_which_is_not_that_of_their_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = searched(steep, REACHED, 1)

    def known(probes: Sequence[Probe], loop: Loop) -> Crossing:
        ratios_ = np.linspace(0.991, 1.4, 4000) if loop.rate > 700 else np.ones(4000)  # 2.2 % are below 1
        return Crossing(rate=1.05, low=0.9, high=1.1, draws=tuple(ratios_.tolist()))

    monkeypatch.setattr("reports.facts.capacity.crossing", known)
    (step,) = ratios(run, capacities(run))
    assert step.low > 1
    assert step.verdict == "inconclusive"


# ---- what the tables show --------------------------------------------------------------------------------------------


def test_figures_are_of_the_nearest_probe_that_met_the_objectives_and_its_own_rate_is_divided_by_its_cores() -> None:
    run = searched(steep, 600, 1, ("3.14",))
    run = replace(
        run,
        cells=[
            replace(cell, services=[{"service_id": 0, "cpu_user_ns": cell.answered * 10**6, "cpu_system_ns": 0}])
            for cell in run.cells
        ],
    )
    (one,) = capacities(run)
    assert one.crossing
    assert one.nearest
    assert not all(probe.passes for probe in one.probes)
    distances = {abs(np.log(probe.rate / one.crossing.rate)): probe.rate for probe in one.probes if probe.passes}
    assert one.nearest.rate == distances[min(distances)]
    shown = section(View(run)).tables[0]
    place = [str(column.head) for column in shown.columns].index("requests/s per core")
    assert lines_of(shown)[0][place] == "1,000"  # 1 ms of CPU time per request


def test_misses_of_a_late_load_generator_are_no_evidence_against_a_topology() -> None:
    one, *_ = capacities(searched(lambda arm, rate: 0.5 * (rate > 500), 700, 1, ("3.14",), lag_ns=30_000_000))
    assert any(not probe.passes for probe in one.probes)
    assert one.known == []
    assert one.rough_rate == one.highest_pass


def test_passes_of_a_late_load_generator_count_as_little_as_its_misses() -> None:
    one, *_ = capacities(searched(lambda arm, rate: 0.0, 700, 1, ("3.14",), lag_ns=30_000_000))
    assert one.known == []
    assert one.highest_pass > 0


# ---- simulated queues ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("servers", "mean_s", "limit_ms"), [(8, 0.02, 120), (8, 0.02, 1000), (1, 0.001, 120)])
def test_searches_of_simulated_queues_stay_below_saturation_and_enclose_theory(
    servers: int, mean_s: float, limit_ms: int
) -> None:
    """The long form is `python -m tests.reports.facts.simulated_searches`."""
    order, objective = np.random.default_rng(limit_ms), Objective.parse(f"p99<{limit_ms}ms")
    runs = [simulated_search(servers, mean_s, objective, order) for _ in range(4)]
    found = [one for run in runs for one in capacities(run)]
    truth = capacity_of(partial(late_mmc, servers=servers, mean_s=mean_s, limit_s=limit_ms / 1e3), servers / mean_s)
    known = [one.crossing for one in found if one.crossing]
    assert len(known) == 4
    assert all(one.rate < servers / mean_s for one in known)
    assert all(probe.rate < servers / mean_s for one in found for probe in one.probes)
    assert sum(abs(one.rate / truth - 1) < 0.05 for one in known) >= 3
    assert sum(one.low <= truth <= one.high for one in known) >= 3


def test_a_search_warns_that_latency_contains_connecting_if_the_service_closes_its_connections() -> None:
    def closing(cell: CellResult) -> CellResult:
        return replace(cell, clients=[{**cell.clients[0], "reconnects": cell.answered // 20}])

    run = searched(lambda arm, rate: 0.0 if rate <= 500 else 1.0, 700, 1, ("3.14",), change=closing)
    run.plan["own"] = UserService(name="shop", start=Command(command="serve {port}")).to_json()
    said = [ENGLISH.text(note) for note in section(View(run)).sentences]
    assert any(
        "after about 20 answers, or while it was idle. Latency includes the time to connect" in note for note in said
    )
