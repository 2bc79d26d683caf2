"""The capacity of each arm (a runtime): the highest request rate at which its service meets the
objectives.

A search measures one probe of each arm in turn. With several settings, the first probes choose
the best setting of each arm (analysis/choice.py): in each round, each candidate gets
PROBES_OF_ROUND probes, and the half with the lower capacities is dropped. Later probes measure only
the chosen setting, and only they determine its capacity.

The measurements of a run are its only state: after each round of probes, lab/run/experiment.py
calls wanted() with the run so far, and an interrupted search goes on from a saved run. Purposes
(CLOSED, PICK, SCAN, SEARCH) are those of core/objective.py. RATE is the requests/s of one client;
all other rates here are of all clients together. analysis/capacity_probes.py judges the probes, and
analysis/capacity_model.py has the estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log
from operator import attrgetter

from analysis.capacity_model import (
    LOWEST,
    STEP,
    WIDTH,
    Crossing,
    Loop,
    crossing,
    next_probe,
)
from analysis.capacity_probes import RATE, Probed, failures, faulty_cells, probed
from analysis.cell_index import grouped, reasons, runtimes
from analysis.choice import Choice, halved
from analysis.decisions import is_hopeless
from analysis.formats import whole
from core.cell import Cell, Value
from core.messages import NOTHING, Message, message
from core.objective import CLOSED, PICK, SCAN, Objective, Wanted, top_rate
from record.comparison import Key, Setting, setting_key
from record.saved_run import CellResult, Run

AGAIN = " again"  # the end of the name of the second arm of A/A
MOST_PROBES = 16  # at a rate, of an arm at one setting; those that choose it are counted apart
MOST_FAILED = 3  # measurements that failed or are invalid, until the search of an arm ends
PROBES_OF_ROUND = 3  # of a candidate, in each round of the choice
MOST_ERROR = 0.1  # limit of the relative error that is assumed of the closed loop's throughput


@dataclass(frozen=True, kw_only=True)
class Capacity(Setting):
    """The probes of one arm at one setting (without RATE), and the capacity that they show so far.

    objectives: a rate must meet all of them
    cells: its measurements in the order in which they ran, the faulty ones included
    rounds: for one of several settings, the rounds of the choice that it takes part in; 0 after
        the choice
    start_rate: the first rate in requests/s. With 0, the throughput of the closed loop determines
        it
    """

    arm: str
    cells: Sequence[CellResult]
    objectives: Sequence[Objective]
    rounds: int = 0
    start_rate: float = 0.0

    @cached_property
    def faulty(self) -> list[CellResult]:
        """Return the measurements that do not count, because they are faulty (see faulty_cells)."""
        return faulty_cells(self.cells, self.objectives)

    @property
    def fault(self) -> Message:
        """Return how many measurements are faulty, and why the first of them is; empty
        if none is.
        """
        if not self.faulty:
            return NOTHING
        return message(
            "{count} of {all} measurements of {arm} failed or are invalid: {reason}",
            count=len(self.faulty),
            all=len(self.cells),
            arm=self.arm,
            reason=reasons(self.faulty)[0],
        )

    @property
    def contradiction(self) -> Message:
        """Return which probe contradicts the capacity; empty if none does."""
        probe = self.crossing.contradicting if self.crossing else None
        if not probe:
            return NOTHING
        return message(
            "a probe of {arm} at {rate} requests/s had {excess:.1f} times the number of misses "
            "that the objectives allow, which contradicts the other probes",
            arm=self.arm, rate=whole(probe.rate), excess=probe.excess,
        )  # fmt: skip

    @cached_property
    def sound(self) -> list[CellResult]:
        """Return the measurements without those that are invalid or failed."""
        return [cell for cell in self.cells if cell not in self.faulty]

    @property
    def loop(self) -> Loop:
        """Return how many correct answers per second the closed loop got; 0 if it was not measured.

        If no answer was correct, all answers are counted.
        """
        for cell in self.sound:
            if not cell.params[RATE] and cell.wall_ns and cell.answered:
                answers = cell.requests - failures(cell) or cell.answered
                return Loop(rate=answers / cell.wall_ns * 1e9, error=min(MOST_ERROR, answers**-0.5))
        return Loop(rate=0.0)

    @cached_property
    def probes(self) -> tuple[Probed, ...]:
        """Return the measurements at fixed request rates (probes), in the order in which they were
        made.
        """
        return tuple(probed(cell, self.objectives) for cell in self.sound if cell.params[RATE])

    @property
    def known(self) -> list[Probed]:
        """Return the probes whose load generator was not late, so that they show what the service
        can do.

        Probes that met the objectives although it was late are left out, too: without them, the
        capacity is not biased.
        """
        return [one for one in self.probes if not one.is_limited]

    @cached_property
    def wanted(self) -> tuple[float, str] | None:
        """Return the request rate to measure next and the purpose (see Wanted), or None if the
        search has ended.
        """
        if self.reason or len(self.probes) >= MOST_PROBES:
            return None
        loop = self.loop
        if not loop.rate:
            return 0.0, CLOSED
        if self.rounds and self.crossing and len(self.probes) >= PROBES_OF_ROUND * self.rounds:
            return None
        # a probe that missed while the load generator was late shows nothing of the service, but no
        # higher rate is worth a probe
        served = [one for one in self.probes if one.passes or not one.is_limited]
        ask = next_probe(served, loop)
        if self.start_rate and not self.probes:
            ask = min(self.start_rate, top_rate(loop.rate)), SCAN
        limit = min((one.rate for one in self.probes if one not in served), default=inf)
        if not ask or ask[0] < limit:
            return ask
        # look for a rate between the highest that passed and the lowest with a late generator
        below = max((one.rate for one in served if one.passes and one.rate < limit), default=0.0)
        lower = (below * limit) ** 0.5 if below else limit / STEP**2
        is_near = lower < below * (1 + WIDTH / 2) or lower < LOWEST * loop.rate
        return None if is_near else (lower, SCAN)

    @property
    def reason(self) -> Message:
        """Return why the capacity cannot be searched. Return NOTHING if it can."""
        if len(self.faulty) >= MOST_FAILED:
            return reasons(self.faulty)[-1]
        if is_hopeless(self.cells):
            return message("no answer was right ({reason})", reason=reasons(self.cells)[-1])
        if any(not cell.params[RATE] and cell.clients and not cell.answered for cell in self.cells):
            return message("the closed-loop measurement got no answers")
        return NOTHING

    @cached_property
    def crossing(self) -> Crossing | None:
        """Return the capacity with its interval, or None if it was not found."""
        return crossing(self.known, self.loop) if self.loop.rate else None

    @property
    def rough_rate(self) -> float:
        """Return the best estimate of the capacity so far, in requests/s."""
        return self.crossing.rate if self.crossing else self.highest_pass

    @property
    def highest_pass(self) -> float:
        """Return the highest rate that met the objectives, in requests/s, or 0 if none did."""
        return max((one.rate for one in self.probes if one.passes), default=0.0)

    @property
    def is_generators(self) -> bool:
        """Return whether the load generator, not the service, was the limit. The capacity may
        exceed highest_pass.
        """
        return self.crossing is None and any(one.is_limited for one in self.probes)

    @property
    def nearest(self) -> Probed | None:
        """Return the probe nearest in rate to the capacity, of those that met the objectives.

        Without a capacity, return the probe with the highest of these rates. Above the capacity,
        queues grow for as long as the probe lasts, so its latencies are no figures of the service.
        """
        met = [one for one in self.probes if one.passes]
        if not self.crossing:
            return max(met, key=attrgetter("rate"), default=None)
        rate = self.crossing.rate
        return min(met, key=lambda one: abs(log(one.rate / rate)), default=None)


def capacities(run: Run) -> list[Capacity]:
    """Return the capacity of each runtime at each setting, or of only its best setting if the
    search chooses one.
    """
    if not run.plan.picks:
        return _planned(run, run.cells)
    return [_judged(choice.best, run) for choice in choices_of_arms(run).values() if choice.best]


def choices_of_arms(run: Run) -> dict[str, Choice[Capacity]]:
    """Return the choice of the best setting of each arm, from the probes whose purpose is PICK."""
    candidates = _planned(run, [cell for cell in run.cells if cell.probe == PICK])
    return {
        arm: halved(some, _cost) for arm, some in grouped(candidates, attrgetter("arm")).items()
    }


def _cost(one: Capacity, round_: int) -> float | None:
    """Return the negative capacity that a candidate's probes showed after a round, or None if the
    round goes on.
    """
    # later probes must not change an earlier round, so the first cells that end the round count
    for count in range(min(len(one.cells), PROBES_OF_ROUND * round_), len(one.cells) + 1):
        after = replace(one, cells=one.cells[:count], rounds=round_)
        if not after.wanted:
            return -after.rough_rate
    return None


def _planned(run: Run, cells: Sequence[CellResult]) -> list[Capacity]:
    """Return the capacity that *cells* show for each runtime at each setting, in the
    plan's order.
    """
    plan, found = run.plan, list[Capacity]()
    by_place = grouped(cells, _place)
    for row in plan.rows:
        params = _without_rate(row.params)
        planned = [name for name in runtimes(run) if row.runtimes is None or name in row.runtimes]
        again = [planned[-1] + AGAIN] if plan.aa and planned else []
        for arm in (*planned, *again):
            mine = by_place.get((setting_key(row.system, params), arm), [])
            one = Capacity(
                system=row.system, params=params, arm=arm, cells=mine, objectives=plan.objectives
            )
            found.append(one)
    return found


def wanted(run: Run) -> list[Wanted]:
    """Return the next probe for each arm whose search has not ended; [] when all have ended."""
    choosing = choices_of_arms(run).values() if run.plan.picks else ()
    candidates = [
        replace(one, rounds=choice.rounds + 1)
        for choice in choosing
        if not choice.best
        for one in choice.left
    ]
    return [_wanted(one, *one.wanted, run) for one in (*candidates, *capacities(run)) if one.wanted]


def _wanted(one: Capacity, rate: float, purpose: str, run: Run) -> Wanted:
    runtime = one.arm.removesuffix(AGAIN)
    cell = Cell.build(
        system=one.system, runtime=runtime, reads=(*one.params, RATE), values=one.params
    )
    if rate:
        cell = replace(cell, rate=max(1, round(rate / cell.num_clients)))
    block = 1 + sum(_place(earlier) == (one.key, one.arm) for earlier in run.cells)
    purpose = PICK if one.rounds else purpose
    return Wanted(
        arm=one.arm, cell=cell, block=block, rate=rate, purpose=purpose, closed_rate=one.loop.rate
    )


def _judged(best: Capacity, run: Run) -> Capacity:
    """Return the capacity of a runtime's best setting, without the measurements that chose it."""
    place = best.key, best.arm
    cells = [cell for cell in run.cells if cell.probe != PICK and _place(cell) == place]
    return replace(best, cells=cells, start_rate=best.rough_rate)


def _place(cell: CellResult) -> tuple[Key, str]:
    return setting_key(cell.system, _without_rate(cell.params)), cell.arm


def _without_rate(params: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in params.items() if name != RATE}
