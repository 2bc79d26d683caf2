"""Slices of time: how long they are, and what a client's slices add up to. Numbers are worked out by hand."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from config.load import load_experiment
from config.plan import Plan
from core.child import Slice
from core.histogram import Histogram
from core.runtime import RuntimeName
from lab.run.feasible import choose_arm_order
from lab.run.measure import size_slices
from lab.run.results import add_slices, counted_share, counted_usage
from tests.lab.scripted_children import latency


@pytest.mark.parametrize(
    ("latency_ms", "duration_s", "count", "lead_ms", "length_ms"),
    [
        (0.2, 1.0, 10, 5, 100),  # 40 requests take 8 ms, so the shortest slice, with the shortest lead
        (10.0, 1.0, 2, 80, 500),  # 40 requests take 400 ms, 2.5 slices are made 2; 8 requests before
        (100.0, 3.0, 6, 100, 500),  # not 4 s, but the longest slice, and the longest lead
        (0.2, 0.05, 2, 1.6, 25),  # two at least
    ],
)
def test_a_slice_holds_forty_requests_of_each_connection_after_eight(
    latency_ms: float, duration_s: float, count: int, lead_ms: float, length_ms: int
) -> None:
    part = Slice(lead_ns=round(lead_ms * 1e6), length_ns=length_ms * 10**6)
    assert size_slices(latency_ms * 1e6, duration_s) == (count, part)


def said(answered: int, uncounted: int, start_ns: int, *latencies_ns: int, **more: Any) -> dict[str, Any]:
    """What a client says of a slice."""
    counted = {"requests": answered, "answered": answered, "uncounted": uncounted, "wrong": 0, "errors": {"closed": 1}}
    times = {"started_ns": start_ns, "finished_ns": start_ns + 100, "completion_ns": 100, "cpu_user_ns": 1000}
    return {**counted, **times, "latency": latency(*latencies_ns), **more}


def test_slices_add_up_to_one_result_with_the_cpu_time_of_what_counts() -> None:
    slow = {"above_ns": 5, "requests": [[0, 7, 0]]}
    total = add_slices([said(3, 1, 1000, 7, 8, 9, slow=slow), said(1, 0, 5000, 20)])
    assert (total["answered"], total["requests"], total["uncounted"], total["errors"]) == (4, 4, 1, {"closed": 2})
    assert (total["started_ns"], total["finished_ns"], total["completion_ns"]) == (1000, 5100, 200)
    assert (total["latency"]["count"], total["latency"]["min_ns"], total["latency"]["max_ns"]) == (4, 7, 20)
    assert total["cpu_user_ns"] == 1600  # of 2000, four fifths: 4 of 5 answers count
    assert counted_share([total]) == pytest.approx(0.8)


def test_of_a_client_without_an_answer_in_any_slice_the_histogram_is_empty_and_can_be_read() -> None:
    total = add_slices([said(0, 0, 1000), said(0, 0, 5000)])
    assert (total["errors"], Histogram.from_json(total["latency"]).count) == ({"closed": 2}, 0)


def test_what_a_service_used_is_without_its_idle_time_and_by_the_share_of_answers_that_count() -> None:
    result = {"cpu_user_ns": 6000, "cpu_system_ns": 2000, "voluntary_switches": 10, "max_rss_bytes": 9}
    assert counted_usage(result, Fraction(1, 2), 4000) == {
        "cpu_user_ns": 1500,
        "cpu_system_ns": 500,
        "voluntary_switches": 5,
    }


def plan(**method: Any) -> Plan:
    quick = load_experiment("quick", 2)
    return replace(quick, method=replace(quick.method, **method))


def test_arms_take_turns_unless_something_is_against_it_which_is_named() -> None:
    ordered = choose_arm_order(plan())
    assert (ordered.method.slices, str(ordered.arm_order_reason)) == (True, "")
    for given, words in (
        (plan(duration_s=0.0), "number of requests"),
        (replace(plan(), runtimes=(RuntimeName("3.14"),)), "only one arm"),
        (replace(plan(), arm_order="sequential"), "--order sequential"),
    ):
        ordered = choose_arm_order(given)
        assert (ordered.method.slices, words in str(ordered.arm_order_reason)) == (False, True)


def test_what_only_some_slices_have_is_kept_and_the_first_wrong_answer_is_the_first() -> None:
    wrong = [{"request": "GET /", "got": got, "expected": "1"} for got in "ab"]
    slices_said = [
        said(1, 0, 0, 7, waiting=latency(3), offered_rate=90),
        said(1, 0, 500, 7, first_wrong=wrong[0], offered_rate=110),
        said(1, 0, 900, 7, first_wrong=wrong[1], offered_rate=100),
    ]
    total = add_slices(slices_said)
    assert (total["waiting"]["count"], total["first_wrong"], total["offered_rate"]) == (1, wrong[0], 100)
