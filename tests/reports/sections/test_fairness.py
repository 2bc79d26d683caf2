"""Jain's index by hand, over services and blocks, and when it is spoken of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.method import Method
from core.result import CellResult, Run
from reports.document.model import Section
from reports.rows.fairness import fairnesses, jain_of_counts
from reports.sections.fairness import section
from reports.statistics.scaling import jain_index
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of
from tests.reports.sweeps import served

EVEN = {"requests": 40, "requests_by_worker": [10] * 4, "requests_by_socket": [20, 20]}
EVEN_CONNECTIONS = {**EVEN, "connections_by_requests": {"10": 4}}


def told(workers: Sequence[int], connections: Mapping[str, int], sockets: Sequence[int]) -> dict[str, Any]:
    return {
        "requests": sum(workers),
        "requests_by_worker": list(workers),
        "connections_by_requests": dict(connections),
        "requests_by_socket": list(sockets),
    }


def cell(block: int, *services: Mapping[str, Any], runtime: str = "3.14t", system: str = "4") -> CellResult:
    return served(runtime, block, 100, {"NUM_API_SERVICES": len(services)}, system=system, services=services)


def fair_run(*cells: CellResult) -> Run:
    return run_of(cells, runtimes=list(dict.fromkeys(one.runtime for one in cells)))


def made(run: Run) -> Section:
    return section(View(run))


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in made(run).sentences]


def indices(run: Run) -> dict[str, float]:
    return {one.among: one.jain for one in fairnesses(run)}


def test_indices_by_hand() -> None:
    """20**2 / (4 * 200) = 0.5; 4**2 / (2 * 10) = 0.8."""
    run = fair_run(cell(1, told([10, 10, 0, 0], {"10": 2, "0": 2}, [3, 1])))
    assert indices(run) == pytest.approx({"workers": 0.5, "connections": 0.5, "sockets": 0.8})


@given(st.lists(st.integers(0, 30), min_size=1, max_size=50).filter(any))
def test_connections_counted_by_requests_have_the_index_of_the_connections(requests: list[int]) -> None:
    assert jain_of_counts(Counter(requests)) == pytest.approx(jain_index(requests))


def test_of_several_services_it_is_the_mean_and_of_blocks_the_median() -> None:
    one_of_two, both = told([10, 0], {"5": 2}, [5, 5]), told([5, 5], {"5": 2}, [5, 5])
    run = fair_run(cell(1, one_of_two, one_of_two), cell(2, one_of_two, both), cell(3, both, both))
    assert indices(run)["workers"] == 0.75


def test_a_service_without_requests_shares_nothing() -> None:
    run = fair_run(cell(1, told([0, 0], {}, [0, 0]), told([5, 5], {"5": 2}, [10, 0])))
    assert indices(run) == {"workers": 1.0, "connections": 1.0, "sockets": 0.5}


def test_there_is_no_index_of_one_alone() -> None:
    run = fair_run(cell(1, told([10], {"5": 2}, [10])))
    assert indices(run) == {"connections": 1.0}


def test_services_that_do_not_tell_have_no_part() -> None:
    run = fair_run(served("3.14t", 1, 100, {}, system="1", services=[{"requests_by_worker": [9, 1]}]))
    assert fairnesses(run) == []
    assert not made(run)


def test_even_shares_have_no_sentence_and_a_line_in_the_table() -> None:
    run = fair_run(cell(1, EVEN_CONNECTIONS))
    assert sentences(run) == []
    (table,) = made(run).tables
    assert lines_of(table) == [["3.14t", "-", "1.000", "1.000", "1.000"]]


def test_idle_workers_do_no_harm_and_are_not_on_the_terminal() -> None:
    run = fair_run(cell(1, told([10, 10, 0, 0], {"10": 2}, [10, 10])))
    (sentence,) = sentences(run)
    assert sentence.startswith(
        "Requests are shared unevenly among workers in 3.14t (Jain index below 0.9): 0.50, as if 2.0 of 4 had done all "
        "the work. This does no harm"
    )


def test_of_several_rows_the_least_even_is_named() -> None:
    uneven, worse = told([10, 5], {"5": 3}, [5, 10]), told([15, 0], {"5": 3}, [15, 0])
    run = fair_run(cell(1, uneven, runtime="3.11"), cell(1, worse))
    (sentence, *_) = made(run).sentences
    assert str(sentence) == (
        "Requests are shared unevenly among sockets in 1 of 2 rows (Jain index below 0.9), least evenly in 3.14t: 0.50,"
        " as if 1.0 of 2 had done all the work."
    )


def test_with_a_fixed_number_of_requests_connections_can_hardly_differ() -> None:
    run = fair_run(cell(1, EVEN_CONNECTIONS))
    assert "fixed number of requests" in str(made(run).notes[-1])
    run.plan["method"] = Method(duration_s=1.0).to_json()
    assert len(made(run).notes) == 1
