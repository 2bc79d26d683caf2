"""The checks of a run: passed or not by what was seen, and not known where nothing was there to be seen."""

from dataclasses import dataclass
from typing import Any

import pytest

from core.result import Run
from reports.topics.validity import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BUILDS = "Builds differ only in the step"


def short() -> Run:
    cells = [measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)]
    return run_of(cells, blocks=2)


@dataclass(frozen=True)
class Check:
    """A line of the table as a reader has it."""

    state: str
    seen: str
    cells: str


def found(run: Run) -> dict[str, Check]:
    (table,) = section(View(run)).tables
    return {
        str(what.words): Check(state=sign.state.removeprefix("state "), seen=str(seen.words), cells=seen.cells)
        for what, sign, seen in table.lines
    }


def states(run: Run) -> dict[str, str]:
    return {what: check.state for what, check in found(run).items()}


@pytest.mark.parametrize("facts", [{"compiler": ""}, {"flags": {}}])
def test_builds_that_nothing_is_known_of_are_not_alike(facts: dict[str, Any]) -> None:
    run = short()
    for one in run.runtimes.values():
        one.update(facts)
    assert states(run)[BUILDS] == "unknown"
