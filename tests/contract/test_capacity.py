"""A probe of a search for the capacity, with real processes: what is sent at the rate, and for how long."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.child import Slice
from core.method import ORCHESTRATOR, POISSON, Method, Warmup
from core.objective import CLOSED, LONGEST_S, RELAXATIONS, SCAN, SEARCH, Objective, relaxation_s, top_rate
from lab.run.bench import Bench
from lab.run.experiment import length
from lab.run.measure import measure
from lab.run.runtimes import Runtime
from tests.contract.own_services import planned
from tests.contract.serving import check_ok

METHOD = Method(warmup=Warmup(seconds=0.05), duration_s=1.0, arrivals=POISSON)
RATE = 60
OBJECTIVES = (Objective.parse("p50<0.1s"), Objective.parse("errors<20%"))


def test_a_probe_lasts_until_enough_misses_are_expected_at_the_limit() -> None:
    p99, p999 = Objective.parse("p99<50ms"), Objective.parse("p99.9<50ms")
    assert length(400, 800, SCAN, [p99]).length_ns == 2_000_000_000  # 4 of 400 requests/s may miss: 8 need 2 s
    assert length(5000, 9000, SCAN, [p99]).length_ns == 1_500_000_000
    assert length(5000, 9000, SEARCH, [p99]).length_ns == 7_000_000_000
    assert length(5000, 9000, SEARCH, [p99, p999]).length_ns == 7_000_000_000  # 25 of 5 requests/s need 5 s
    assert length(400, 800, SEARCH, [p999]) == Slice(lead_ns=500_000_000, length_ns=40_000_000_000)
    assert length(0, 0, CLOSED, [p99]) == Slice(lead_ns=500_000_000, length_ns=20_000_000_000)


def test_a_probe_is_long_for_its_objective_and_for_queues_that_build_up_slowly() -> None:
    assert length(5000, 9000, SCAN, [Objective.parse("p99<1s")]) == Slice(lead_ns=10**9, length_ns=10**10)
    # M/M/1 with 100 requests/s at 90 %: 4 * 100 / 10^2 s
    assert length(90, 100, SCAN, [Objective.parse("p50<5ms")]) == Slice(lead_ns=4 * 10**9, length_ns=12 * 10**9)
    assert length(top_rate(400), 400, SEARCH, [Objective.parse("p90<5ms")]).length_ns == 12_000_000_000


@pytest.mark.parametrize("reached", [1, 5, 50, 400, 30_000])
def test_no_probe_is_so_near_to_saturation_that_it_would_have_to_be_longer_than_the_longest(reached: float) -> None:
    top = top_rate(reached)
    assert top <= 0.95 * reached
    assert RELAXATIONS * relaxation_s(top, reached) <= LONGEST_S * 1.001 or top == 0.5 * reached


@pytest.mark.parametrize("client", ["python", "native"])
def test_a_short_probe_sends_what_was_due(
    client: str, any_runtime: Runtime, bench: Bench, request: pytest.FixtureRequest, folder: Path
) -> None:
    bench = request.getfixturevalue("native_client") if client == "native" else bench
    cell, system = planned(
        folder, str(any_runtime.name), {"command": "{python} items.py {port}"}, NUM_CLIENTS=1, RATE=RATE
    )
    runtime = bench.method.client_runtime if client == "native" else ORCHESTRATOR
    bench = replace(bench, method=replace(METHOD, client_runtime=runtime))
    part = length(RATE, 10 * RATE, SCAN, OBJECTIVES)
    result = measure(cell, system, 1, bench, "arm", part)
    check_ok(result)
    assert (result.turns["slices"], result.wall_ns) == (1, 1_500_000_000)
    # a Poisson process has 90 requests in 1.5 s, with a standard deviation of 9.5; six of them are allowed
    assert abs(result.requests - RATE * 1.5) < 57
    assert result.answered == result.requests == result.latency["count"]
    assert result.lag["count"] <= result.requests
