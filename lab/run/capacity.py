"""A search for the highest rate that meets service level objectives: probes in fresh processes, saved after each."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from config.plan import Entry
from core.child import Slice
from core.objective import Load, Objective, Wanted
from core.result import CellResult, Run
from lab.run.cell_run import Bench, CellRun
from lab.run.experiment import RunInProgress
from lab.run.measure import measure

IsClear = Callable[[Load, Objective], bool]
SHORT = Slice(lead_ns=500_000_000, length_ns=1_500_000_000)
LEAD_NS = 1_000_000_000  # the long part starts with this time, in which queues build up as under a steady load
SHORTEST_NS, LONGEST_NS = 5_000_000_000, 15_000_000_000
MISSES = 45  # misses that a probe at the limit should have, because fewer say little


class Search(Protocol):
    """The functions of reports.facts.capacity that choose the probes of a search."""

    def wanted(self, run: Run) -> Sequence[Wanted]:
        """Return the next probe of each arm whose search has not ended."""

    def is_clear(self, load: Load, objective: Objective) -> bool:
        """Return whether a short probe is enough to decide whether *objective* is met."""


def search_capacity(under_way: RunInProgress, search: Search) -> None:
    """Run the probes that *search* asks for, until it asks for none. The probes of all arms alternate at random."""
    run, plan = under_way.run, under_way.order.plan
    shuffled = random.Random(run.seed + len(run.cells))
    entries = {(entry.arm, entry.cell.cell_id): entry for entry in plan.entries()}
    while wanted := [*search.wanted(run)]:
        shuffled.shuffle(wanted)
        for one in wanted:
            entry = entries[one.arm, one.cell.cell_id]
            block = 1 + sum(cell.arm == one.arm and _is_probe_of(cell, entry) for cell in run.cells)
            if one.rate:
                entry = replace(entry, cell=replace(entry.cell, rate=max(1, round(one.rate / entry.cell.num_clients))))
            total = len(run.cells) + len(wanted)
            under_way.progress.cell_started(entry.cell, block, len(run.cells), total)
            is_clear = None if one.is_long else search.is_clear
            measured = partial(_probed, entry, block, plan.objectives, is_clear)
            (result,) = under_way.measure([entry], measured)
            under_way.keep(replace(result, probe=one.purpose), total)
    under_way.finish()


def _is_probe_of(cell: CellResult, entry: Entry) -> bool:
    return cell.system == entry.cell.system and {**cell.params, "RATE": entry.cell.rate} == entry.cell.params


def _probed(
    entry: Entry, block: int, objectives: Sequence[Objective], is_clear: IsClear | None, bench: Bench
) -> list[CellResult]:
    return [probe(entry, block, bench, objectives, is_clear)]


def probe(
    entry: Entry, block: int, bench: Bench, objectives: Sequence[Objective], is_clear: IsClear | None
) -> CellResult:
    """Measure one rate in fresh processes, and return the result.

    is_clear: whether the answer is clear; None: never
    """
    cell = entry.cell

    def take_turns(run: CellRun) -> None:
        run.take_turn(SHORT)
        if cell.rate and not (is_clear and all(is_clear(run.load(), objective) for objective in objectives)):
            run.take_turn(_long(cell.rate * cell.num_clients, objectives))

    return measure(cell, entry.system, block, bench, entry.arm, take_turns)


def _long(rate: float, objectives: Sequence[Objective]) -> Slice:
    """Return a slice of time in which a service at the limit of each objective misses it about MISSES times."""
    wanted_s = max(MISSES / (rate * objective.share) for objective in objectives)
    return Slice(lead_ns=LEAD_NS, length_ns=round(min(LONGEST_NS, max(SHORTEST_NS, wanted_s * 1e9))))
