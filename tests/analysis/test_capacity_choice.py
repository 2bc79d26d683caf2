"""Which topology a search for the capacity chooses under each runtime, if the best one is known."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.capacity_search import PROBES_OF_ROUND, capacities, choices_of_arms, ratios, wanted
from record.saved_run import Run
from tests.analysis.searches import P99, answered, capacity_of_queue, late_of_queue, unsearched

# The servers of the queue of each arm, by its number of processes.
SERVERS = {"3.14": {1: 4, 2: 8, 4: 16}, "3.14t": {1: 20, 2: 10, 4: 8}}


@pytest.fixture(scope="module")
def chooser() -> Run:
    """Return a run after a whole search that first chooses the best number of processes of each arm."""
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
    return run


def test_the_best_topology_of_each_arm_is_chosen_by_some_probes_and_judged_by_others(chooser: Run) -> None:
    best = {one.arm: one for one in capacities(chooser)}
    assert {arm: one.params["NUM_API_SERVICES"] for arm, one in best.items()} == {"3.14": 4, "3.14t": 1}
    truth = {"3.14": capacity_of_queue(16), "3.14t": capacity_of_queue(20)}
    for arm, found in best.items():
        assert found.crossing
        assert found.crossing.rate == pytest.approx(truth[arm], rel=0.05)
        assert {cell.probe for cell in found.cells} == {"closed", "scan", "search"}
    (step,) = ratios(chooser, [*best.values()])
    assert step.ratio == pytest.approx(truth["3.14t"] / truth["3.14"], rel=0.07)


def test_a_topology_gets_no_more_probes_after_it_was_dropped(chooser: Run) -> None:
    choice = choices_of_arms(chooser)["3.14"]
    assert [one.params["NUM_API_SERVICES"] for one in choice.candidates] == [4, 2, 1]
    best, second, dropped = (len(one.probes) for one in choice.candidates)
    assert min(best, second) >= 2 * PROBES_OF_ROUND
    assert dropped == PROBES_OF_ROUND
