"""The two arms of every step of every setting, block by block, and of all settings together. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from typing import Any

from core.messages import NOTHING, Message, message
from core.result import CellResult, Run
from reports.facts.arms import addresses, arm_cells, arm_settings, arm_steps
from reports.facts.cells import request_ns, runtimes, setting_key
from reports.facts.gates import gate, mixed
from reports.facts.steps import Step, steps
from reports.statistics.stats import log_ratios, mean_over_cells, totals

OVER_ALL = "all"
FAR_SLOWER = log(1.25)

Setting = tuple[str, str]  # system, parameters as text


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A step of one setting: the cells of its two arms by block. over: the pairs it is over, where it is of several.

    sides: where each arm has a setting of its own, the denominator's and the numerator's: system and parameters
    ratios: by block, ln of the ratio of throughputs; totals: what each block says of that of total times
    """

    setting: Setting
    params: Mapping[str, Any]
    step: Step
    denominator: Mapping[int, CellResult]
    numerator: Mapping[int, CellResult]
    ratios: Mapping[int, float]
    totals: Mapping[int, float]
    gate: Message = NOTHING
    over: tuple["Pair", ...] = ()
    sides: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @property
    def cells(self) -> list[CellResult]:
        """Of both arms."""
        return [*self.denominator.values(), *self.numerator.values()]

    @property
    def singles(self) -> tuple["Pair", ...]:
        """The pairs of single settings that it is made of: itself, where it is one."""
        return self.over or (self,)

    @property
    def far_slower(self) -> dict[str, int]:
        """Of each arm, how many cells took more than a quarter more time per request than its median cell."""
        sides = {"denominator": self.denominator, "numerator": self.numerator}
        return {side: _far_slower(cells) for side, cells in sides.items()}


def _far_slower(cells: Mapping[int, CellResult]) -> int:
    times = [log(time_ns) for time_ns in times_ns(cells).values()]
    return sum(time - median(times) > FAR_SLOWER for time in times)


def times_ns(cells: Mapping[int, CellResult]) -> dict[int, float]:
    """Time per request by block, of the cells that are ok."""
    return request_ns(cell for cell in cells.values() if cell.status == "ok" and cell.clients)


def pairs(run: Run) -> list[Pair]:
    """Every step that the run's arms allow, of every setting; those over all settings last, where there are several.

    A plan that names the steps that it judges has no mean over its settings.

    Services that already run are compared with the first of them, as step `other`.
    """
    between_arms = bool(addresses(run))
    found = arm_steps(run) if between_arms else steps(runtimes(run), second_arms(run), run.runtimes)
    settings = arm_settings(run) if between_arms else _settings(run)
    planned = {setting_key(row["system"], row["params"]): row.get("runtimes") for row in run.plan["rows"]}
    made = [
        pair_of(
            _cells(run, setting, params, step.denominator),
            _cells(run, setting, params, step.numerator),
            setting=setting,
            params=params,
            step=step,
        )
        for setting, params in settings.items()
        for step in found
        if between_arms or _is_planned(run, step, planned.get(setting))
    ]
    if len(settings) > 1 and not run.plan.get("judged_steps"):
        of_steps = [[pair for pair in made if pair.step == step] for step in found]
        made += [_over_all(same) for same in of_steps if same]
    return made


def _is_planned(run: Run, step: Step, names: Sequence[str] | None) -> bool:
    """Whether a setting has cells under both runtimes of *step*: a native program has none under any Python.

    names: of the runtimes that the plan has it under; None where the plan does not say
    """
    return names is None or {step.denominator, second_arms(run).get(step.numerator, step.numerator)} <= set(names)


def _settings(run: Run) -> dict[Setting, Mapping[str, Any]]:
    """Every setting that was measured, in the plan's order, with its parameters."""
    measured = {
        setting_key(cell.system, cell.params): cell.params
        for cell in run.cells
        if cell.params.get("NUM_CLIENTS") != 0  # services without clients take up memory, not time
    }
    planned = [setting_key(row["system"], row["params"]) for row in run.plan["rows"]]
    return {key: measured[key] for key in [*planned, *measured] if key in measured}


def second_arms(run: Run) -> dict[str, str]:
    """{second name: runtime} of the arms that took part twice."""
    return {cell.arm: cell.runtime for cell in run.cells if cell.arm != cell.runtime}


def pair_of(before: Mapping[int, CellResult], after: Mapping[int, CellResult], **about: Any) -> Pair:
    """The pair of these cells, by block. about: its setting, params, step and sides."""
    sides = times_ns(before), times_ns(after)
    return Pair(
        **about,
        denominator=before,
        numerator=after,
        ratios=log_ratios(*sides),
        totals=totals(*sides),
        gate=gate([*before.values(), *after.values()]) or mixed([*before.values(), *after.values()]),
    )


def _cells(run: Run, setting: Setting, params: Mapping[str, Any], arm: str) -> dict[int, CellResult]:
    """The cells of *arm* in a setting, by block."""
    if addresses(run):
        return arm_cells(run, params, arm)
    mine = (cell for cell in run.cells if setting_key(cell.system, cell.params) == setting)
    return {cell.block: cell for cell in mine if cell.arm == arm}


def _over_all(same: Sequence[Pair]) -> Pair:
    """The geometric mean over the settings that passed their gates."""
    passed = [pair for pair in same if not pair.gate and pair.ratios]
    return Pair(
        setting=(OVER_ALL, ""),
        params={},
        step=same[0].step,
        denominator={},
        numerator={},
        ratios=mean_over_cells(pair.ratios for pair in passed),
        totals=mean_over_cells(pair.totals for pair in passed),
        gate=mixed(cell for pair in passed for cell in pair.cells)
        if passed
        else message("no setting passed its gates"),
        over=tuple(passed or same),
    )
