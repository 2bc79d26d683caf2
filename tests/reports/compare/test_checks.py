"""What --fail-if-slower says of each cell: slower, passed, or that nothing could be said."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import BadInput
from core.languages import ENGLISH
from core.messages import verbatim
from core.request_plan import Request, RequestPlan
from core.user_service import Command, UserService
from record.run import CellResult
from reports.compare.ci import SUMMARY_VARIABLE, add_summary, annotations, sentence
from reports.compare.members import members, obstacles
from reports.compare.runs import Compared, document
from reports.render.markdown import markdown
from reports.view import View
from tests.reports.compare.test_runs import BEFORE_MS, ONE, compared, run
from tests.reports.compare.test_runs import cells as that_took
from tests.reports.sample import cell_of, faulty, set_plan

CELL = cell_of("1", "3.14t", ONE)


def cells(factor: float = 1.0, blocks: int = 10, runtime: str = "3.14t", spread: float = 1.0) -> list[CellResult]:
    """One cell whose client took *factor* times as long as before; *spread* widens the differences."""
    return that_took([factor * (2000 + spread * (time_ms - 2000)) for time_ms in BEFORE_MS[:blocks]], runtime)


@pytest.mark.parametrize(
    ("a", "b", "outcome", "says"),
    [
        (cells(), cells(1.2), "slower", "slower; median times: 2.001 ms -> 2.401 ms, ratio 0.833 ["),
        ([*cells(), faulty(CELL, 11, "failed", "no")], cells(), "passed", "equivalent"),
        (cells(spread=30), cells(1.01, spread=30), "open", "includes 1 and reaches beyond"),
        (cells(spread=8), cells(0.98, spread=8), "passed", "inconclusive"),
        (cells(), [*cells(0.5), faulty(CELL, 11, "failed", "why")], "open", "in run B, 1 of 11 blocks failed: why."),
        (
            cells(),
            [faulty(CELL, 1, "invalid", "why")],
            "open",
            "(median times: 2.001 ms -> -): in run B, 1 of 1 block invalid: why.",
        ),
        (
            cells(blocks=3, spread=30),
            cells(1.2, blocks=3, spread=30),
            "open",
            "no interval can be computed from 3 blocks",
        ),
        (cells(0.09), cells(0.09), "open", "the measured time is less than"),
    ],
)
def test_a_cell_is_slower_passes_or_is_open(a: list[CellResult], b: list[CellResult], outcome: str, says: str) -> None:
    (one,) = compared(run(a), run(b), share=0.05).cells
    assert (str(one.name), one.outcome) == ("System 1 (3.14t)", outcome)
    assert says in str(sentence(one))


@pytest.fixture
def example() -> Compared:
    """A cell that is slower, one that passes and one whose block failed, its reason full of signs."""
    odd = [replace(one, arm="odd") for one in cells()]
    a = run(cells(), cells(runtime="3.14"), odd)
    failed = replace(odd[3], status="failed", reason=verbatim("<50 % & \x1b, why:"))
    b = run(cells(1.2), cells(runtime="3.14"), [*odd[:3], failed, *odd[4:]])
    return compared(a, b, share=0.05)


def test_annotations_are_workflow_commands_with_their_signs_escaped(example: Compared) -> None:
    lines = annotations(example.cells, ENGLISH)
    assert [line.partition("%3A")[0] for line in lines] == [
        "::error title=Slower", "::notice title=Compared", "::error title=No verdict"
    ]  # fmt: skip
    assert "System 1 (odd)::" in lines[2]
    assert "<50 %25 &" in lines[2]
    assert all("\n" not in line for line in lines)


def test_the_table_is_added_to_the_summary_of_the_job(example: Compared, tmp_path: Path) -> None:
    file, page = tmp_path / "summary.md", markdown(document(example), ENGLISH)
    file.write_text("before\n")
    add_summary(page, {SUMMARY_VARIABLE: ""})  # there is nothing to add it to
    add_summary(page, {SUMMARY_VARIABLE: str(file)})
    assert file.read_text().startswith("before\n# Comparison\n")
    with pytest.raises(BadInput, match="GITHUB_STEP_SUMMARY names"):
        add_summary(page, {SUMMARY_VARIABLE: str(tmp_path)})


def noisy(factor: float, seed: int) -> list[CellResult]:
    return that_took(2000 * factor * np.exp(np.random.default_rng(seed).normal(0, 0.15, 10)))


def test_a_run_that_is_15_percent_slower_rarely_passes_however_noisy_it_is() -> None:
    """It passed in 81 % of pairs of runs, because an inconclusive verdict passed."""
    found = [compared(run(noisy(1, seed)), run(noisy(1.15, 100 + seed)), share=0.05).cells[0] for seed in range(20)]
    assert sum(one.comparison.verdict == "inconclusive" for one in found) >= 10
    passed = [one.comparison.verdict for one in found if one.outcome == "passed"]
    assert passed == ["slower"] * 4  # but not by more than 5 % for certain


def beside(cells: list[CellResult], share: float) -> list[CellResult]:
    there: Any = {"cores": 2, "window_ns": 10**9, "share": share, "busiest": {}, "neighbours": {}}
    return [replace(cell, others={"": there}) for cell in cells]


@pytest.mark.parametrize(("shares", "outcome"), [((0.0, 0.14), "open"), ((0.14, 0.14), "slower"), ((0.5, 0.5), "open")])
def test_other_processes_during_one_run_do_not_make_it_slower(shares: tuple[float, float], outcome: str) -> None:
    a, b = (beside(cells(factor), share) for factor, share in zip((1.0, 1.15), shares, strict=True))
    (one,) = compared(run(a), run(b), share=0.05).cells
    assert one.outcome == outcome
    assert ("other processes used" in str(sentence(one))) == (outcome == "open")


@pytest.mark.parametrize(
    ("changed", "is_refused"),
    [
        ({"body": "x"}, True),
        ({"body_file": "/elsewhere/photo.bin"}, False),
    ],
)
def test_runs_with_other_requests_are_not_compared(changed: dict[str, Any], is_refused: bool) -> None:
    runs = [run(cells()), run(cells())]
    first = Request(path="/items", body_file="/here/photo.bin")
    for one, request in zip(runs, (first, replace(first, **changed)), strict=True):
        plan = RequestPlan(requests=(request,))
        set_plan(one, own=UserService(name="shop", start=Command(command="serve {port}"), requests=plan).to_json())
    found = obstacles(members([View(one) for one in runs], "AB"))
    assert [str(one).partition(":")[0] for one in found] == ["the requests"] * is_refused
