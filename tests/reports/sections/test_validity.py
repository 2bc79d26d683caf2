"""The checks of a run: passed or not by what was seen, and not known where nothing was there to be seen."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.hosts import Host, Layout
from core.result import Run
from reports.sections.validity import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BUILDS = "Builds differ only in the step"
RUNNER = "The runner took no part"


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


# ---- what the verdicts rest on -------------------------------------------------------------------------------------


def test_a_run_across_hosts_says_whether_its_runner_took_part_and_another_does_not() -> None:
    run = short()
    assert RUNNER not in found(run)
    hosts = {"a": Host(name="a", address="10.0.0.1")}
    run.plan["layout"] = Layout(hosts=hosts, services_on="a", clients_on=("a",)).to_json()
    assert found(run)[RUNNER].state == "unknown"
    run.cells = [
        replace(cell, runner={"window": {"ns": 10**9, "cpu_ns": 0, "link_bytes": 10**6}}) for cell in run.cells
    ]
    assert found(run)[RUNNER].state == "look"
    assert "1000 kB/s" in str(found(run)[RUNNER].seen)
