"""The checks of a run: not known if nothing was there to be seen. What they say otherwise is in the golden outputs."""

from typing import Any

import pytest

from reports.topics.validity import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of


@pytest.mark.parametrize("facts", [{"compiler": ""}, {"flags": {}}])
def test_builds_that_nothing_is_known_of_are_not_alike(facts: dict[str, Any]) -> None:
    run = run_of([measured(cell_of("2", arm), block, [2000 * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)])
    for one in run.runtimes.values():
        one.update(facts)
    (table,) = section(View(run)).tables
    states = {str(what.words): state.state for what, state, _ in table.lines}
    assert states["Compared builds have no unintended differences"] == "state unknown"
