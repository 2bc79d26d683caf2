"""The capacity of each arm (a runtime): the highest request rate at which its service meets the objectives.

A search measures one probe of each arm in turn. With several topologies, the first probes select the best topology of
each arm. Later probes measure only that topology, and only they determine the capacity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from core.cell import Cell
from core.histogram import Histogram
from core.messages import NOTHING, Message, message
from core.objective import CLOSED, CONFIRM, PICK, SCAN, SEARCH, Load, Objective, Wanted, load_of
from core.result import CellResult, Run
from core.saved import SavedPlan
from reports.facts.cells import grouped, number, runtimes, setting_key
from reports.facts.steps import steps
from reports.statistics.capacity import (
    FIRST,
    LOWEST,
    MOST_PROBES,
    STEP,
    WIDTH,
    Ask,
    Crossing,
    Probe,
    crossing,
    is_confirmed,
    next_probe,
)
from reports.statistics.verdict import Word

RATE = "RATE"
DRAWS = 2000
MOST_FAILED = 3  # probes that failed to start or lost a process, until the search of an arm ends
MOST_PICKING, ROUGH = 5, 0.25  # most probes of a candidate topology, and the width of its interval that is enough
PRUNED = 0.7  # a topology is dropped if its closed loop has less than this share of the best throughput
LAG_SHARE = 0.25  # a load generator that is later than this share of the limit may itself cause the misses


@dataclass(frozen=True, kw_only=True)
class Probed:
    """A measured probe: a measurement at one request rate, judged by the objective that it meets worst.

    rate: requests/s. excess and allowed: see Probe in reports.statistics.capacity
    is_limited: whether the probe fails while the load generator itself was late. It then says nothing of the service
    """

    cell: CellResult
    rate: float
    load: Load
    excess: float
    allowed: float
    is_limited: bool

    @property
    def probe(self) -> Probe:
        """Return the probe in the form that reports.statistics.capacity takes."""
        return Probe(
            rate=self.rate,
            offered=max(1, self.load.sent + self.load.unsent) / self.cell.wall_ns * 1e9,
            excess=self.excess,
            allowed=self.allowed,
            is_long=self.cell.probe in (SEARCH, CONFIRM),
            confirms=self.cell.probe == CONFIRM,
        )


@dataclass(frozen=True)
class Capacity:
    """The probes of one arm at one setting, and the capacity that they show so far.

    params: the parameters without RATE. objectives: a rate must meet all of them
    is_candidate: whether this is one of several topologies, from which the search selects
    start_rate: the first rate in requests/s. With 0, the throughput of the closed loop determines it
    """

    system: str
    params: Mapping[str, Any]
    arm: str
    cells: Sequence[CellResult]
    objectives: Sequence[Objective]
    is_candidate: bool = False
    start_rate: float = 0.0

    @property
    def closed_rate(self) -> float:
        """Return how many correct answers per second the closed loop got; 0 if it was not measured.

        If no answer was correct, all answers are counted.
        """
        closed = next((cell for cell in self.cells if not cell.params[RATE] and cell.clients), None)
        if not closed or not closed.wall_ns:
            return 0.0
        load = load_of(0.0, closed.clients, Histogram())
        return (load.sent - load.failures or closed.answered) / closed.wall_ns * 1e9

    @cached_property
    def probes(self) -> tuple[Probed, ...]:
        """Return the measurements at fixed request rates (probes), in the order in which they were made."""
        return tuple(_probed(cell, self.objectives) for cell in self.cells if cell.params[RATE] and cell.clients)

    @cached_property
    def wanted(self) -> Ask | None:
        """Return the request rate to measure next, or None if the search has ended."""
        if self.reason:
            return None
        if not self.closed_rate:
            return Ask(rate=0.0)
        if self.is_candidate and (len(self.probes) >= MOST_PICKING or (self.crossing and self.crossing.width < ROUGH)):
            return None
        known = [one.probe for one in self.probes if not one.is_limited]
        ask = next_probe(known, self.start_rate / FIRST or self.closed_rate)
        limit = min((one.rate for one in self.probes if one.is_limited), default=inf)
        if len(self.probes) >= MOST_PROBES or not ask or ask.rate < limit:
            return ask if len(self.probes) < MOST_PROBES else None
        below = max((one.rate for one in known if one.passes and one.rate < limit), default=0.0)
        lower = (below * limit) ** 0.5 if below else limit / STEP**2
        is_near = lower < below * (1 + WIDTH / 2) or lower < LOWEST * self.closed_rate
        return None if is_near else Ask(rate=lower)

    @property
    def reason(self) -> Message:
        """Return why the capacity cannot be searched. Return NOTHING if it can."""
        failed = [cell for cell in self.cells if not cell.clients]
        if len(failed) >= MOST_FAILED:
            return failed[-1].reason or message("the measured processes failed")
        if any(not cell.params[RATE] and cell.clients and not cell.answered for cell in self.cells):
            return message("the closed-loop measurement got no answers")
        return NOTHING

    @cached_property
    def crossing(self) -> Crossing | None:
        """Return the capacity with its interval, or None if it was not found."""
        return crossing([one.probe for one in self.probes if not one.is_limited])

    @property
    def rough_rate(self) -> float:
        """Return the best estimate of the capacity so far, in requests/s."""
        return self.crossing.rate if self.crossing else self.highest_pass

    @property
    def is_confirmed(self) -> bool:
        """Return whether fresh probes below and above the capacity confirm it."""
        return is_confirmed([one.probe for one in self.probes if not one.is_limited])

    @property
    def highest_pass(self) -> float:
        """Return the highest rate that met the objectives, in requests/s, or 0 if none did."""
        return max((one.rate for one in self.probes if one.probe.passes), default=0.0)

    @property
    def is_generators(self) -> bool:
        """Return whether the load generator, not the service, was the limit. The capacity may exceed highest_pass."""
        return self.crossing is None and any(one.is_limited for one in self.probes)

    @property
    def nearest(self) -> Probed | None:
        """Return the measurement at the highest rate that met the objectives, up to the capacity's upper bound."""
        most = self.crossing.high if self.crossing else float("inf")
        passing = [one for one in self.probes if one.probe.passes and one.rate <= most]
        return max(passing, key=lambda one: one.rate, default=None)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The ratio of the capacity of *above* to that of *below*, its 95 % interval, and the verdict."""

    below: Capacity
    above: Capacity
    causes: tuple[str, ...]
    ratio: float
    low: float
    high: float
    verdict: Word


def capacities(run: Run) -> list[Capacity]:
    """Return the capacity of each runtime at each setting, or of only its best topology if the search selects one."""
    found = candidates(run)
    if not SavedPlan.from_json(run.plan).picks:
        return found
    best = [_best(some) for some in grouped(found, lambda one: one.arm).values() if not any(one.wanted for one in some)]
    return [_judged(one, run) for one in best]


def candidates(run: Run) -> list[Capacity]:
    """Return the capacity of each runtime at each setting, in the plan's order. Each topology is a setting.

    If the search selects the best topology, topologies that are clearly worse than the best are left out.
    """
    plan = SavedPlan.from_json(run.plan)
    cells = grouped((cell for cell in run.cells if not plan.picks or cell.probe in (CLOSED, PICK)), _place)
    found = []
    for row in plan.rows:
        params = {name: value for name, value in row.params.items() if name != RATE}
        planned = [name for name in runtimes(run) if row.runtimes is None or name in row.runtimes]
        own = setting_key(row.system, params)
        again = [f"{planned[-1]} again"] if plan.aa and planned else []
        for arm in (*planned, *again):
            mine = cells.get((own, arm), [])
            found.append(Capacity(row.system, params, arm, mine, plan.objectives, is_candidate=plan.picks))
    return [one for one in found if not _is_hopeless(one, found)] if plan.picks else found


def wanted(run: Run) -> list[Wanted]:
    """Return the next probe for each runtime whose search for the capacity has not ended."""
    plan = SavedPlan.from_json(run.plan)
    picking = [one for one in candidates(run) if one.wanted]
    asked = [one for one in capacities(run) if one.wanted] if plan.picks else []
    return [_wanted(one, one.wanted, run) for one in (*picking, *asked) if one.wanted]


def _wanted(one: Capacity, ask: Ask, run: Run) -> Wanted:
    values = {**one.params, RATE: 0}
    runtime = one.arm if one.arm in run.runtimes else runtimes(run)[-1]
    cell = Cell.build(system=one.system, runtime=runtime, reads=tuple(values), values=values)
    purpose = PICK if one.is_candidate else CONFIRM if ask.confirms else SEARCH if ask.is_long else SCAN
    return Wanted(arm=one.arm, cell=cell, rate=ask.rate, purpose=purpose if ask.rate else CLOSED)


def _best(some: Sequence[Capacity]) -> Capacity:
    return max(some, key=lambda one: one.rough_rate)


def _is_hopeless(one: Capacity, found: Sequence[Capacity]) -> bool:
    """Return whether the capacity search can drop *one*, because it is clearly worse than another candidate.

    Candidates are topologies (numbers of processes and threads) of the same runtime.
    """
    others = [other for other in found if other.arm == one.arm and other is not one]
    if not others or not all(other.closed_rate or other.reason for other in (*others, one)):
        return False
    most_closed = max(other.closed_rate for other in others)
    lowest_fail = min((probed.rate for probed in one.probes if not probed.probe.passes), default=inf)
    return one.closed_rate < PRUNED * most_closed or lowest_fail < max(other.highest_pass for other in others)


def _judged(best: Capacity, run: Run) -> Capacity:
    """Return the capacity of a runtime's best topology, without the measurements at request rates that selected it.

    A topology may have been selected only because it was lucky in those measurements.
    """
    own = (setting_key(best.system, best.params), best.arm)
    closed = [cell for cell in best.cells if cell.probe == CLOSED]
    later = [cell for cell in run.cells if cell.probe in (SCAN, SEARCH, CONFIRM) and _place(cell) == own]
    start_rate = best.rough_rate
    return replace(best, cells=[*closed, *later], is_candidate=False, start_rate=start_rate)


def _place(cell: CellResult) -> tuple[Any, str]:
    return setting_key(cell.system, {name: value for name, value in cell.params.items() if name != RATE}), cell.arm


def ratios(run: Run, found: Sequence[Capacity]) -> list[Ratio]:
    """Return the capacity ratio of each pair of compared runtimes, separately for each setting.

    The intervals behind the verdicts are corrected for the number of ratios (Bonferroni).
    If the search selected the best topology of each arm, arms with different topologies are compared.
    """
    pairs, plan = [], SavedPlan.from_json(run.plan)
    for group in grouped(found, lambda one: plan.picks or setting_key(one.system, one.params)).values():
        by_arm = {one.arm: one for one in group if one.crossing}
        again = {arm: arm.removesuffix(" again") for arm in by_arm if arm not in run.runtimes}
        found_steps = steps([name for name in runtimes(run) if name in by_arm], again, run.runtimes)
        pairs += [(by_arm[step.denominator], by_arm[step.numerator], step.causes) for step in found_steps]
    return [_ratio(below, above, causes, plan.margin, len(pairs)) for below, above, causes in pairs]


def _ratio(below: Capacity, above: Capacity, causes: tuple[str, ...], margin: float, family: int) -> Ratio:
    generator = np.random.default_rng(0)
    known = [one.crossing for one in (below, above) if one.crossing]
    draws = [generator.choice(one.draws, DRAWS) for one in known]
    drawn = draws[1] / draws[0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    sure_low, sure_high = np.quantile(drawn, [0.025 / family, 1 - 0.025 / family])
    verdict: Word = "inconclusive"
    if 1 / (1 + margin) <= sure_low and sure_high <= 1 + margin:
        verdict = "equivalent"
    elif sure_low > 1 or sure_high < 1:
        verdict = "faster" if sure_low > 1 else "slower"
    ratio = known[1].rate / known[0].rate
    return Ratio(
        below=below, above=above, causes=causes, ratio=ratio, low=float(low), high=float(high), verdict=verdict
    )


def _probed(cell: CellResult, objectives: Sequence[Objective]) -> Probed:
    rate = float(number(cell, RATE) * number(cell, "NUM_CLIENTS"))
    latency = Histogram.from_json(cell.latency) if cell.latency.get("count") else Histogram()
    load = load_of(rate, cell.clients, latency)
    worst = max(objectives, key=load.excess)
    excess = load.excess(worst)
    lag_ns = cell.lag.get("p99_ns", cell.lag.get("max_ns", 0))
    return Probed(
        cell=cell,
        rate=rate,
        load=load,
        excess=excess,
        allowed=max(1, load.counted(worst)[1]) * worst.share,
        is_limited=excess > 1 and bool(worst.latency_ns) and lag_ns > LAG_SHARE * worst.latency_ns,
    )
