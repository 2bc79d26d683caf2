"""Advice in a report: from what profiles and collections of a run say, by hand."""

from dataclasses import replace
from typing import Any

from core.result import Run
from reports.rows.advice import Cost, Fact, LockWait, SharedCounts, Stops
from reports.rows.evidence import facts
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

WRAPPER = {"file": "functools.py", "line": 56, "function": "update_wrapper"}
APP = {"file": "app.py", "line": 31, "function": "put"}
PYTHON: dict[str, Any] = {"kind": "python", "system": "1", "params": {}, "sentence": "", "batches": [100] * 20}
LOCKS: dict[str, Any] = {
    "kind": "locks",
    "system": "1",
    "runtime": "3.14t",
    "params": {},
    "sentence": "",
    "requests": 1000,
    "in_flight_ns": 1_000_000,
    "waiting_ns": 300_000,
    "stops": 9000,
    "stopping_ns": 400_000,
    "stood_ns": 0,
    "watched_ns": 1_000_000,
    "cpu_samples": 1000,
    "count_share": 0.05,
    "contended": [
        {"owner": "dict", "share": 0.3, "samples": 40, "stack": [APP]},
        {"owner": "list", "share": 0.1, "samples": 3, "stack": [APP]},
    ],
    "stopping": [{"owner": "", "share": 0.4, "samples": 50, "stack": [WRAPPER, APP]}],
}


def run(*profiles: dict[str, Any]) -> Run:
    made = run_of([measured(cell_of("1", "3.14t"), block, [99 * MS]) for block in (1, 2)], runtimes=["3.14t"])
    made.profiles = list(profiles)
    return made


def facts_of(made: Run) -> list[Fact]:
    """Without what they can gain."""
    found = facts(made, View(made).groups)
    return [replace(fact, bound=None) if isinstance(fact, Cost) else fact for fact in found]


def test_a_line_that_waits_in_a_profile_by_python_is_a_fact_where_it_is_shown_to_wait() -> None:
    line = {"function": "put", "file": "app.py", "line": 31, "caller": "", "waits": {"lock": [50] * 20}}
    seldom = {**line, "line": 40, "waits": {"lock": [1] + [0] * 19}}
    profile = {**PYTHON, "lines": [line, seldom], "runtime": "3.14"}
    assert facts_of(run(profile)) == [
        LockWait(runtime="3.14", share=0.5, owner="", place="app.py:31 in put", files=("app.py", ""), under_gil=True)
    ]


def test_a_profile_of_locks_is_facts_where_it_was_sampled_often_enough() -> None:
    wait, stops, counts = facts_of(run(LOCKS))
    assert wait == LockWait(runtime="3.14t", share=0.3, owner="dict", place="app.py:31 in put", files=("app.py",))
    assert isinstance(stops, Stops)
    assert (stops.per_request, stops.share, stops.place) == (9.0, 0.4, "functools.py:56 in update_wrapper")
    assert counts == SharedCounts(runtime="3.14t", share=0.05)


def test_a_profile_that_failed_is_no_fact() -> None:
    assert facts_of(run({"kind": "locks", "runtime": "3.14t", "sentence": "not profiled"})) == []
