"""The truth that known_answers judges by, and how it judges."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.known.judge import CALLED, OK, Seen, judge
from tests.known.measure import flags
from tests.known.scenarios import SCENARIOS, Truth, queue, simulate
from tests.known.service import Behaviour, Pattern, parse_behaviour
from tests.tables import table

TABLES = table(__file__, "known_answers.yaml")


@pytest.mark.parametrize("case", TABLES["truths"], ids=lambda case: case["behaviour"])
def test_the_simulated_truth_is_that_of_the_formula(case: dict[str, Any]) -> None:
    truth = simulate(parse_behaviour(case["behaviour"]), case["connections"], case.get("think_s", 0.0))
    expected = (1 / case["cycle_s"], case["p99_ms"], case["p999_ms"])
    assert (truth.rate, truth.p99_ms, truth.p999_ms) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_service_reads_the_behaviour_that_a_run_gives_it(name: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name]
    words = flags(scenario, "native", "slices", False, tmp_path)
    *_, base, other = words[words.index("--service-command") + 1].split(" ")
    assert (parse_behaviour(base), parse_behaviour(other)) == (scenario.base, scenario.other)


RIGHT = Seen(
    ratio=0.502, low=0.495, high=0.51, verdict="slower", rates=[53.3, 26.7], percentiles=[[301, None], [602, 604]]
)


@pytest.mark.parametrize(("service", "changes", "result", "fault"), TABLES["judged"], ids=str)
def test_a_wrong_figure_or_word_is_a_miss_and_a_refusal_is_none(
    service: str, changes: dict[str, Any], result: str, fault: str
) -> None:
    found, faults = judge(SCENARIOS[service], replace(RIGHT, **changes))
    assert found == result
    assert fault in faults if fault else not faults


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
