"""A search for the capacity, against queues whose answer is known: M/M/c by Erlang's C formula, and a token bucket."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from math import exp, factorial

import numpy as np
import pytest

from core.histogram import Histogram
from core.languages import ENGLISH
from core.objective import Objective, Wanted
from core.result import CellResult, Run
from lab.places import REPOSITORY
from reports.facts.capacity import capacities, counted, ratios, wanted
from reports.statistics.capacity import Probe, bracket
from reports.topics.capacity import section
from reports.view import View
from tests.reports.sample import facts

P99 = Objective.parse("p99<60ms")
SECONDS = 5.0
Late = Callable[[str, float], float]  # of an arm at a rate: the share of requests that miss


def late_of_mmc(rate: float, servers: int, mean_s: float, limit_s: float) -> float:
    """Return P(sojourn time > limit) of an M/M/c queue. Source: Erlang's C formula; L. Kleinrock, Queueing Systems."""
    service, spare = 1 / mean_s, servers / mean_s - rate
    if spare <= 0:
        return 1.0
    load = rate * mean_s
    last = load**servers / factorial(servers) * servers / (servers - load)
    waits = last / (sum(load**number / factorial(number) for number in range(servers)) + last)
    ratio = service / (spare - service * 1.000001)  # never 0
    return exp(-service * limit_s) * (1 + waits * ratio) - waits * ratio * exp(-spare * limit_s)


def capacity_of(late: Callable[[float], float], low: float, high: float) -> float:
    """Return the rate at which 1 % is late, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if late(middle) < 0.01 else (low, middle)
    return low


def searched(late: Late, closed: float, seed: int, arms: tuple[str, ...] = ("3.14", "3.14t"), lag_ns: int = 0) -> Run:
    """Return a run after a whole search; each probe draws its late requests."""
    generator = np.random.default_rng(seed)
    rows = [{"system": "4", "params": {"RATE": 0, "NUM_CLIENTS": 1}}]
    run = Run(
        run_id="searched", started_at="2026-11-25T00:00:00+00:00", seed=seed, command=[],
        plan={"name": "own", "blocks": 1, "runtimes": list(arms), "objectives": [vars(P99)], "rows": rows},
        machine={}, runtimes={name: facts(name) for name in arms},
    )  # fmt: skip
    while asked := wanted(run):
        assert len(run.cells) < 21 * len(arms)
        run.cells += [answered(one, late, closed, generator, lag_ns) for one in asked]
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
        cell_id=cell.cell_id, system=cell.system, runtime=cell.runtime, arm=one.arm, block=1, params=cell.params,
        status="ok", wall_ns=round(SECONDS * 1e9), requests=sent, answered=sent, latency=latency.to_json(),
        lag=lag.to_json() if lag_ns else {}, probe=one.purpose,
        clients=[{"client_id": 0, "completion_ns": 1, "requests": sent, "answered": sent, "wrong": 0, "errors": {}}],
    )  # fmt: skip


def test_a_report_of_another_run_does_not_pay_for_scipy() -> None:
    code = "import sys, reports.view; print([name for name in sys.modules if name.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_formula_is_erlangs() -> None:
    # one server: P(sojourn > t) = exp(-(1/mean - rate) t)
    assert late_of_mmc(60, 1, 0.01, 0.05) == pytest.approx(exp(-40 * 0.05), rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_capacity_of_queues_is_within_5_percent_of_erlangs_and_their_ratio_has_the_right_verdict(seed: int) -> None:
    servers = {"3.14": 8, "3.14t": 12}

    def late(arm: str, rate: float) -> float:
        return late_of_mmc(rate, servers[arm], 0.01, 0.06)

    run = searched(late, closed=1000, seed=seed)
    truth = {arm: capacity_of(lambda rate, arm=arm: late(arm, rate), 1, 100 * servers[arm]) for arm in servers}  # type: ignore[misc]
    found = {one.arm: one for one in capacities(run)}
    for arm, one in found.items():
        assert one.crossing
        assert one.crossing.rate == pytest.approx(truth[arm], rel=0.05)
        assert one.crossing.is_confirmed_by(one.known)
    (step,) = ratios(run, [*found.values()])
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)
    assert (step.verdict, step.low < step.ratio < step.high) == ("faster", True)


def test_a_cliff_is_reported_as_the_rates_on_both_sides_of_it() -> None:
    run = searched(lambda arm, rate: 0.0 if rate <= 500 else 1.0, closed=700, seed=1, arms=("3.14",))
    (one,) = capacities(run)
    assert one.crossing
    assert one.crossing.is_cliff
    assert one.crossing.low <= 500 < one.crossing.high < 1.12 * one.crossing.low
    assert any("rises suddenly" in ENGLISH.text(note) for note in section(View(run)).sentences)


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


def test_the_best_topology_is_picked_by_some_probes_and_judged_by_others() -> None:
    run = searched(lambda arm, rate: 0.0, closed=100, seed=1)
    shapes = [{"RATE": 0, "NUM_CLIENTS": 1, "NUM_API_SERVICES": number} for number in (1, 2, 4)]
    run = replace(
        run, cells=[], plan={**run.plan, "picks": True, "rows": [{"system": "4", "params": one} for one in shapes]}
    )
    servers = {("3.14", 1): 4, ("3.14", 2): 8, ("3.14", 4): 16, ("3.14t", 1): 20, ("3.14t", 2): 10, ("3.14t", 4): 8}
    generator = np.random.default_rng(3)
    while asked := wanted(run):
        assert len(run.cells) < 120
        for one in asked:
            many = servers[one.arm, one.cell.num_api_services]
            late = lambda arm, rate, many=many: late_of_mmc(rate, many, 0.01, 0.06)  # noqa: E731
            run.cells.append(answered(one, late, 100.0 * many, generator, 0))
    best = {one.arm: one for one in capacities(run)}
    assert {arm: one.params["NUM_API_SERVICES"] for arm, one in best.items()} == {"3.14": 4, "3.14t": 1}
    truth = {arm: capacity_of(lambda rate, many=many: late_of_mmc(rate, many, 0.01, 0.06), 1, 100 * many)  # type: ignore[misc]
             for arm, many in (("3.14", 16), ("3.14t", 20))}  # fmt: skip
    for arm, found in best.items():
        assert found.crossing
        assert found.crossing.rate == pytest.approx(truth[arm], rel=0.05)
        assert {cell.probe for cell in found.cells} == {"closed", "scan", "search", "confirm"}
    (step,) = ratios(run, [*best.values()])
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)
    assert not [
        cell
        for cell in run.cells
        if cell.probe == "pick" and cell.params["NUM_API_SERVICES"] == 1 and cell.arm == "3.14"
    ]
