"""A cell of a service that has fewer threads than connections: it ends in bounded time, and the reason says why."""

from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from config.run_plan import Entry
from core.method import Method, Warmup
from core.runtime import NATIVE
from lab.places import REPOSITORY
from lab.run.cell_end import STARVED
from lab.run.cell_processes import Bench
from lab.run.measure import measure_in_slices
from tests.conftest import native_or_skip, runtime_or_skip
from tests.contract.own_services import planned

SERVICE = f"{{python}} {REPOSITORY / 'tests' / 'lab' / 'run' / 'few_threads_service.py'} {{port}} 2"
LIMIT_S = 0.75

pytestmark = pytest.mark.alone  # how long a cell takes is part of the promise


@pytest.mark.parametrize(("client", "warmup_s"), [("3.14", 0.1), (NATIVE, 0.0)], ids=["in the warm-up", "in the trial"])
def test_a_cell_with_more_connections_than_threads_ends_after_one_limit_and_says_why(
    bench: Bench, tmp_path: Path, client: str, warmup_s: float
) -> None:
    runtime_or_skip("3.14")
    if client == NATIVE:
        native_or_skip("loadgen")
    told = {"command": SERVICE, "requests": ["GET /"]}
    cell, system = planned(tmp_path, "3.14", told, NUM_CONNECTIONS_PER_CLIENT=5)
    own = {**system.child_config["own"], "answer_deadline_s": LIMIT_S}
    system = replace(system, child_config={**system.child_config, "own": own})
    entry = Entry(arm="3.14", cell=cell, system=system)
    method = Method(duration_s=0.5, warmup=Warmup(seconds=warmup_s), client_runtime=client)
    start_s = monotonic()
    (result,) = measure_in_slices([entry], 1, replace(bench, method=method, paces={}), 0)
    assert monotonic() - start_s < 3 * LIMIT_S + 5.0
    assert (result.status, result.reason.code, result.errors) == ("failed", STARVED, {"timeout": 3})
    assert result.answered > 0
    assert (
        "3 of 5 connections got no answer within 0.75 s, although others did: the service has fewer threads than "
        "connections, limits the number of connections"
    ) in str(result.reason)
    assert "Use at most 2 connections" in str(result.reason)
