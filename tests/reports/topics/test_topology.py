"""One process of threads against many processes: ratios by hand, what is missing, where the one overtakes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from config.load import load_experiment
from core.messages import verbatim
from core.result import CellResult, Run, Status
from core.user_service import Command, UserService
from reports.document.model import Section
from reports.topics.topology import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of
from tests.reports.sweeps import served, sized

Rates = Mapping[tuple[str, int, int], float]

# (runtime, processes, threads) -> requests/s
RATES: Rates = {("3.14t", 1, 2): 1900, ("3.14", 1, 2): 1000, ("3.14", 2, 1): 2000, ("3.14t", 2, 1): 1800}
SENTENCE = (
    "CALC_TARGET 0: 1 process of 2 threads on 3.14t has 1.90 (1.90 - 1.90) times the throughput of 1 "
    "process on 3.14 and 0.95 (0.95 - 0.95) times the throughput of 2 processes on 3.14, and "
    "0.60 (0.60 - 0.60) times the memory of the variant with several processes."
)
FAILED = "3 of 6 measurements failed: no reason given."


def made(run: Run) -> Section:
    return section(View(run))


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in made(run).sentences]


def tables(run: Run) -> list[list[list[str]]]:
    return [lines_of(figure.table) for figure in made(run).figures if figure.table]


def measured_cells(
    rates: Rates, blocks: Sequence[int] = (1, 2, 3), load: int = 0, clients: int = 4
) -> list[CellResult]:
    return [
        served(
            runtime,
            block,
            rate,
            {
                "NUM_API_SERVICES": processes,
                "NUM_WORKERS_PER_API_SERVICE": threads,
                "NUM_CLIENTS": clients,
                "CALC_TARGET": load,
            },
            services=sized(*[60 if runtime == "3.14t" else 50] * processes),
        )
        for (runtime, processes, threads), rate in rates.items()
        for block in blocks
    ]


def topology_run(*cells: CellResult, cores: int = 2) -> Run:
    run = run_of(cells, name="topology", runtimes=sorted({cell.runtime for cell in cells}))
    run.machine["cores_usable"] = cores
    return run


def swept(*over_many: Sequence[float]) -> Run:
    """A run with a load for each of *over_many*: the ratio of 1 x 2 on 3.14t to 2 x 1 on 3.14, by block."""
    cells = [
        cell
        for load, ratios in enumerate(over_many)
        for block, ratio in enumerate(ratios, 1)
        for cell in measured_cells({**RATES, ("3.14t", 1, 2): 2000 * ratio}, (block,), load)
    ]
    return topology_run(*cells)


def test_the_sentence_people_look_for_has_its_ratios_by_hand() -> None:
    """1900/1000, 1900/2000, and 60 MiB of one process over 2 x 50 MiB."""
    assert sentences(topology_run(*measured_cells(RATES))) == [SENTENCE]


@pytest.mark.parametrize(
    ("absent", "end"),
    [
        (("3.14", 2, 1), f"on 3.14; no comparison with 2 processes on 3.14: {FAILED}"),
        (("3.14", 1, 2), f"several processes; no comparison with 1 process of 2 threads on 3.14: {FAILED}"),
        (("3.14t", 1, 2), "1 process of 2 threads on 3.14t was not measured, so no comparison is possible."),
    ],
)
def test_a_missing_cell_is_named(absent: tuple[str, int, int], end: str) -> None:
    """A cell that failed in every block is missing as well."""
    failed = [replace(cell, status="failed") for cell in measured_cells({absent: 1000})]
    others = measured_cells({key: rate for key, rate in RATES.items() if key != absent})
    (sentence,) = sentences(topology_run(*others, *failed))
    assert sentence.endswith(end)


def test_another_version_is_named_as_what_is_mixed_in() -> None:
    other = {"3.14": "3.11", "3.14t": "3.14t"}
    rates = {(other[runtime], processes, threads): rate for (runtime, processes, threads), rate in RATES.items()}
    (sentence,) = sentences(topology_run(*measured_cells(rates)))
    assert sentence.endswith("several processes (the ratio includes the effect of different Python versions).")


def test_fewer_clients_than_threads_and_cores_make_a_lower_bound() -> None:
    rates = {("3.14t", 1, 8): 1000.0, ("3.14", 8, 1): 1000.0, ("3.14", 1, 8): 1000.0}
    lines = sentences(topology_run(*measured_cells(rates), cores=8))
    assert lines[-1].startswith("With 4 clients, one process serves at most 4 requests at a time")
    assert lines[-1].endswith(
        "The figures of 1 x 8 (processes x threads) are therefore a lower bound. Raise NUM_CLIENTS."
    )
    assert len(sentences(topology_run(*measured_cells(rates, clients=8), cores=8))) == 1


@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_one_bad_cell_withholds_the_ratios_of_its_place(status: Status) -> None:
    first, *others = measured_cells(RATES)
    bad = replace(first, status=status, reason=verbatim("the GIL was on"))
    (sentence,) = sentences(topology_run(*others, bad))
    assert "times the throughput" not in sentence
    assert sentence.count("the GIL was on") == 2


def test_a_state_of_the_gil_that_could_not_be_read_withholds_them_too() -> None:
    first, *others = measured_cells(RATES)
    unread = replace(first, services=[{**first.services[0], "gil_enabled_end": None}])
    (sentence,) = sentences(topology_run(*others, unread))
    assert "times the throughput" not in sentence
    assert "the state of the GIL of 3.14t could not be read in block 1" in sentence


def test_no_sentence_says_where_the_one_process_overtakes_the_many() -> None:
    """Differences of significances, and a highest of several ratios, are no finding."""
    said = " ".join(sentences(swept([0.8] * 8, [0.9] * 8, [1.1] * 8)))
    assert said.count("CALC_TARGET") == 3
    assert "begins" not in said
    assert "highest" not in said


def test_ratios_are_withheld_if_two_measurements_of_the_same_runtime_differ() -> None:
    run = swept([1.2] * 8)
    shape = {"NUM_API_SERVICES": 1, "NUM_WORKERS_PER_API_SERVICE": 2, "CALC_TARGET": 0}
    twins = [cell for cell in run.cells if cell.runtime == "3.14t" and shape.items() <= cell.params.items()]
    run.cells += [replace(cell, arm="3.14t again", wall_ns=2 * cell.wall_ns) for cell in twins]
    (sentence,) = [one for one in sentences(run) if one.startswith("CALC_TARGET 0: ")]
    assert "times the throughput" not in sentence
    assert "A/A: two measurements of 3.14t differ" in sentence


def test_the_experiment_lets_each_client_call_all_services_at_once() -> None:
    cells = load_experiment("topology").cells()
    assert all(cell.num_threads_per_client >= cell.num_api_services for cell in cells)


def test_a_place_that_ran_as_another_shape_is_shown_and_compared_as_that() -> None:
    served_by: Any = [{"connections": 8, "threads": 2, "cpu_ns": [10, 10]}]
    cells = [
        replace(cell, services=[{**cell.services[0], "workers": served_by}]) if cell.runtime == "3.14t" else cell
        for cell in measured_cells({**RATES, ("3.14t", 1, 2): 1850})
    ]
    run = run_of(cells)
    assert (
        "3.14t: the service was configured as 2 x 1 (processes x threads) but ran as 1 x 2. Comparisons use 1 x 2."
        in sentences(run)
    )
    assert [line[1:3] for line in tables(run)[0] if "3.14t" in line[0]] == [["2 x 1", "1 x 2"], ["1 x 2", "1 x 2"]]


def test_a_place_whose_threads_vary_is_shown_as_it_was_configured() -> None:
    cells = []
    for cell in measured_cells(RATES):
        served_by: Any = [{"connections": 8, "threads": 3 * cell.block, "cpu_ns": []}]
        cells.append(replace(cell, services=[{**cell.services[0], "workers": served_by}]))
    assert not any("but ran as" in sentence for sentence in sentences(run_of(cells)))


def of_service(rates: Rates, *failed: CellResult) -> Run:
    """A run of a user's service, which has no CALC_TARGET."""
    cells = [
        replace(cell, params={name: value for name, value in cell.params.items() if name != "CALC_TARGET"})
        for cell in (*measured_cells(rates), *failed)
    ]
    run = topology_run(*cells)
    run.plan["own"] = UserService(name="shop", start=Command(command="serve {port}")).to_json()
    return run


def test_the_threads_of_one_runtime_are_compared_with_each_other() -> None:
    """1300 / 1000 and 1500 / 1000."""
    ratios = "3.14t: 1 x {} (processes x threads) has {} times the throughput of 1 x 1."
    said = sentences(of_service({("3.14t", 1, 1): 1000, ("3.14t", 1, 2): 1300, ("3.14t", 1, 4): 1500}))
    assert said == [ratios.format(2, "1.30 (1.30 - 1.30)"), ratios.format(4, "1.50 (1.50 - 1.50)")]


def test_the_processes_of_one_runtime_are_compared_although_there_is_no_other_build() -> None:
    said = sentences(of_service({("3.14t", 2, 1): 2000, ("3.14t", 1, 2): 1000}))
    assert said == ["3.14t: 1 x 2 (processes x threads) has 0.50 (0.50 - 0.50) times the throughput of 2 x 1."]


def test_a_failed_cell_withholds_the_ratio_of_its_threads() -> None:
    (failed,) = measured_cells({("3.14t", 1, 2): 1300}, blocks=(3,))
    rates = {("3.14t", 1, 1): 1000.0, ("3.14t", 1, 2): 1300.0}
    bad = replace(failed, block=4, status="failed", reason=verbatim("it hung up"))
    (sentence,) = sentences(of_service(rates, bad))
    assert "no comparison of 1 x 2 (processes x threads) with 1 x 1: 1 of 7 measurements failed: it hung up" in sentence
