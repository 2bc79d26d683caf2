"""Known answers of what the runner used while clients were timed, and when that is too much."""

from dataclasses import replace
from typing import Any

import pytest

from core.result import Run
from reports.rows.runner_use import runner_use
from tests.reports.sample import MS, cell_of, measured, run_of


def run(late_ns: int = 0, *, with_runner: bool = False, **window: int) -> Run:
    """A cell of 1 s whose runner used nothing, and one as it is told."""
    windows = ({"ns": 10**9, "cpu_ns": 0, "link_bytes": 0}, {"ns": 2 * 10**9, "cpu_ns": 0, "link_bytes": 0, **window})
    hosts: dict[str, dict[str, Any]] = {"a": {}, "b": {"late_ns": late_ns}}
    cells = [
        replace(measured(cell_of("4", "3.14t"), block, [1000 * MS]), runner={"window": window}, hosts=hosts)
        for block, window in enumerate(windows, 1)
    ]
    whole = run_of(cells, blocks=2)
    whole.machine["hosts"] = {"a": {"with_runner": with_runner}, "b": {"with_runner": False}}
    return whole


def test_a_runner_that_took_no_part_distorts_nothing() -> None:
    use = runner_use(run(cpu_ns=500 * MS))
    assert use
    assert use.distortions == []
    assert str(use.summary).startswith("at most 25.0% of a core and 0.0 kB/s")


@pytest.mark.parametrize(
    ("distorted", "words"),
    [
        (run(with_runner=True, cpu_ns=60 * MS), "shares the machine of a, where it used up to 3.0% of a core"),
        (run(link_bytes=300_000), "carried up to 150 kB/s while clients were timed, which must be at most 100"),
        (run(late_ns=20 * MS), "up to 2.0% of their window late, which must be at most 1%"),
    ],
)
def test_what_can_distort_is_said_with_its_bound(distorted: Run, words: str) -> None:
    use = runner_use(distorted)
    assert use
    (distortion,) = use.distortions
    assert words in str(distortion)
