"""The best service of each runtime, chosen on some blocks and compared on the others."""

import json
from collections.abc import Mapping, Sequence
from math import inf
from statistics import median
from typing import NamedTuple

from core.result import CellResult, Run
from core.runtime import NATIVE
from core.saved import SavedPlan
from core.sweeps import SHAPE
from reports.facts.cells import Row, grouped, runtimes
from reports.facts.comparisons import BEST, Comparison, compared_pairs
from reports.facts.measures import is_open
from reports.facts.pairs import SIDES, Pair, pairs, times_ns
from reports.facts.steps import steps_to_the_last
from reports.statistics.significance import SHARES
from reports.statistics.stats import FEWEST_FOR_RANGE

WORK = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_THREADS_PER_CLIENT", "CALC_TARGET", "PAYLOAD_BYTES")


class Best(NamedTuple):
    """The best service of a runtime for a workload: the one with the least time per request in even-numbered blocks.

    row: the table row of the service
    of: the number of rows among which it was chosen
    """

    row: Row
    of: int

    @property
    def judged(self) -> dict[int, CellResult]:
        """The best service's measurements in odd-numbered blocks, by block; even-numbered blocks chose the service."""
        return {cell.block: cell for cell in self.row.cells if cell.block % 2}


Bests = Mapping[str, Mapping[str, Best]]  # by work (its parameters as JSON) and runtime


def bests(run: Run, rows: Sequence[Row]) -> Bests:
    """Return the best service of each runtime, for each workload that several services with the frame protocol serve.

    Empty if the plan has too few blocks to judge them.
    """
    if run.plan["blocks"] < 2 * FEWEST_FOR_RANGE - 1:
        return {}
    is_own, framed, arms = bool(run.plan.get("own")), SavedPlan.from_json(run.plan).framed, {*runtimes(run)} - {NATIVE}

    def key(row: Row) -> tuple[str, str]:
        # the parameters of SHAPE do not change the work of a user's service
        names = [name for name in row.params if name not in SHAPE] if is_own else WORK
        return json.dumps({name: row.params[name] for name in names if name in row.params}), row.runtime

    candidates = [
        row
        for row in rows
        if (is_own or row.system in framed) and row.runtime in arms
        if row.params.get("NUM_CLIENTS") and not is_open(row.params)
    ]
    found: dict[str, dict[str, Best]] = {}
    for (work, runtime), same in grouped(candidates, key).items():
        best = min(same, key=_picking_ns)
        if len(same) > 1 and _picking_ns(best) < inf:
            found.setdefault(work, {})[runtime] = Best(best, len(same))
    return found


def _picking_ns(row: Row) -> float:
    """Return the median time per request in the even blocks, in ns; infinite if any even block failed."""
    cells = {cell.block: cell for cell in row.cells if not cell.block % 2}
    times = times_ns(cells)
    return median(times.values()) if times and len(times) == len(cells) else inf


def compare_bests(run: Run, chosen: Bests) -> list[Comparison]:
    """Compare each runtime's best service with that of the runtime that is last in comparison order, for each workload.

    The p values are adjusted for these comparisons only.
    """
    made = [pair for pair in pairs(run) if pair.step.name == "aa"] if chosen else []
    for work, same in chosen.items():
        for step in steps_to_the_last([name for name in runtimes(run) if name in same], run.runtimes):
            sides = {side: same[getattr(step, side)] for side in SIDES}
            arms = {side: best.judged for side, best in sides.items()}
            keys = tuple(best.row.key for best in sides.values())
            made.append(Pair(setting=(BEST, work), step=step, arms=arms, sides=keys))
    return [one for one in compared_pairs(run, made, SHARES["best"]) if one.step == "best"]
