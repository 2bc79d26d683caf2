"""The best service under each runtime at the same work, and the steps between these. Pure.

Blocks with an even number pick it, the others judge it: that one of many was lucky where it was picked counts nothing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.cell import Value
from core.result import CellResult, Run
from core.runtime import NATIVE
from core.saved import SavedPlan
from reports.facts.cells import Row, runtimes
from reports.facts.loops import is_open
from reports.facts.pairs import Pair, pair_of, times_ns
from reports.facts.steps import steps_to_the_last
from reports.statistics.stats import FEWEST_FOR_RANGE

BEST = "best"
WORK = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_THREADS_PER_CLIENT", "CALC_TARGET", "PAYLOAD_BYTES")
SHAPE = ("NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE")


@dataclass(frozen=True, kw_only=True)
class Best:
    """The row that took least time per request in the even blocks, of all that do the same *work* under its runtime.

    of: how many these are
    """

    work: Mapping[str, Value]
    row: Row
    of: int

    @property
    def judged(self) -> dict[int, CellResult]:
        """Its cells in the blocks that did not pick it."""
        return {cell.block: cell for cell in self.row.cells if cell.block % 2}


def bests(run: Run, rows: Sequence[Row]) -> list[Best]:
    """Of each work that several services do, which speak our frames, the best under each runtime.

    Empty where too few blocks judge.
    """
    if run.plan["blocks"] < 2 * FEWEST_FOR_RANGE - 1:
        return []
    framed, arms, is_own = (
        SavedPlan.from_json(run.plan).framed,
        set(runtimes(run)) - {NATIVE},
        bool(run.plan.get("own")),
    )
    by_work: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        is_timed = row.params.get("NUM_CLIENTS") and not is_open(row.params)
        if (is_own or row.system in framed) and row.runtime in arms and is_timed:
            by_work.setdefault((json.dumps(_work(row, is_own=is_own)), row.runtime), []).append(row)
    chosen = [_best(some, json.loads(work)) for (work, _), some in by_work.items() if len(some) > 1]
    return [best for best in chosen if best]


def _work(row: Row, *, is_own: bool) -> dict[str, Value]:
    """A user's service does the same in every shape of a topology."""
    names = [name for name in row.params if name not in SHAPE] if is_own else WORK
    return {name: row.params[name] for name in names if name in row.params}


def _best(rows: Sequence[Row], work: Mapping[str, Value]) -> Best | None:
    """Of rows that have figures in the even blocks, all of them ok there."""
    picking = [(row, {cell.block: cell for cell in row.cells if not cell.block % 2}) for row in rows]
    times = [
        (median(times_ns(cells).values()), place)
        for place, (_, cells) in enumerate(picking)
        if cells and len(times_ns(cells)) == len(cells)
    ]
    return Best(work=work, row=rows[min(times)[1]], of=len(rows)) if times else None


def best_pairs(run: Run, chosen: Sequence[Best]) -> list[Pair]:
    """For each work the step from each other runtime's best to that of the last runtime."""
    by_work: dict[str, dict[str, Best]] = {}
    for best in chosen:
        by_work.setdefault(json.dumps(best.work), {})[best.row.runtime] = best
    return [
        pair_of(
            same[step.denominator].judged,
            same[step.numerator].judged,
            setting=(BEST, work),
            params=same[step.numerator].work,
            step=step,
            sides=tuple((same[arm].row.system, same[arm].row.params) for arm in (step.denominator, step.numerator)),
        )
        for work, same in by_work.items()
        for step in steps_to_the_last([*same], run.runtimes)
    ]
