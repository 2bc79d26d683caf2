"""Search for the highest request rate that meets the service level objectives, by measuring one rate after another."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from config.plan import Entry
from core.child import Slice
from core.objective import CLOSED, CONFIRM, PICK, SCAN, SEARCH, Objective, Wanted
from core.result import CellResult, Run
from lab.run.cell_run import Bench
from lab.run.experiment import RunInProgress
from lab.run.measure import measure

LEAD_NS = 500_000_000  # a probe starts with this time, in which queues build up as under a steady load
LONGEST_S = 15.0
# By purpose: the misses that a probe at the limit should have, and its shortest time in s. Fewer misses say little.
LENGTHS = {CLOSED: (0, 1.5), PICK: (8, 1.5), SCAN: (8, 1.5), SEARCH: (25, 7.0), CONFIRM: (25, 7.0)}


def search_capacity(under_way: RunInProgress, wanted_of: Callable[[Run], Sequence[Wanted]]) -> None:
    """Measure request rates until the function *wanted_of* returns no more of them.

    wanted_of: a function that returns the next rates to measure; these are measured in random order
    """
    run, plan = under_way.run, under_way.order.plan
    shuffled = random.Random(run.seed + len(run.cells))
    entries = {(entry.arm, entry.cell.cell_id): entry for entry in plan.entries()}
    while wanted := [*wanted_of(run)]:
        shuffled.shuffle(wanted)
        for one in wanted:
            entry = entries[one.arm, one.cell.cell_id]
            block = 1 + sum(cell.arm == one.arm and _is_probe_of(cell, entry) for cell in run.cells)
            if one.rate:
                entry = replace(entry, cell=replace(entry.cell, rate=max(1, round(one.rate / entry.cell.num_clients))))
            total = len(run.cells) + len(wanted)
            under_way.progress.cell_started(entry.cell, block, len(run.cells), total)
            part = length(one.rate, one.purpose, plan.objectives)
            measured = partial(_probed, entry, block, part)
            (result,) = under_way.measure([entry], measured)
            under_way.keep(replace(result, probe=one.purpose), total)
    under_way.finish()


def _is_probe_of(cell: CellResult, entry: Entry) -> bool:
    return cell.system == entry.cell.system and {**cell.params, "RATE": entry.cell.rate} == entry.cell.params


def _probed(entry: Entry, block: int, part: Slice, bench: Bench) -> list[CellResult]:
    """Measure one request rate with newly started services and clients."""
    return [measure(entry.cell, entry.system, block, bench, entry.arm, lambda run: run.take_turn(part))]


def length(rate: float, purpose: str, objectives: Sequence[Objective]) -> Slice:
    """Return a time slice that is long enough to judge whether a service meets the objectives at a request rate.

    If a service only just meets an objective, a fixed number of requests (LENGTHS) misses the objective in this time.
    """
    misses, shortest_s = LENGTHS[purpose]
    wanted_s = max(misses / (rate * objective.share) for objective in objectives) if rate else 0.0
    return Slice(lead_ns=LEAD_NS, length_ns=round(min(LONGEST_S, max(shortest_s, wanted_s)) * 1e9))
