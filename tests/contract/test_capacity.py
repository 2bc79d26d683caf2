"""A probe of a search for the capacity, with real processes: what is sent at the rate, and when it ends early."""

from dataclasses import replace
from pathlib import Path

import pytest

from config.plan import Entry
from core.method import ORCHESTRATOR, POISSON, Method, Warmup
from core.objective import Load, Objective
from lab.run.capacity import SHORT, probe
from lab.run.cell_run import Bench
from lab.run.runtimes import Runtime
from tests.contract.own_services import planned
from tests.contract.serving import check_ok

METHOD = Method(warmup=Warmup(seconds=0.05), duration_s=1.0, arrivals=POISSON)
RATE = 60
OBJECTIVES = (Objective.parse("p99<1s"), Objective.parse("errors<1%"))


def clear(load: Load, objective: Objective) -> bool:
    """Whatever a short probe shows is clear."""
    assert load.sent > 0
    return load.counted(objective)[0] == 0


@pytest.mark.parametrize("client", ["python", "native"])
def test_a_clear_probe_is_short_and_sends_what_was_due(
    client: str, any_runtime: Runtime, bench: Bench, request: pytest.FixtureRequest, folder: Path
) -> None:
    bench = request.getfixturevalue("native_client") if client == "native" else bench
    cell, system = planned(
        folder, str(any_runtime.name), {"command": "{python} items.py {port}"}, NUM_CLIENTS=1, RATE=RATE
    )
    runtime = bench.method.client_runtime if client == "native" else ORCHESTRATOR
    bench = replace(bench, method=replace(METHOD, client_runtime=runtime))
    result = probe(Entry(arm="arm", cell=cell, system=system), 1, bench, OBJECTIVES, clear)
    check_ok(result)
    assert (result.turns["slices"], result.wall_ns) == (1, SHORT.length_ns)
    # a Poisson process has 90 requests in 1.5 s, with a standard deviation of 9.5; six of them are allowed
    assert abs(result.requests - RATE * 1.5) < 57
    assert result.answered == result.requests == result.latency["count"]
    assert result.lag["count"] <= result.requests
