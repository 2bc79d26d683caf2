"""Which topology a search for the capacity chooses under each runtime, if the best one is known."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from analysis.capacity_search import PROBES_OF_ROUND, capacities, choices_of_arms, ratios, wanted
from benchmarks.known_capacities import capacity_of, late_mmc
from record.saved_run import Run
from tests.analysis.searches import P99, answered, unsearched

Servers = Mapping[tuple[str, int], int]  # of an arm with a number of processes


def chosen(servers: Servers, seed: int) -> Run:
    """Return a run after a whole search that first chooses the best number of processes of each arm."""
    arms, numbers = (list(dict.fromkeys(key[place] for key in servers)) for place in (0, 1))
    run = unsearched(P99, [*map(str, arms)])
    (row,) = run.plan.rows
    params = {**row.params, "NUM_WORKERS_PER_API_SERVICE": 1}
    rows = tuple(replace(row, params={**params, "NUM_API_SERVICES": number}) for number in numbers)
    run.plan = replace(run.plan, picks=True, rows=rows)
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
    best, second, dropped = (len(one.probes) for one in choice.candidates)
    assert min(best, second) >= 2 * PROBES_OF_ROUND
    assert dropped == PROBES_OF_ROUND
