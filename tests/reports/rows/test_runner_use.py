"""Known answers of what the runner used while clients were timed, and when that is too much."""

from dataclasses import replace
from typing import Any

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
