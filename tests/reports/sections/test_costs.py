"""Where the time goes: bars that follow each other, every figure of a row, and what changed at each step."""

from dataclasses import replace
from typing import Any

import pytest

from core.result import Run
from reports.document.model import Section
from reports.sections.costs import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import MS, run_of


def measured_run(**profiled: Any) -> Run:
    cells = [replace(cell, requests=1000) for cell in steady("3.14t+gil", 2000) + steady("3.14t", 1000)]
    user_ns = {"3.14t+gil": 10 * MS, "3.14t": 30 * MS}
    cells = [
        replace(
            cell,
            answered=1000,
            calc_ns=5 * MS,
            services=[{**cell.services[0], "cpu_user_ns": user_ns[cell.runtime], "run_queue_ns": 2 * MS}],
        )
        for cell in cells
    ]
    return replace(run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=8), **profiled)


def made(run: Run) -> Section:
    return section(View(run))


def test_the_parts_of_a_request_follow_each_other() -> None:
    """5 us of calc in 30 us of user time, 10 us in the kernel: 45 us is the longest."""
    strip = made(measured_run()).tables[0].lines[1][1].strip
    assert strip is not None
    assert strip.bars == ((0.0, 5.0, "piece s0"), (5.0, 30.0, "piece s1"), (30.0, 40.0, "piece s2"))
    assert strip.high == pytest.approx(40.0)


def test_every_cost_of_a_row_is_in_one_of_the_tables() -> None:
    times, more, _ = map(lines_of, made(measured_run()).tables)
    assert times[0] == ["3.14t+gil", "", "5.0", "10.0", "10.0", "-", "10.0", "10.0"]
    assert more[1] == ["3.14t", "2.0", "-", "0.0", "0.0", "17", "-", "17"]


def test_what_changed_at_a_step_is_named() -> None:
    assert lines_of(made(measured_run()).tables[2]) == [
        ["System 2", "3.14t+gil → 3.14t", "the service's user time 10.0 → 30.0 us"]
    ]


def test_what_perf_saw_is_a_sentence() -> None:
    profiles = [{"system": "4", "runtime": "3.14t", "sentence": "the hottest function is f (9 % of CPU time)"}]
    section = made(measured_run(profiles=profiles))
    assert [str(line) for line in section.terminal] == [
        "perf, 3.14t, System 4: the hottest function is f (9 % of CPU time)."
    ]
