"""Find the best service of each runtime for one workload, and compare the best services of two runtimes. Pure.

Even-numbered blocks choose the best service and odd-numbered blocks judge it. A service that was chosen by luck
therefore gains nothing from its luck.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from core.cell import Value
from core.result import CellResult, Run
from core.runtime import NATIVE
from core.saved import SavedPlan
from reports.facts.cells import Row, runtimes, setting_key
from reports.facts.measures import is_open
from reports.facts.pairs import Pair, Setting, times_ns
from reports.facts.steps import steps_to_the_last
from reports.statistics.stats import FEWEST_FOR_RANGE

BEST = "best"
WORK = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_THREADS_PER_CLIENT", "CALC_TARGET", "PAYLOAD_BYTES")
SHAPE = ("NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE")


@dataclass(frozen=True, kw_only=True)
class Best:
    """The best service of a runtime for a workload: the one with the least time per request in even-numbered blocks.

    work: the parameters of the workload
    row: the table row of the service
    of: the number of rows among which it was chosen
    """

    work: Mapping[str, Value]
    row: Row
    of: int

    @property
    def setting(self) -> Setting:
        """The setting of the best service: its system and its parameters."""
        return setting_key(self.row.system, self.row.params)

    @property
    def judged(self) -> dict[int, CellResult]:
        """The best service's measurements in odd-numbered blocks, by block; even-numbered blocks chose the service."""
        return {cell.block: cell for cell in self.row.cells if cell.block % 2}


def bests(run: Run, rows: Sequence[Row]) -> list[Best]:
    """Return the best service of each runtime, for each workload that several services with the frame protocol serve.

    Empty if the plan has too few blocks to judge them.
    """
    if run.plan["blocks"] < 2 * FEWEST_FOR_RANGE - 1:
        return []
    is_own, framed, arms = bool(run.plan.get("own")), SavedPlan.from_json(run.plan).framed, {*runtimes(run)} - {NATIVE}
    by_work: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        is_timed = row.params.get("NUM_CLIENTS") and not is_open(row.params)
        if (is_own or row.system in framed) and row.runtime in arms and is_timed:
            # the parameters of SHAPE do not change the work of a user's service
            names = [name for name in row.params if name not in SHAPE] if is_own else WORK
            work = json.dumps({name: row.params[name] for name in names if name in row.params})
            by_work.setdefault((work, row.runtime), []).append(row)
    return [
        Best(work=json.loads(work), row=best, of=len(same))
        for (work, _), same in by_work.items()
        if len(same) > 1 and _picking_ns(best := min(same, key=_picking_ns)) < inf
    ]


def _picking_ns(row: Row) -> float:
    """Return the median time per request in the even blocks, in ns; infinite if any even block failed."""
    cells = {cell.block: cell for cell in row.cells if not cell.block % 2}
    times = times_ns(cells)
    return median(times.values()) if times and len(times) == len(cells) else inf


def best_pairs(run: Run, chosen: Sequence[Best]) -> list[Pair]:
    """For each workload, pair each runtime's best service with that of the runtime that is last in comparison order."""
    by_work: dict[str, dict[str, Best]] = {}
    for best in chosen:
        by_work.setdefault(json.dumps(best.work), {})[best.row.runtime] = best
    return [
        Pair(
            setting=(BEST, work),
            step=step,
            arms={"denominator": below.judged, "numerator": above.judged},
            sides=(below.setting, above.setting),
        )
        for work, same in by_work.items()
        for step in steps_to_the_last([name for name in runtimes(run) if name in same], run.runtimes)
        for below, above in [(same[step.denominator], same[step.numerator])]
    ]
