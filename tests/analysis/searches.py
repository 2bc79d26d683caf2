"""Searches for the capacity of services whose answers are drawn by a probability."""

from collections.abc import Callable, Mapping

import numpy as np

from analysis.capacity import wanted
from core.histogram import Histogram
from core.objective import Objective, Wanted
from record.run import CellResult, Run
from tests.reports.sample import facts

P99 = Objective.parse("p99<60ms")
SECONDS = 5.0
Late = Callable[[str, float], float]  # of an arm at a rate: the share of requests that miss


def searched(
    late: Late,
    closed: float | Mapping[str, float],
    seed: int,
    arms: tuple[str, ...] = ("3.14", "3.14t"),
    lag_ns: int = 0,
    change: Callable[[CellResult], CellResult] = lambda cell: cell,
    *,
    aa: bool = False,
) -> Run:
    """Return a run after a whole search; each probe draws its late requests."""
    generator = np.random.default_rng(seed)
    rows = [{"system": "4", "params": {"RATE": 0, "NUM_CLIENTS": 1}}]
    run = Run(
        run_id="searched", started_at="2026-11-25T00:00:00+00:00", seed=seed, command=[],
        plan={"name": "own", "blocks": 1, "runtimes": list(arms), "objectives": [vars(P99)], "rows": rows, "aa": aa},
        machine={}, runtimes={name: facts(name) for name in arms},
    )  # fmt: skip
    while asked := wanted(run):
        assert len(run.cells) < 21 * (len(arms) + 1)
        for one in asked:
            reached = closed[one.arm.removesuffix(" again")] if isinstance(closed, Mapping) else closed
            run.cells.append(change(answered(one, late, reached, generator, lag_ns)))
    return run


def answered(one: Wanted, late: Late, closed: float, generator: np.random.Generator, lag_ns: int) -> CellResult:
    """Return the cell of a probe."""
    cell = one.cell
    sent = round((one.rate or closed) * SECONDS)
    misses = int(generator.binomial(sent, late(one.arm, one.rate))) if one.rate else 0
    latency, lag = Histogram(), Histogram()
    for number in range(sent):
        latency.record(100_000_000 if number < misses else 5_000_000)
    if one.rate:
        lag.record(lag_ns)
    return CellResult(
        cell_id=cell.cell_id, system=cell.system, runtime=cell.runtime, arm=one.arm, block=one.block,
        params=cell.params, status="ok", wall_ns=round(SECONDS * 1e9), requests=sent, answered=sent,
        latency=latency.to_json(),
        lag=lag.to_json() if lag_ns else {}, probe=one.purpose,
        clients=[{"client_id": 0, "completion_ns": 1, "requests": sent, "answered": sent, "wrong": 0, "errors": {}}],
    )  # fmt: skip


def steep(arm: str, rate: float) -> float:
    """Return the share of late requests: 1 % at 500 requests/s, and at 700 under 3.14t."""
    return min(1.0, 0.01 * (rate / (700 if arm == "3.14t" else 500)) ** 20)
