"""Pairs: the measurements (cells) of two runtimes or services to compare, for each setting and for
all of them.

Arms are runtimes, or services that already run. Each such service is compared with the first one,
as step `other`. If a parameter has several values in a plan, each value is compared with the first
value, under each runtime.

analysis/pair_verdicts.py judges the pairs. A step (analysis/steps.py) names the two arms of a pair.
Wherever two arms or settings are in order, the denominator's are first. A log-ratio is above 0 if
the numerator is faster.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

from analysis.cell_index import (
    LEAST_TAILS,
    grouped,
    is_long,
    is_open,
    request_ns,
    runtimes,
    tail_ns,
)
from analysis.cell_index import Cells as CellIndex
from analysis.gates import failed_gate, mixed, state_gate
from analysis.others import MOST_BUSY, load
from analysis.stats import log_ratios, mean_over_cells, totals
from analysis.steps import Step, steps
from core.messages import NOTHING, Message, message
from core.runtime import NATIVE
from core.sweeps import Sweep, sweeps, swept_names, varying_names
from record.comparison import OVER_ALL, VALUE, Key, Setting
from record.saved_run import CellResult, Run

NONE_PASSED = message("no setting passed its validity checks")

Cells = Mapping[int, CellResult]  # by block
ByBlock = dict[int, float]  # log-ratios, or times in ns


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """The measurements (cells) of two compared runtimes or services, for one setting or for several
    settings. A pair is equal only to itself, so that it can be a key.

    arms:  the cells of the denominator and of the numerator
    over:  the pairs of the single settings, if this pair covers several settings; *arms* are then
        empty
    sides: the denominator's and the numerator's setting, if the two arms have different settings
    """

    setting: Setting
    step: Step
    arms: tuple[Cells, Cells] = ({}, {})
    over: tuple["Pair", ...] = ()
    sides: tuple[Setting, ...] = ()

    @property
    def cells(self) -> list[CellResult]:
        """The measurements (cells) of both compared runtimes or services in one list, at all
        settings that this pair covers.
        """
        arms = [cells for single in self.singles for cells in single.arms]
        return [cell for cells in arms for cell in cells.values()]

    @property
    def is_at_rate(self) -> bool:
        """Whether requests came at a fixed rate (RATE) in one of the compared measurements."""
        return any(
            is_open(setting.params) for one in self.singles for setting in (one.setting, *one.sides)
        )

    @property
    def singles(self) -> tuple["Pair", ...]:
        """This comparison split by setting: one comparison (pair) for each setting
        that it covers.
        """
        return self.over or (self,)

    @cached_property
    def gate(self) -> Message:
        """The validity check that the compared measurements fail; an empty message if they pass all
        checks.
        """
        if not self.over:
            unknown = NOTHING if self.step.name == "aa" else state_gate(self.cells)
            cells = self.cells
            return failed_gate(cells) or mixed(cells) or unknown or self._too_short
        passed = [pair for pair in self.over if pair.is_comparable]
        return mixed([cell for pair in passed for cell in pair.cells]) if passed else NONE_PASSED

    @property
    def _too_short(self) -> Message:
        """That every block was timed too briefly for the longest requests; an empty message if one
        was not.
        """
        timed = [cell.turns.length_ns for cell in self.cells if cell.turns.slices]
        if not timed or max(timed) >= LEAST_TAILS * self.tail_ns:
            return NOTHING
        return message(
            "requests took up to {longest:.2g} s, so each time slice must last {least:.2g} s "
            "or more, but the longest slice lasted {timed:.2g} s: use --duration {least:.0f}",
            longest=self.tail_ns / 1e9,
            least=LEAST_TAILS * self.tail_ns / 1e9,
            timed=max(timed) / 1e9,
        )

    @property
    def short_blocks(self) -> int:
        """The number of blocks that do not count, because of slices that were too short in one of
        the arms.
        """
        measured = set.intersection(*map(set, self.arms))
        counted = set.intersection(*map(set, map(self._timed, self.arms)))
        return len(measured) - len(counted)

    @cached_property
    def tail_ns(self) -> int:
        """The length of the longest requests that matter, of both runtimes or services in all
        blocks; 0 at a rate.
        """
        return tail_ns(self.cells, self.setting.params)

    @property
    def is_comparable(self) -> bool:
        """Whether all validity checks passed, and at least one block measured both runtimes or
        services.
        """
        return bool(not self.gate and self.ratios)

    @cached_property
    def ratios(self) -> ByBlock:
        """The log-ratio of throughput (numerator / denominator), by block."""
        return self._mean(log_ratios, times_ns)

    @cached_property
    def undisturbed(self) -> ByBlock:
        """The log-ratio of throughput, by block, as far as the CPU use of other processes can be
        removed from it.

        Blocks in which others used more than MOST_BUSY of the cores are left out. In all other
        blocks, each arm's time is multiplied by the share of the cores that others left to it.
        """
        return self._mean(log_ratios, free_times_ns)

    @cached_property
    def totals(self) -> ByBlock:
        """The contribution of each block to the log-ratio of total times."""
        return self._mean(totals, times_ns)

    def log_ratios(self, read: Callable[[CellResult], float | None]) -> ByBlock:
        """Return ln(denominator's value / numerator's value) by block. *read* returns the value of
        a cell.
        """
        return self._mean(
            log_ratios,
            lambda cells: {block: value for block, cell in cells.items() if (value := read(cell))},
        )

    def _mean(self, of: Callable[..., ByBlock], known: Callable[[Cells], ByBlock]) -> ByBlock:
        """Compare both runtimes or services at each setting, and return the mean over the settings,
        by block.

        of:    computes the results of one setting, by block, from the known values of both
        known: returns the value of each measurement by block, for those with a known value
        """
        # a gate leaves a setting out of a mean, but a single setting keeps its own ratios
        passed = [single for single in self.singles if not (self.over and single.gate)]
        return mean_over_cells(
            of(*map(known, map(single._timed, single.arms))) for single in passed
        )

    def _timed(self, cells: Cells) -> Cells:
        """Return the cells with long enough slices."""
        return {block: cell for block, cell in cells.items() if is_long(cell, self.tail_ns)}


class Interaction(Pair):
    """How much a step between two runtimes changes with the value of a swept parameter, as a ratio
    of two ratios.

    over: the comparisons of the last value with the first, under the denominator's and under the
        numerator's runtime
    """

    def _mean(self, of: Callable[..., ByBlock], known: Callable[[Cells], ByBlock]) -> ByBlock:
        # the change of the step: its log-ratio at the last value minus that at the first
        below, above = (single._mean(of, known) for single in self.over)
        return {block: above[block] - ratio for block, ratio in below.items() if block in above}

    @cached_property
    def gate(self) -> Message:
        """The validity check that one of the two comparisons fails; an empty message if both pass
        all checks.
        """
        return next((single.gate for single in self.over if single.gate), NOTHING)


def times_ns(cells: Cells) -> ByBlock:
    """Return the time per request in ns of each cell that is ok, by block."""
    return request_ns(cell for cell in cells.values() if cell.status == "ok" and cell.clients)


def free_times_ns(cells: Cells) -> ByBlock:
    """Return the time per request in ns as in Pair.undisturbed, by block."""
    shares = {block: load(cell) for block, cell in cells.items()}
    return {
        block: ns * (1 - shares[block])
        for block, ns in times_ns(cells).items()
        if shares[block] <= MOST_BUSY
    }


def addresses(run: Run) -> dict[str, str]:
    """Return {arm: URL} of the services that gilscope did not start, in the plan's order; empty if
    there are none.
    """
    service = run.plan.user_service
    return {target.name: str(target.url) for target in service.targets} if service else {}


def pairs(run: Run) -> list[Pair]:
    """Return each comparison (pair) of two runtimes or services at one setting, if the plan
    measures both there.

    There is a pair for each setting and each step, then pairs over all settings if these are more
    than the values of swept parameters, then pairs of values. A plan that names its judged steps
    has only pairs at one setting.
    """
    again = {
        cell.arm: cell.runtime for cell in run.cells if cell.arm != cell.runtime
    }  # the second arms of A/A
    services = [*addresses(run)]
    others = [Step(name="other", denominator=services[0], numerator=name) for name in services[1:]]
    found = others + steps(
        runtimes(run), dict.fromkeys(again, services[0]) if services else again, run.runtimes
    )
    index = CellIndex(run)
    cells = _cells(run, index)
    made = []
    for key, by_arm in cells.items():
        row = index.settings.get(key)
        for step in found:
            needed = {step.denominator, again.get(step.numerator, step.numerator)}
            # services that already run have no row, and native programs no runtime
            if not row or row.runtimes is None or needed <= {*row.runtimes}:
                below, above = (by_arm.get(arm, {}) for arm in step.arms)
                made.append(Pair(setting=Setting.of_key(key), step=step, arms=(below, above)))
    if run.plan.judged_steps and VALUE not in run.plan.judged_steps:
        return made
    swept, is_all = ([], False) if run.plan.view else _sweeps(cells, index)
    if len(cells) > 1 and not is_all:
        made += _over_all(made, found)
    arms = services or [name for name in runtimes(run) if name != NATIVE]
    compared = [step for step in found if step.name != "aa"]
    # the step whose change along a sweep is an interaction: first to last runtime, or the last step
    ends = next(
        (step for step in compared if step.name == "whole"), compared[-1] if compared else None
    )
    return [*made, *(pair for sweep in swept for pair in _of_sweep(sweep, cells, arms, ends))]


def _over_all(made: Sequence[Pair], found: Sequence[Step]) -> Iterator[Pair]:
    """Yield a pair over all settings for each step that *made* has pairs of."""
    for step in found:
        same = [pair for pair in made if pair.step == step]
        if same:
            over = tuple([pair for pair in same if pair.is_comparable] or same)
            yield Pair(setting=Setting(system=OVER_ALL, params={}), step=step, over=over)


def _sweeps(keys: Iterable[Key], index: CellIndex) -> tuple[list[Sweep], bool]:
    """Return the sweeps of the measured settings, and whether these settings are only the values of
    sweeps.
    """
    by_system = grouped(map(Setting.of_key, keys), attrgetter("system"))
    settings = {system: [*map(attrgetter("params"), mine)] for system, mine in by_system.items()}
    fixed = {name for row in index.settings.values() for name in row.fixed}
    found = sweeps(settings, fixed)
    is_all = len(settings) == 1 and all(
        swept_names(some, fixed) >= {*varying_names(some)} for some in settings.values()
    )
    return found, is_all


def _of_sweep(
    sweep: Sweep,
    cells: Mapping[Key, Mapping[str, Cells]],
    arms: Sequence[str],
    ends: Step | None,
) -> Iterator[Pair]:
    """Yield the pairs of a sweep: under each of *arms*, each value with the first, and how the step
    *ends* changes.
    """
    first, *others = (Setting(system=sweep.system, params=dict(params)) for params in sweep.params)
    setting = Setting(system=sweep.system, params=dict(sweep.others))
    last: dict[str, Pair] = {}
    for arm in arms:
        for other in others:
            below, above = cells[first.key].get(arm, {}), cells[other.key].get(arm, {})
            if below and above:
                step = Step(name="value", denominator=arm, numerator=arm)
                last[arm] = Pair(
                    setting=setting, step=step, arms=(below, above), sides=(first, other)
                )
                yield last[arm]
    if ends and {*ends.arms} <= {*last}:
        one, two = (last[arm] for arm in ends.arms)
        step = replace(ends, name="interaction", causes=())
        if one.sides == two.sides:
            yield Interaction(setting=setting, step=step, over=(one, two), sides=one.sides)


def _cells(run: Run, index: CellIndex) -> dict[Key, dict[str, Cells]]:
    """Return the measurements that ran client processes, by setting, runtime or service, and block.

    Settings are in the plan's order.
    """
    service = run.plan.user_service
    group = service.name if service and service.targets else ""  # replaces the name of the system
    found: dict[Key, dict[str, Cells]] = {}
    for (system, params), setting in index.settings.items():
        for arm in index.arms:
            blocks = index.blocks((system, params), arm)
            # services without clients take up memory, not time
            if blocks and setting.params.get("NUM_CLIENTS") != 0:
                name = system if group and arm == NATIVE else arm
                found.setdefault((group or system, params), {})[name] = blocks
    return found
