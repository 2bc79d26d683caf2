"""Whose lock: a sentence, sums and lines for each profile; nothing for other kinds."""

from typing import Any

from core.result import Run
from reports.sections.locks import section
from reports.view import View
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import run_of

FRAMES = [("functools.py", 56, "update_wrapper"), ("functools.py", 60, "wraps"), ("shop/app.py", 31, "view")]
STACK = [dict(zip(("file", "line", "function"), frame, strict=True)) for frame in FRAMES]
PROFILE = {
    "kind": "locks",
    "system": "4",
    "params": {},
    "runtime": "3.14t",
    "sentence": "a request stops all threads 9.0 times",
    "requests": 100,
    "in_flight_ns": 10_000,
    "stops": 900,
    "stopping_ns": 4000,
    "waiting_ns": 2000,
    "count_share": 0.031,
    "stopping": [{"share": 0.4, "lock": "", "stack": STACK}],
    "contended": [{"share": 0.15, "lock": "a dict", "stack": STACK[2:]}, {"share": 0.5, "lock": "a list", "stack": []}],
}


def run_with(*profiles: Any) -> Run:
    run = run_of(steady("3.14t", 1000), runtimes=["3.14t"], blocks=8)
    run.profiles = list(profiles)
    return run


def test_a_profile_that_was_not_made_says_why_and_one_of_another_kind_is_not_told_here() -> None:
    failed = {"kind": "locks", "system": "4", "runtime": "3.11", "sentence": "not profiled: no CPython 3.14"}
    made = section(View(run_with(failed, {**failed, "kind": "perf"})))
    assert [str(line) for line in made.sentences] == ["3.11, System 4: not profiled: no CPython 3.14."]
    assert not any(made.tables)
    assert not section(View(run_with()))
