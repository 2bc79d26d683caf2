"""The truth that known_answers judges by, and how it judges."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.known.judge import CALLED, MISS, OK, REFUSED, Seen, judge
from tests.known.measure import flags
from tests.known.scenarios import SCENARIOS, Truth, queue, simulate
from tests.known.service import Behaviour, Pattern, parse_behaviour


def near(value: float, expected: float) -> bool:
    return abs(value / expected - 1) < 0.005


@pytest.mark.parametrize(
    ("behaviour", "connections", "think_s", "cycle_s", "p99_ms", "p999_ms"),
    [
        (Behaviour(answer_ms=5), 16, 0.15, 0.155 / 16, 5, 5),
        # One of 50 takes 200 ms: the mean is (49 x 2 + 200) / 50 = 5.96 ms.
        (Behaviour(answer_ms=2, slow_ms=200, slow_every=50), 4, 0.0, 0.00596 / 4, 200, 200),
        (Behaviour(answer_ms=2, slow_ms=200, slow_every=200), 4, 0.0, 0.00299 / 4, 2, 200),
        # One core: all 8 requests are done one after the other.
        (Behaviour(answer_ms=40, works=1), 8, 0.0, 0.04, 320, 320),
        # 1,280 requests of 4 connections take 1.6 s, and the stop 0.4 s. It contains the 5 ms of one request.
        (Behaviour(answer_ms=5, stop_ms=400, stop_every=1280), 4, 0.0, 1.995 / 1280, 5, 400),
    ],
    ids=str,
)
def test_the_simulated_truth_is_that_of_the_formula(
    behaviour: Behaviour, connections: int, think_s: float, cycle_s: float, p99_ms: float, p999_ms: float
) -> None:
    truth = simulate(behaviour, connections, think_s)
    assert near(truth.rate, 1 / cycle_s)
    assert near(truth.p99_ms, p99_ms)
    assert near(truth.p999_ms, p999_ms)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_service_reads_the_behaviour_that_a_run_gives_it(name: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name]
    words = flags(scenario, "native", "slices", False, tmp_path)
    *_, base, other = words[words.index("--service-command") + 1].split(" ")
    assert (parse_behaviour(base), parse_behaviour(other)) == (scenario.base, scenario.other)


HALF = SCENARIOS["sleep 300/600"]
RIGHT = Seen(
    ratio=0.502, low=0.495, high=0.51, verdict="slower", rates=[53.3, 26.7], percentiles=[[301, None], [602, 604]]
)


@pytest.mark.parametrize(
    ("changes", "result", "fault"),
    [
        ({}, OK, ""),
        ({"ratio": 1.0, "low": 1.0, "high": 1.0, "verdict": "equivalent"}, MISS, "not equivalent"),
        ({"ratio": 1.9, "verdict": "faster"}, MISS, "wrong direction"),
        ({"ratio": 0.52}, MISS, "ratio +4.0%"),
        ({"ratio": 0.52, "low": 0.45, "high": 0.6, "verdict": "inconclusive"}, REFUSED, ""),
        ({"ratio": 0.6, "low": 0.55, "high": 0.65, "verdict": "inconclusive"}, MISS, "ratio +20.0%"),
        ({"ratio": 1.0, "verdict": "invalid", "rates": [32, 32]}, REFUSED, ""),
        ({"rates": [32, 26.7]}, MISS, "throughput 1: 32.0/s instead of 53.3/s"),
        ({"percentiles": [[301, None], [602, 1]]}, MISS, "p99.9 2: 1 ms instead of 600 ms"),
        ({"percentiles": [[345, None], [602, 604]]}, MISS, "p99 1: 345 ms instead of 300 ms"),
        ({"percentiles": [[345, None], [602, 604]], "is_beside_others": True}, OK, ""),
        ({"is_warned": True}, MISS, "a warning of an unsteady start"),
    ],
    ids=str,
)
def test_a_wrong_figure_or_word_is_a_miss_and_a_refusal_is_none(
    changes: dict[str, object], result: str, fault: str
) -> None:
    found, faults = judge(HALF, replace(RIGHT, **changes))  # type: ignore[arg-type]
    assert found == result
    assert fault in faults if fault else not faults


def test_a_service_that_is_unsteady_at_first_must_be_named_and_only_that_is_judged() -> None:
    unsteady = SCENARIOS["slow first"]
    assert judge(unsteady, RIGHT) == (MISS, ["no warning of the unsteady start"])
    assert judge(unsteady, replace(RIGHT, is_warned=True)) == (OK, [])


def test_equal_services_that_are_told_apart_are_counted() -> None:
    same = SCENARIOS["same"]
    truth: Truth = same.truths[0]
    rates, percentiles = [truth.rate, truth.rate * 0.98], [[truth.p99_ms, truth.p999_ms]] * 2
    seen = replace(RIGHT, ratio=0.98, low=0.97, high=0.99, rates=rates, percentiles=percentiles)
    assert judge(same, seen) == (CALLED, [])
    assert judge(same, replace(seen, verdict="equivalent")) == (OK, [])


def test_the_truth_of_a_queue_is_that_of_the_pattern_that_the_service_plays() -> None:
    behaviour, rate = Behaviour(answer_ms=10, queued=1), 60
    pattern, arrivals = Pattern(behaviour, Random(1)), Random(2)
    now_s = free_s = 0.0
    times_ms = []
    for _ in range(200_000):
        now_s += arrivals.expovariate(rate)
        free_s = max(now_s, free_s) + pattern.begin_request(now_s)
        times_ms.append(1e3 * (free_s - now_s))
    times_ms.sort()
    truth = queue(behaviour, rate, 12.0)
    assert truth.p99_ms == pytest.approx(times_ms[-2000], rel=0.05)
    assert truth.p999_ms == pytest.approx(times_ms[-200], rel=0.1)
    # A measurement of 96 s scatters by more than 10 %, so a bar of 10 % would refuse right measurements.
    (low, high), _ = truth.spread
    assert 0.7 < low < 0.9
    assert 1.1 < high < 1.5
