"""Rounds of stress against real services with a planted fault: what comes of a crash, a deadlock and a warning.

Which answer is expected is learned from those that one client got.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from config.run_plan import Entry
from core.request_plan import ANY, Request
from core.stress_results import Round, Stress
from lab.places import REPOSITORY
from lab.run import stress_rounds as rounds
from lab.run.cell_processes import Bench
from lab.run.stress_rounds import SWITCH_INTERVAL_S, group_stacks, learn_check
from tests.conftest import runtime_or_skip
from tests.contract.own_services import planned
from tests.tables import each_row

SERVICE = f"{{python}} {REPOSITORY / 'tests' / 'lab' / 'run' / 'stress_service.py'} {{port}}"
on_linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux: /proc")


class Found(Exception):
    """What was looked for; the rest of the time is not needed."""


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As short as they can be on a machine that is not busy; there may be many of them."""
    monkeypatch.setattr(rounds, "LONGEST_ROUND_S", 0.2)
    monkeypatch.setattr(rounds, "LATE_S", 0.5)


def round_of(fault: str, bench: Bench, tmp_path: Path, found: Callable[[Round], object]) -> Round:
    """The first round without the GIL, of at most two minutes of them, in which the service shows that fault."""
    runtime_or_skip("3.14t")
    given = {"command": SERVICE, "requests": [f"GET /{fault}"]}
    cell, system = planned(tmp_path, "3.14t", given, NUM_CONNECTIONS_PER_CLIENT=3)  # fewer crash at once
    stress = Stress(
        name="own",
        started_at="",
        seconds=120.0,
        switch_interval_s=SWITCH_INTERVAL_S,
        connections=16,
        runtimes={"3.14t": ""},
    )

    def keep() -> None:
        if found(stress.rounds[-1]):
            raise Found

    with pytest.raises(Found):
        rounds.carry_out([Entry(arm="3.14t", cell=cell, system=system)], bench, stress, keep)
    assert stress.checks == {f"GET /{fault}": "body"}
    return stress.rounds[-1]


@on_linux
def test_a_crash_leaves_the_trace_of_the_line(bench: Bench, tmp_path: Path) -> None:
    """Where a second thread crashes while the first writes its trace, that is cut short; another round has it whole."""
    crashed = round_of("crash", bench, tmp_path, lambda one: any(map(is_whole, one.crashes)))
    assert crashed.ready
    assert "SIGSEGV" in str(crashed.reason)


def is_whole(trace: str) -> bool:
    return trace.startswith("Fatal Python error: Segmentation fault") and "in crash\n" in trace


@on_linux
def test_a_deadlock_leaves_the_stacks_of_the_threads_that_wait(bench: Bench, tmp_path: Path) -> None:
    """A busy machine may begin to call so late that the stacks are those from before the deadlock."""
    hung = round_of(
        "deadlock",
        bench,
        tmp_path,
        lambda one: "timeout" in one.failures and any("in deadlock\n" in stacks for stacks in one.stacks),
    )
    assert hung.crashes == ()


@on_linux
def test_an_unsafe_iteration_is_named_by_what_the_service_wrote(bench: Bench, tmp_path: Path) -> None:
    """A busy machine may answer late: only then are there stacks."""
    warned = round_of("iteration", bench, tmp_path, lambda one: one.notices)
    assert any("during iteration" in line for line in warned.notices)
    assert warned.crashes == ()
    assert warned.stacks == () or "timeout" in warned.failures


def test_threads_with_the_same_stack_are_counted() -> None:
    trace = """Thread 0x01 [Thread-1 (a)] (most recent call first):
  File "a.py", line 1 in wait

Thread 0x02 [Thread-2 (b)] (most recent call first):
  File "a.py", line 1 in wait

Current thread 0x03 [python] (most recent call first):
  File "a.py", line 9 in <module>
"""
    assert group_stacks(trace) == (
        '2 x Thread (most recent call first):\n  File "a.py", line 1 in wait\n\n'
        '1 x Thread (most recent call first):\n  File "a.py", line 9 in <module>'
    )


@each_row
def test_what_all_answers_have_in_common_is_expected(line: str) -> None:
    said, _, expected = line.partition(" -> ")
    answers = []
    for answer in filter(None, said.split(" | ")):
        status, _, body = answer.partition(" ")
        answers.append((int(status), body.encode()))
    check, status, *value = expected.split(" ", 2)
    request, by = learn_check(Request(path="/a"), answers)
    assert (by, request.expect_status) == (check, int(status))
    assert request.expect_json == (json.loads(value[0]) if value else ANY)
    assert bool(request.expect_sha256) is (check == "body")


def test_what_was_declared_is_not_learned_anew() -> None:
    declared = Request(expect_json={"id": 3})
    assert learn_check(declared, [(500, b"")]) == (declared, "declared")
