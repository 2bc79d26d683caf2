"""Where the time goes: bars that follow each other, every figure of a row, and what changed at each step."""

from dataclasses import replace

import pytest

from core.result import Run
from reports.sections.costs import section
from reports.view import View
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import MS, run_of


def measured_run() -> Run:
    user_ns = {"3.14t+gil": 10 * MS, "3.14t": 30 * MS}
    cells = [
        replace(
            cell,
            requests=1000,
            answered=1000,
            calc_ns=5 * MS,
            services=[{**cell.services[0], "cpu_user_ns": user_ns[cell.runtime], "run_queue_ns": 2 * MS}],
        )
        for cell in steady("3.14t+gil", 2000) + steady("3.14t", 1000)
    ]
    return run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=8)


def test_the_parts_of_a_request_follow_each_other() -> None:
    """5 us of calc in 30 us of user time, 10 us in the kernel: 45 us is the longest."""
    strip = section(View(measured_run())).tables[0].lines[1][1].strip
    assert strip is not None
    assert strip.bars == ((0.0, 5.0, "piece s0"), (5.0, 30.0, "piece s1"), (30.0, 40.0, "piece s2"))
    assert strip.high == pytest.approx(40.0)
