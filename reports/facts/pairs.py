"""The two arms of every step of every setting, block by block, and of all settings together. Pure.

Arms are runtimes, or services that already run: these are compared with the first of them, as step `other`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from typing import Any

from core.messages import NOTHING, Message, message
from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.facts.cells import request_ns, runtimes, setting_key
from reports.facts.gates import gate, mixed
from reports.facts.steps import Step, steps
from reports.statistics.stats import log_ratios, mean_over_cells, totals

OVER_ALL = "all"
FAR_SLOWER = log(1.25)

Setting = tuple[str, str]  # system, parameters as text
Cells = Mapping[int, CellResult]  # by block


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A step of one setting: the cells of its two arms by block. over: the pairs it is over, where it is of several.

    sides: where each arm has a setting of its own, the denominator's and the numerator's
    ratios: by block, ln of the ratio of throughputs; totals: what each block says of that of total times
    """

    setting: Setting
    step: Step
    denominator: Cells
    numerator: Cells
    ratios: Mapping[int, float]
    totals: Mapping[int, float]
    gate: Message = NOTHING
    over: tuple["Pair", ...] = ()
    sides: tuple[Setting, ...] = ()

    @property
    def params(self) -> dict[str, Any]:
        """Return the parameters of its setting."""
        return parameters(self.setting)

    @property
    def arms(self) -> dict[str, Cells]:
        """Return the cells of each arm."""
        return {"denominator": self.denominator, "numerator": self.numerator}

    @property
    def cells(self) -> list[CellResult]:
        """Return the cells of both arms."""
        return [*self.denominator.values(), *self.numerator.values()]

    @property
    def singles(self) -> tuple["Pair", ...]:
        """Return the pairs of single settings that it is made of: itself, where it is one."""
        return self.over or (self,)

    @property
    def far_slower(self) -> dict[str, int]:
        """Return how many cells of each arm took more than a quarter more time per request than its median cell."""
        logs = {side: [*map(log, times_ns(cells).values())] for side, cells in self.arms.items()}
        return {side: sum(time - median(times) > FAR_SLOWER for time in times) for side, times in logs.items()}

    def log_ratios(self, read: Callable[[CellResult], float | None]) -> dict[int, float]:
        """Return ln(denominator / numerator) of what *read* says of cells, by block; the mean over several settings."""
        return mean_over_cells(
            log_ratios(*({block: value for block, cell in cells.items() if (value := read(cell))} for cells in arms))
            for arms in ((single.denominator, single.numerator) for single in self.singles)
        )


def parameters(setting: Setting) -> dict[str, Any]:
    """Return the parameters of a setting."""
    return dict(json.loads(setting[1] or "{}"))


def times_ns(cells: Cells) -> dict[int, float]:
    """Return the time per request by block, of the cells that are ok."""
    return request_ns(cell for cell in cells.values() if cell.status == "ok" and cell.clients)


def addresses(run: Run) -> dict[str, str]:
    """Return {arm: where it was} of services that already ran, in the plan's order; empty if there are none."""
    own = run.plan.get("own") or {}
    return {one["name"]: one["url"] for one in own.get("targets", ())}


def group_name(run: Run) -> str:
    """Return what comparisons between services that already ran have in place of a system."""
    return str(run.plan["own"]["name"])


def pairs(run: Run) -> list[Pair]:
    """Return every step that the run's arms allow, of every setting.

    Those over all settings are last, if there are several settings. A plan that names the steps that it judges has no
    mean over its settings.
    """
    again = {cell.arm: cell.runtime for cell in run.cells if cell.arm != cell.runtime}  # the second arms of A/A
    services = [*addresses(run)]
    others = [Step(name="other", denominator=services[0], numerator=name) for name in services[1:]]
    found = others + steps(runtimes(run), dict.fromkeys(again, services[0]) if services else again, run.runtimes)
    planned = {setting_key(row["system"], row["params"]): row.get("runtimes") for row in run.plan["rows"]}
    cells = _cells(run)
    made = [
        pair_of(arms.get(step.denominator, {}), arms.get(step.numerator, {}), setting=setting, step=step)
        for setting, arms in cells.items()
        for step in found
        if (names := planned.get(setting)) is None
        or {step.denominator, again.get(step.numerator, step.numerator)} <= {*names}  # native programs have no runtime
    ]
    if len(cells) > 1 and not run.plan.get("judged_steps"):
        of_steps = [[pair for pair in made if pair.step == step] for step in found]
        made += [_over_all(same) for same in of_steps if same]
    return made


def _cells(run: Run) -> dict[Setting, dict[str, dict[int, CellResult]]]:
    """Return the cells that timed clients, by setting, arm and block; settings in the plan's order."""
    group = group_name(run) if addresses(run) else ""
    found: dict[Setting, dict[str, dict[int, CellResult]]] = {
        setting_key(group or row["system"], row["params"]): {} for row in run.plan["rows"]
    }
    for cell in run.cells:
        if cell.params.get("NUM_CLIENTS") != 0:  # services without clients take up memory, not time
            arm = cell.system if group and cell.arm == NATIVE else cell.arm
            arms = found.setdefault(setting_key(group or cell.system, cell.params), {})
            arms.setdefault(arm, {})[cell.block] = cell
    return {setting: arms for setting, arms in found.items() if arms}


def pair_of(before: Cells, after: Cells, **about: Any) -> Pair:
    """Return the pair of these cells. about: its setting, step and sides."""
    times = times_ns(before), times_ns(after)
    return Pair(
        **about,
        denominator=before,
        numerator=after,
        ratios=log_ratios(*times),
        totals=totals(*times),
        gate=gate([*before.values(), *after.values()]),
    )


def _over_all(same: Sequence[Pair]) -> Pair:
    """Return the geometric mean over the settings that passed their gates."""
    passed = [pair for pair in same if not pair.gate and pair.ratios]
    return Pair(
        setting=(OVER_ALL, ""),
        step=same[0].step,
        denominator={},
        numerator={},
        ratios=mean_over_cells(pair.ratios for pair in passed),
        totals=mean_over_cells(pair.totals for pair in passed),
        gate=mixed([cell for pair in passed for cell in pair.cells])
        if passed
        else message("no setting passed its gates"),
        over=tuple(passed or same),
    )
