"""Searches for the capacity of services whose answers are drawn by a probability."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.capacity_search import wanted
from benchmarks.known_capacities import late_mmc
from core.histogram import Histogram
from core.objective import Objective, Wanted
from record.saved_plan import Machine
from record.saved_run import CellResult, Run
from tests.reports.sample import client_of, histogram_of, measured, run_of, set_plan

P99 = Objective.parse("p99<60ms")
SECONDS = 5.0
Late = Callable[[str, float], float]  # of an arm at a rate: the share of requests that miss


def searched(
    late: Late,
    closed: float | Mapping[str, float] = 700,
    seed: int = 1,
    arms: tuple[str, ...] = ("3.14", "3.14t"),
    change: Callable[[CellResult], CellResult] = lambda cell: cell,
    *,
    aa: bool = False,
) -> Run:
    """Return a run after a whole search; each probe draws its late requests."""
    generator, run = np.random.default_rng(seed), unsearched(P99, arms)
    set_plan(run, aa=aa)
    while asked := wanted(run):
        assert len(run.cells) < 21 * (len(arms) + 1)
        for one in asked:
            reached = closed[one.arm.removesuffix(" again")] if isinstance(closed, Mapping) else closed
            run.cells.append(change(answered(one, late(one.arm, one.rate), reached, generator)))
    return run


def answered(one: Wanted, late: float, closed: float, generator: np.random.Generator) -> CellResult:
    """Return the cell of a probe, of whose requests the share *late* misses; of a closed loop, none does."""
    sent = round((one.rate or closed) * SECONDS)
    misses = int(generator.binomial(sent, late)) if one.rate else 0
    latency = histogram_of([100_000_000] * misses + [5_000_000] * (sent - misses))
    return replace(
        probe_cell(one, latency, sent, SECONDS),
        clients=[client_of(requests=sent, answered=sent)],
    )


def unsearched(objective: Objective, arms: Sequence[str]) -> Run:
    """Return a run before the first probe of a search."""
    rows = [{"system": "4", "params": {"RATE": 0, "NUM_CLIENTS": 1}}]
    run = replace(run_of([], name="own", blocks=1, runtimes=arms), machine=Machine())
    return set_plan(run, objectives=[vars(objective)], rows=rows)


def probe_cell(one: Wanted, latency: Histogram, sent: int, length_s: float) -> CellResult:
    """Return the cell of a probe of *length_s* whose *sent* requests were all answered."""
    made = measured(one.cell, one.block, [1])
    wall_ns = round(length_s * 1e9)
    return replace(
        made, arm=one.arm, wall_ns=wall_ns, requests=sent, answered=sent, latency=latency, probe=one.purpose,
        services=[],
    )  # fmt: skip


def steep(arm: str, rate: float) -> float:
    """Return the share of late requests: 1 % at 500 requests/s, and at 700 under 3.14t."""
    return min(1.0, 0.01 * (rate / (700 if arm == "3.14t" else 500)) ** 20)


def late_of_queue(rate: float, servers: int) -> float:
    """Return the share of requests that an M/M/c queue with a mean service time of 10 ms answers later than P99."""
    return late_mmc(rate, servers, 0.01, 0.06)
