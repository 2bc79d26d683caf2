"""What a plan asked for and this machine does not have: one line for each reason."""

from dataclasses import replace

from reports.words.absent import absences, absent_lines
from tests.reports.contestants import contest_run

CARGO, UVLOOP = "not built: needs cargo", "uvloop cannot be installed"
ABSENT = {
    ("echo-tokio", "native"): CARGO,
    ("2", "native"): CARGO,
    ("echo-uvloop", "3.11"): UVLOOP,
    ("echo-uvloop", "3.14t"): UVLOOP,
}


def test_each_reason_is_said_once_with_all_that_it_keeps_away() -> None:
    run = contest_run([], absent=ABSENT)
    assert absences(run) == ABSENT
    assert absent_lines(run, {"echo-tokio": "tokio (Rust)", "2": "Single socket"}) == [
        f"Not measured: tokio (Rust); system 2: {CARGO}.",
        f"Not measured: echo-uvloop under 3.11, 3.14t: {UVLOOP}.",
    ]


def test_a_run_that_had_everything_says_nothing() -> None:
    assert absent_lines(contest_run([])) == []


def test_a_run_from_before_native_programs_says_nothing() -> None:
    run = contest_run([])
    old = {name: value for name, value in run.plan.items() if name not in ("absent", "view")}
    assert absences(replace(run, plan=old)) == {}
