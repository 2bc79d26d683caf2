"""Two saved runs: what may be compared, what comes of it, and how it is shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.cell import Value
from core.messages import BadInput
from core.method import Method, Warmup
from record.saved_run import CellResult, Run
from reports.compare import members
from reports.compare.compared_runs import Compared, ComparedCell, compare_runs
from reports.view import View
from tests.analysis.timed_cells import in_blocks
from tests.reports.compare.trio import trio
from tests.reports.sample import SMALL, TITLES, run_of

NAMES = ("before", "after")
BEFORE_MS = (2000, 2010, 1995, 2005, 1990, 2002, 2008, 1998, 2004, 1996)


def cells(times_ms: Iterable[float], runtime: str = "3.14t", system: str = "1", **values: Value) -> list[CellResult]:
    """One cell over as many blocks as there are times; its one client took these."""
    return in_blocks(runtime, times_ms, {**SMALL, **values}, system=system)


def run(*some: Sequence[CellResult], method: Method | None = None, **machine: Any) -> Run:
    """A run of these cells."""
    every = [cell for one in some for cell in one]
    made = run_of(every, runtimes=[*dict.fromkeys(cell.runtime for cell in every)], blocks=10)
    made.plan = replace(made.plan, method=method or Method())
    made.machine = replace(made.machine, **machine)
    return made


def compared(a: Run, b: Run, **how: Any) -> Compared:
    return compare_runs(members([View(a, TITLES), View(b, TITLES)], NAMES), **how)


def only(found: Compared) -> ComparedCell:
    (one,) = found.cells
    return one


def test_a_threshold_below_the_margin_makes_the_margin_smaller() -> None:
    a, b = run(cells(BEFORE_MS)), run(cells([round(time_ms * 1.02) for time_ms in BEFORE_MS]))
    assert only(compared(a, b)).comparison.verdict == "equivalent"
    assert only(compared(a, b, share=0.01)).outcome == "slower"


@pytest.mark.parametrize(
    ("machine", "method", "told"),
    [
        ({"cpu": "Other CPU"}, Method(), "the CPU model: Sample CPU (A); Other CPU (B)"),
        ({}, Method(warmup=Warmup(share=0.1)), "the warm-up: none (A); 10 % (B)"),
        ({}, Method(limit_cpus=0.5), "the services' CPU limit in cores: none (A); 0.5 (B)"),
        ({}, Method(arrivals="poisson"), "the arrivals of requests at a fixed rate: uniform (A); poisson (B)"),
    ],
)
def test_another_machine_or_method_is_refused_unless_told_to(
    machine: Mapping[str, Any], method: Method, told: str
) -> None:
    a, b = run(cells(BEFORE_MS)), run(cells(BEFORE_MS), method=method, **machine)
    with pytest.raises(BadInput, match="measured under different conditions") as error:
        compared(a, b)
    assert told in str(error.value)
    troubles = compared(a, b, anyway=True).troubles
    assert [str(line) for line in troubles] == [f"The runs are compared only because of --anyway: {told}."]


def test_nothing_in_common_is_refused_with_what_each_run_has() -> None:
    said = r"In A: System 1, NUM_CLIENTS 1 \(3.14t\)\. In B: System 1, NUM_CLIENTS 2 "
    with pytest.raises(BadInput, match=said):
        compared(run(cells(BEFORE_MS)), run(cells(BEFORE_MS, NUM_CLIENTS=2)), anyway=True)


@pytest.mark.parametrize("count", [1, 27])
def test_two_to_twenty_six_runs_are_compared(count: int) -> None:
    with pytest.raises(BadInput, match=f"is {count}, but compare needs 2 to 26 runs"):
        members([trio()[0]] * count, ["x"] * count)


def test_where_a_duration_was_set_the_time_per_request_counts() -> None:
    """Both clients ran for as long; in B they had 5 % fewer answers."""
    a, b = (run(cells(BEFORE_MS), method=Method(duration_s=2)) for _ in range(2))
    b.cells = [replace(cell, answered=950) for cell in b.cells]
    one = only(compared(a, b))
    assert one.comparison.verdict == "slower"
    assert one.comparison.ratio == pytest.approx(0.95)
