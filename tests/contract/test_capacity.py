"""A probe of a search for the capacity, with real processes: what is sent at the rate, and for how long."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from config.run_plan import Entry
from core.child import Slice
from core.method import ORCHESTRATOR, POISSON, Method, Warmup
from core.objective import LONGEST_S, RELAXATIONS, SCAN, Objective, relaxation_s, top_rate
from core.runtime import NATIVE
from lab.run.cell_processes import Bench
from lab.run.measure import measure_in_slices, size_probe
from lab.run.measured_runtimes import Runtime
from tests.contract.own_services import planned
from tests.contract.serving import check_ok
from tests.tables import each_row

METHOD = Method(warmup=Warmup(seconds=0.05), duration_s=1.0, arrivals=POISSON)
RATE = 60
OBJECTIVES = (Objective.parse("p50<0.1s"), Objective.parse("errors<20%"))
# The rate of a probe, the highest rate, the phase and the objectives; the seconds of the lead and of the probe.
PROBES = yaml.safe_load("""
- [400, 800, scan, [p99<50ms], 0.5, 2]  # 4 of 400 requests/s may miss: 8 need 2 s
- [5000, 9000, scan, [p99<50ms], 0.5, 1.5]
- [5000, 9000, search, [p99<50ms], 0.5, 7]
- [5000, 9000, search, [p99<50ms, p99.9<50ms], 0.5, 7]  # 25 of 5 requests/s need 5 s
- [400, 800, search, [p99.9<50ms], 0.5, 40]
- [0, 0, closed, [p99<50ms], 0.5, 20]
- [5000, 9000, scan, [p99<1s], 1, 10]
- [90, 100, scan, [p50<5ms], 4, 12]  # M/M/1 with 100 requests/s at 90 %: 4 * 100 / 10^2 s
""")


@pytest.mark.parametrize(("rate", "top", "phase", "objectives", "lead_s", "length_s"), PROBES)
def test_a_probe_is_long_enough_to_see_misses_for_its_objective_and_for_queues_that_build_up_slowly(
    rate: float, top: float, phase: str, objectives: list[str], lead_s: float, length_s: float
) -> None:
    part = size_probe(rate, top, phase, [Objective.parse(text) for text in objectives])
    assert part == Slice(lead_ns=round(lead_s * 1e9), length_ns=round(length_s * 1e9))


@each_row
def test_no_probe_is_so_near_to_saturation_that_it_would_have_to_be_longer_than_the_longest(reached: float) -> None:
    top = top_rate(reached)
    assert top <= 0.95 * reached
    assert RELAXATIONS * relaxation_s(top, reached) <= LONGEST_S * 1.001 or top == 0.5 * reached


@pytest.mark.parametrize("client", [ORCHESTRATOR, NATIVE])
def test_a_short_probe_sends_what_was_due(
    client: str, any_runtime: Runtime, native_client: Bench, folder: Path
) -> None:
    cell, system = planned(folder, str(any_runtime.name), {"command": "{python} items.py {port}"}, RATE=RATE)
    bench = replace(native_client, method=replace(METHOD, client_runtime=client))
    part = size_probe(RATE, 10 * RATE, SCAN, OBJECTIVES)
    (result,) = measure_in_slices([Entry(arm="arm", cell=cell, system=system)], 1, bench, 0, part)
    check_ok(result)
    assert (result.turns.slices, result.wall_ns) == (1, 1_500_000_000)
    # a Poisson process has 90 requests in 1.5 s, with a standard deviation of 9.5; six of them are allowed
    assert abs(result.requests - RATE * 1.5) < 57
    assert result.answered == result.requests == result.latency.count
    assert result.lag.count <= result.requests
