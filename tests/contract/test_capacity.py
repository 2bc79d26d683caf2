"""A probe of a search for the capacity, with real processes: what is sent at the rate, and for how long."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.method import ORCHESTRATOR, POISSON, Method, Warmup
from core.objective import SCAN, SEARCH, Objective
from lab.run.cell_run import Bench
from lab.run.experiment import length
from lab.run.measure import measure
from lab.run.runtimes import Runtime
from tests.contract.own_services import planned
from tests.contract.serving import check_ok

METHOD = Method(warmup=Warmup(seconds=0.05), duration_s=1.0, arrivals=POISSON)
RATE = 60
OBJECTIVES = (Objective.parse("p50<1s"), Objective.parse("errors<20%"))


def test_a_probe_lasts_until_enough_misses_are_expected_at_the_limit() -> None:
    p99, p999 = Objective.parse("p99<50ms"), Objective.parse("p99.9<50ms")
    assert length(400, SCAN, [p99]).length_ns == 2_000_000_000  # 4 of 400 requests/s may miss: 8 need 2 s
    assert length(5000, SCAN, [p99]).length_ns == 1_500_000_000
    assert length(5000, SEARCH, [p99]).length_ns == 7_000_000_000
    assert length(5000, SEARCH, [p99, p999]).length_ns == 7_000_000_000  # 25 of 5 requests/s need 5 s
    assert length(400, SEARCH, [p999]).length_ns == 15_000_000_000


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
    part = length(RATE, SCAN, OBJECTIVES)
    result = measure(cell, system, 1, bench, "arm", part)
    check_ok(result)
    assert (result.turns["slices"], result.wall_ns) == (1, 1_500_000_000)
    # a Poisson process has 90 requests in 1.5 s, with a standard deviation of 9.5; six of them are allowed
    assert abs(result.requests - RATE * 1.5) < 57
    assert result.answered == result.requests == result.latency["count"]
    assert result.lag["count"] <= result.requests
