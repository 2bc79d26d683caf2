"""What is said of the best setting under each runtime: at each load, of a service of one's own, of how it ran."""

from dataclasses import replace
from typing import Any

from config.load import load_experiment
from record.run import Run
from reports.sections.best import section
from reports.view import View
from tests.analysis.test_choice import a_run, framed, said
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of, with_service
from tests.reports.sweeps import served


def test_settings_are_compared_at_the_same_load_only() -> None:
    lines = said(framed([*a_run(load=0).cells, *a_run(load=1000).cells]))
    assert [line.partition(":")[0] for line in lines] == [
        "CALC_TARGET 0, 3.14", "CALC_TARGET 0, 3.14t", "CALC_TARGET 0",
        "CALC_TARGET 1000, 3.14", "CALC_TARGET 1000, 3.14t", "CALC_TARGET 1000",
    ]  # fmt: skip


def test_ratios_are_withheld_if_two_measurements_of_the_same_runtime_differ() -> None:
    run = a_run(blocks=23)
    twins = [cell for cell in run.cells if cell.runtime == "3.14t"]
    run.cells += [replace(cell, arm="3.14t again", wall_ns=2 * cell.wall_ns) for cell in twins]
    old, new, step = said(run)
    for sentence in (old, new):
        assert "times the throughput" not in sentence
        assert "A/A: two measurements of 3.14t differ" in sentence
    assert "invalid" in step


def of_service(**served_by: Any) -> Run:
    """Return a run of a user's service with one, two and four threads, which says how it is served."""
    cells = []
    for threads, rate in ((1, 1000), (2, 1300), (4, 1500)):
        values = {"NUM_API_SERVICES": 1, "NUM_WORKERS_PER_API_SERVICE": threads, "NUM_CLIENTS": 4}
        cells += [served("3.14t", block, rate, values, services=[served_by]) for block in range(1, 24)]
    for cell in cells:
        del cell.params["CALC_TARGET"]  # which a service of one's own does not have
    return with_service(run_of(cells, runtimes=["3.14t"], blocks=23), name="2")


def test_the_topologies_of_a_users_service_are_compared_although_there_is_one_runtime() -> None:
    run = of_service()
    (sentence,) = said(run)
    assert "was chosen from 3 settings, and has 1.15 [1.15, 1.15] times the throughput o" in sentence
    shown = section(View(run)).tables[0]
    assert [line[1] for line in lines_of(shown)] == ["1,000", "1,300", "* 1,500"]


def test_a_topology_that_ran_as_another_shape_is_said() -> None:
    run = of_service(workers=[{"connections": 8, "threads": 1, "cpu_ns": [10]}])
    assert "3.14t: the service was configured as 1 x 4 (processes x threads) but ran as 1 x 1." in said(run)


def test_the_experiment_lets_each_client_call_all_services_at_once() -> None:
    cells = load_experiment("topology").cells()
    assert all(cell.num_threads_per_client >= cell.num_api_services for cell in cells)
