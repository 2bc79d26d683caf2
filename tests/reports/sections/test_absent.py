"""What a plan asked for and this machine does not have: one sentence for each reason."""

from dataclasses import replace

from reports.sections.absent import absent_sentences
from reports.view import View
from tests.reports.contestants import contest_run

CARGO, UVLOOP = "not built: needs cargo", "uvloop cannot be installed"
ABSENT = {
    ("echo-tokio", "native"): CARGO,
    ("2", "native"): CARGO,
    ("echo-uvloop", "3.11"): UVLOOP,
    ("echo-uvloop", "3.14t"): UVLOOP,
}


def test_each_reason_is_said_once_with_all_that_it_keeps_away() -> None:
    view = View(contest_run([], absent=ABSENT), {"echo-tokio": "tokio (Rust)", "2": "Single socket"})
    assert list(map(str, absent_sentences(view))) == [
        f"Not measured: tokio (Rust); system 2 - {CARGO}",
        f"Not measured: echo-uvloop under 3.11, 3.14t - {UVLOOP}",
    ]


def test_a_run_that_had_everything_and_one_from_before_native_programs_say_nothing() -> None:
    run = contest_run([])
    old = {name: value for name, value in run.plan.items() if name not in ("absent", "view")}
    assert [absent_sentences(View(one)) for one in (run, replace(run, plan=old))] == [[], []]
