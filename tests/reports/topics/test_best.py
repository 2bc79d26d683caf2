"""The best numbers of processes and threads under each runtime, known by hand, and what is said of how they ran."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.load import load_experiment
from core.cell import Value
from record.run import CellResult, Run
from reports.topics.best import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of, with_service
from tests.reports.sweeps import served, sized

Rates = Mapping[tuple[str, int, int], float]

# (runtime, processes, threads) -> requests/s
RATES: Rates = {("3.14t", 1, 2): 3000, ("3.14", 1, 2): 1000, ("3.14", 2, 1): 2000, ("3.14t", 2, 1): 1800}
BLOCKS = range(1, 24)


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in section(View(run)).sentences]


def measured_cells(rates: Rates, load: int = 0) -> list[CellResult]:
    cells = []
    for (runtime, processes, threads), rate in rates.items():
        values: dict[str, Value] = {
            "NUM_API_SERVICES": processes, "NUM_WORKERS_PER_API_SERVICE": threads, "NUM_CLIENTS": 4, "CALC_TARGET": load
        }  # fmt: skip
        cells += [served(runtime, block, rate, values, services=sized(*[50] * processes)) for block in BLOCKS]
    return cells


def topology_run(*cells: CellResult) -> Run:
    run = run_of(cells, name="topology", runtimes=sorted({cell.runtime for cell in cells}), blocks=len(BLOCKS))
    run.plan = replace(run.plan, rows=tuple(replace(row, framed=True) for row in run.plan.rows))
    return run


def of_service(rates: Rates) -> Run:
    """Return a run of a user's service, which has no CALC_TARGET."""
    cells = measured_cells(rates)
    for cell in cells:
        del cell.params["CALC_TARGET"]
    return with_service(run_of(cells, runtimes=["3.14t"], blocks=len(BLOCKS)), name="2")


def test_topologies_are_compared_at_the_same_load_only() -> None:
    every = [cell for load in (0, 1000) for cell in measured_cells(RATES, load=load)]
    said = sentences(topology_run(*every))
    assert [line.partition(":")[0] for line in said] == [
        "CALC_TARGET 0, 3.14", "CALC_TARGET 0, 3.14t", "CALC_TARGET 0",
        "CALC_TARGET 1000, 3.14", "CALC_TARGET 1000, 3.14t", "CALC_TARGET 1000",
    ]  # fmt: skip


def test_ratios_are_withheld_if_two_measurements_of_the_same_runtime_differ() -> None:
    run = topology_run(*measured_cells(RATES))
    twins = [cell for cell in run.cells if cell.runtime == "3.14t" and cell.params["NUM_API_SERVICES"] == 1]
    run.cells += [replace(cell, arm="3.14t again", wall_ns=2 * cell.wall_ns) for cell in twins]
    old, new, step = sentences(run)
    for sentence in (old, new):
        assert "times the throughput" not in sentence
        assert "A/A: two measurements of 3.14t differ" in sentence
    assert "invalid" in step


def test_the_topologies_of_a_users_service_are_compared_although_there_is_one_runtime() -> None:
    run = of_service({("3.14t", 1, 1): 1000, ("3.14t", 1, 2): 1300, ("3.14t", 1, 4): 1500})
    (sentence,) = sentences(run)
    assert "was chosen from 3 settings, and has 1.15 [1.15, 1.15] times the throughput o" in sentence
    shown = section(View(run)).tables[0]
    assert [line[1] for line in lines_of(shown)] == ["1,000", "1,300", "* 1,500"]


def test_the_experiment_lets_each_client_call_all_services_at_once() -> None:
    cells = load_experiment("topology").cells()
    assert all(cell.num_threads_per_client >= cell.num_api_services for cell in cells)


def test_a_topology_that_ran_as_another_shape_is_said() -> None:
    served_by: Any = {"workers": [{"connections": 8, "threads": 2, "cpu_ns": [10, 10]}]}
    cells = [replace(cell, services=[{**cell.services[0], **served_by}]) for cell in measured_cells(RATES)]
    said = sentences(topology_run(*cells))
    assert "3.14t: the service was configured as 2 x 1 (processes x threads) but ran as 1 x 2." in said
