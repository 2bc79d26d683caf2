"""Slices of time: how long they are, and what a client's slices add up to. Numbers are worked out by hand."""

from fractions import Fraction
from typing import Any

import pytest

from core.child import Slice
from lab.run.cell_results import Pace, add_slices, counted_share, counted_usage, littles_law
from lab.run.feasible import choose_arm_order
from lab.run.instrumentation import TimeWindow
from lab.run.measure import size_slices
from record.child_lines import ClientLine, FirstWrong
from record.decode import decoded
from tests.config.planning import planned
from tests.lab.scripted_children import latency
from tests.tables import each_row

MS = 1_000_000


def line(**counted: Any) -> ClientLine:
    """The last line of a client with these keys."""
    counts = {"requests": 0, "answered": 0, "wrong": 0, "errors": {}, "completion_ns": 1}
    return decoded({**counts, **counted}, ClientLine)


@each_row
def test_a_slice_holds_forty_cycles_and_four_of_the_longest_requests_or_arms_are_measured_one_after_the_other(
    line: str,
) -> None:
    cycle_ms, tail_ms, duration_ms, count, length_ms, lead_ms = map(float, line.replace("->", "").split()[:6])
    slow = Pace(cycle_ns=round(cycle_ms * MS), tail_ns=round(tail_ms * MS))
    part = Slice(lead_ns=round(lead_ms * MS), length_ns=round(length_ms * MS))
    assert size_slices([Pace(cycle_ns=MS // 10, tail_ns=MS // 10), slow], duration_ms / 1000) == (count, part)


def test_the_pace_of_requests_has_their_longest_part_and_the_time_between_them() -> None:
    taken = latency(*[1 * MS] * 985, *[150 * MS] * 15)  # long ones are 1.5 % of the requests and 70 % of the time
    pace = Pace.of(line(latency=taken, own_ns=1000 * 20 * MS))
    assert pace.cycle_ns == taken["mean_ns"] + 20 * MS
    assert pace.tail_ns == pytest.approx(150 * MS, rel=0.004)
    rare = latency(*[1 * MS] * 9900, 90 * MS)  # 0.9 % of the time
    assert Pace.of(line(latency=rare), 5 * MS) == Pace(cycle_ns=rare["mean_ns"] + 5 * MS, tail_ns=1_003_519)
    assert Pace.of(line(latency={})) == Pace()


def test_what_turns_out_much_longer_than_expected_is_expected_from_then_on_each_time_by_itself() -> None:
    """A mean of 130 ms needs more than the longest slice; a tail that is longer than it must be seen all the same."""
    expected, no_answer = Pace(cycle_ns=130 * MS, tail_ns=134 * MS), Pace.of(line(latency={}), least_ns=536 * MS)
    assert expected.grown(no_answer, 1.25) == Pace(cycle_ns=130 * MS, tail_ns=536 * MS)
    assert expected.grown(Pace(cycle_ns=150 * MS, tail_ns=160 * MS), 1.25) == expected


@each_row
def test_throughput_and_latency_obey_littles_law(case: str) -> None:
    answered, mean_ms, between_ms, held_ms, beyond_ms = map(int, case.split()[:5])
    client = {
        "answered": answered,
        "errors": {},
        "connections": 16,
        "own_ns": answered * between_ms * MS,
        "held_ns": held_ms * MS,
        "beyond_ns": beyond_ms * MS,
        "latency": latency(*[mean_ms * MS] * answered),
    }
    faults = littles_law([line(**client)], [TimeWindow(start_ns=0, end_ns=1000 * MS)])
    if case.split()[5] == "right":
        assert faults == []
    else:
        assert "but there are 16" in str(faults[0])


def said(answered: int, uncounted: int, start_ns: int, *latencies_ns: int, **more: Any) -> ClientLine:
    """What a client says of a slice."""
    counted = {"requests": answered, "answered": answered, "uncounted": uncounted, "wrong": 0, "errors": {"closed": 1}}
    times = {"started_ns": start_ns, "finished_ns": start_ns + 100, "completion_ns": 100, "cpu_user_ns": 1000}
    return line(**counted, **times, latency=latency(*latencies_ns), **more)


def test_slices_add_up_to_one_result_with_the_cpu_time_of_what_counts() -> None:
    """What only some slices have is kept."""
    wrong = [{"request": "GET /", "got": got, "expected": "1"} for got in "ab"]
    first = said(
        3, 1, 1000, 7, 8, 9, slow={"above_ns": 5, "requests": [[0, 7, 0]]}, first_wrong=wrong[0], offered_rate=90
    )
    total = add_slices([first, said(1, 0, 5000, 20, waiting=latency(3), first_wrong=wrong[1], offered_rate=110)])
    assert total.first_wrong == FirstWrong(**wrong[0])
    assert (total.waiting.count, total.offered_rate) == (1, 100)
    assert (total.answered, total.requests, total.uncounted, total.errors) == (4, 4, 1, {"closed": 2})
    assert (total.started_ns, total.finished_ns, total.completion_ns) == (1000, 5100, 200)
    assert (total.latency.count, total.latency.min_ns, total.latency.max_ns) == (4, 7, 20)
    assert total.cpu_user_ns == 1600  # of 2000, four fifths: 4 of 5 answers count
    assert counted_share([total]) == pytest.approx(0.8)
    none = add_slices([said(0, 0, 1000), said(0, 0, 5000)])
    assert (none.errors, none.latency.count) == ({"closed": 2}, 0)


def test_what_a_service_used_is_without_its_idle_time_and_by_the_share_of_answers_that_count() -> None:
    usage = {"cpu_user_ns": 6000, "cpu_system_ns": 2000, "voluntary_switches": 10, "max_rss_bytes": 9}
    used = counted_usage(line(latency={}, **usage), Fraction(1, 2), 4000)
    assert (used.cpu_user_ns, used.cpu_system_ns, used.voluntary_switches) == (1500, 500, 5)
    assert (used.max_rss_bytes, used.run_queue_ns) == (9, None)


@each_row
def test_arms_take_turns_unless_something_is_against_it_which_is_named(line: str) -> None:
    flags, _, words = line.partition(" ->")
    ordered = choose_arm_order(planned(f"--system 2 {flags}"))
    assert ordered.method.slices is not bool(words)
    assert words.strip() in str(ordered.arm_order_reason)
    assert bool(ordered.arm_order_reason) is bool(words)
