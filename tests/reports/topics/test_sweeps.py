"""Sweeps: axes, and whether throughput falls at the end of those whose throughput is known."""

from dataclasses import replace

import pytest

from core.messages import verbatim
from core.result import Run
from reports.topics.sweeps import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of
from tests.reports.sweeps import served

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def test_none_has_its_place_after_the_numbers() -> None:
    cells = [
        measured(cell_of("2", runtime, {**SMALL, "NUM_MAX_CONNS": value}), block, [place * 100 * MS + block * MS])
        for place, value in enumerate((None, 4, 1), 1)
        for runtime in ("3.11", "3.14t")
        for block in (1, 2)
    ]
    (figure,) = section(View(run_of(cells, blocks=2))).figures
    (panel,) = figure.panels
    assert [text for _, text in panel.across.ticks] == ["1", "4", "none"]


def peaked(n: int) -> float:
    """Universal Scalability Law: has its most at sqrt(0.95 / 0.01), 9.7."""
    return 1000 * n / (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1))


def swept(*, blocks: int = 14) -> Run:
    fixed = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 25}
    cells = [
        served("3.14t", block, peaked(n), {**fixed, "NUM_WORKERS_PER_API_SERVICE": n}, system="4")
        for n in (1, 2, 4, 8, 16, 25)
        for block in range(1, blocks + 1)
    ]
    return run_of(cells, name="scaling", runtimes=["3.14t"])


@pytest.mark.parametrize(
    ("run", "says"),
    [
        # without noise 8 workers serve 8000 / 1.91 = 4,188/s, and 25 serve 25,000 / 8.2 = 3,049/s: 0.73 of it
        (swept(), "throughput at the largest value, 25, is 0.73 [0.73, 0.73] times the throughput at 8."),
        (
            swept(blocks=6),
            "throughput at the largest value of the sweep, 25, is not shown to be lower than at a smaller value.",
        ),
    ],
)
def test_a_fall_is_told_from_the_value_with_the_most_if_blocks_are_enough_for_the_family(run: Run, says: str) -> None:
    (sentence,) = map(str, section(View(run)).sentences)
    assert sentence.startswith("NUM_WORKERS_PER_API_SERVICE, 3.14t: ")
    assert says in sentence


def test_a_plateau_is_told_if_blocks_are_enough() -> None:
    run = swept()
    run.cells = [replace(cell, wall_ns=10**9, answered=1000 + cell.block) for cell in run.cells]
    (sentence,) = map(str, section(View(run)).sentences)
    assert sentence.endswith("25, is not shown to be lower than at a smaller value.")


def test_one_invalid_cell_withholds_the_finding() -> None:
    """The sweep falls in all blocks, but in one of them the GIL of one value was on."""
    run = swept()
    run.cells[3] = replace(run.cells[3], status="invalid", reason=verbatim("the GIL was on"))
    (sentence,) = map(str, section(View(run)).sentences)
    assert sentence.endswith(
        "not known whether throughput falls at the largest value of the sweep, 25: 3.14t in block 4: the GIL was on."
    )


def test_a_run_that_went_on_after_a_first_report_needs_more_for_the_same_finding() -> None:
    run = swept()
    run.plan |= {"extended": True, "first_look": 6}
    (sentence,) = map(str, section(View(run)).sentences)
    assert "is not shown to be lower" in sentence
