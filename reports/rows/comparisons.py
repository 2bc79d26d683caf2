"""The comparisons of a run: every step of every system and setting, and over all of them, with verdicts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import expm1
from typing import Any

from core.messages import NOTHING, Message, listed, message
from core.result import CellResult, Run
from reports.rows.arms import addresses, arm_cells, arm_settings, arm_steps
from reports.rows.gates import disturbances, gate, median_saturation, mixed, saturated
from reports.rows.steps import NAMES, Step, confounds, steps
from reports.rows.summary import request_ns, runtimes, setting_key
from reports.statistics.evidence import equivalence_margin
from reports.statistics.significance import fewest_blocks
from reports.statistics.stats import Estimate, effect, log_ratios, mean_over_cells
from reports.statistics.verdict import Verdict, judge_family

OVER_ALL = "all"

Setting = tuple[str, str]  # system, parameters as text


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One comparison as result.json keeps it. ratio above 1: the numerator is faster. system 'all': over all cells.

    noise_floor: half-width of the A/A interval of the same cell, as a share; None without an A/A arm
    confounds: what else differs between the two builds than the step's cause
    notes: what limits the figures, such as clients that were saturated
    blocks: how many blocks have both arms
    obstacle, blocks_needed: what keeps it from a verdict, and how many blocks in all would do; see Verdict
    saturation: share of the cores they could have had that the clients used, median over the cells; None if not known
    disturbed: share of the cells in which the machine was not quiet; None without cells
    settings: of one over all settings, {system, params} of those that it is over: they passed their gates, or none did
    between_services: its arms are services that already ran, not runtimes
    """

    system: str
    params: Mapping[str, Any]
    numerator: str
    denominator: str
    step: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    why: Message
    blocks: int = 0
    noise_floor: float | None = None
    confounds: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    obstacle: Message = NOTHING
    blocks_needed: int | None = None
    saturation: float | None = None
    disturbed: float | None = None
    settings: list[dict[str, Any]] = field(default_factory=list)
    between_services: bool = False

    @property
    def label(self) -> Message:
        """'lock: 3.14t+gil → 3.14t'."""
        return message(
            "{step}: {denominator} → {numerator}",
            step=NAMES[self.step], denominator=self.denominator, numerator=self.numerator,
        )  # fmt: skip

    @property
    def limits(self) -> list[Message]:
        """What limits it: what else differs between the builds, busy clients, a machine that was not quiet."""
        confound = message("confound: {confounds}", confounds=listed(self.confounds))
        return [*([confound] if self.confounds else []), *self.notes]

    def to_json(self) -> dict[str, Any]:
        """For result.json."""
        return {name: _json(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Comparison":
        """Of to_json(), and of what earlier versions kept. Raises TypeError where keys are missing."""
        known = {name: value for name, value in stored.items() if name in cls.__dataclass_fields__}
        for name in ("why", "obstacle"):
            known[name] = Message.from_json(known.get(name, ""))
        for name in ("confounds", "notes"):
            known[name] = [Message.from_json(text) for text in known.get(name, ())]
        return cls(**known)


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A step of one setting: the cells of its two arms by block, and their log-ratios. over: the pairs it is over."""

    setting: Setting
    params: Mapping[str, Any]
    step: Step
    denominator: Mapping[int, CellResult]
    numerator: Mapping[int, CellResult]
    ratios: Mapping[int, float]
    gate: Message = NOTHING
    over: tuple["_Pair", ...] = ()

    @property
    def cells(self) -> list[CellResult]:
        return [*self.denominator.values(), *self.numerator.values()]


def compare(run: Run) -> list[Comparison]:
    """Every comparison that the run's arms allow: A/A first, which no verdict of the family rests on, then the steps.

    Services that already run are compared with the first of them, as step `other`. Those over all settings come last,
    where there is more than one.
    """
    between_arms = bool(addresses(run))
    found = arm_steps(run) if between_arms else steps(runtimes(run), second_arms(run))
    settings = arm_settings(run) if between_arms else _settings(run)
    planned = {setting_key(row["system"], row["params"]): row.get("runtimes") for row in run.plan["rows"]}
    pairs = [
        _pair(run, setting, params, step)
        for setting, params in settings.items()
        for step in found
        if between_arms or _is_planned(run, step, planned.get(setting))
    ]
    if len(settings) > 1:
        of_steps = [[pair for pair in pairs if pair.step == step] for step in found]
        pairs += [_over_all(some) for some in of_steps if some]
    floors = {pair.setting: effect([*pair.ratios.values()]) for pair in pairs if pair.step.name == "aa" and pair.ratios}
    same = [pair for pair in pairs if pair.step.name == "aa"]
    family = [pair for pair in pairs if pair.step.name != "aa"]
    verdicts = _judged(same, floors, run.seed) + _judged(family, floors, run.seed)
    return [_comparison(run, pair, verdict, floors.get(pair.setting)) for pair, verdict in verdicts]


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


def _pair(run: Run, setting: Setting, params: Mapping[str, Any], step: Step) -> _Pair:
    before, after = (_cells(run, setting, params, arm) for arm in (step.denominator, step.numerator))
    return _Pair(
        setting=setting,
        params=params,
        step=step,
        denominator=before,
        numerator=after,
        ratios=log_ratios(_times_ns(before), _times_ns(after)),
        gate=gate([*before.values(), *after.values()]) or mixed([*before.values(), *after.values()]),
    )


def _cells(run: Run, setting: Setting, params: Mapping[str, Any], arm: str) -> dict[int, CellResult]:
    """The cells of *arm* in a setting, by block."""
    if addresses(run):
        return arm_cells(run, params, arm)
    mine = (cell for cell in run.cells if setting_key(cell.system, cell.params) == setting)
    return {cell.block: cell for cell in mine if cell.arm == arm}


def _times_ns(cells: Mapping[int, CellResult]) -> dict[int, float]:
    return request_ns(cell for cell in cells.values() if cell.status == "ok" and cell.clients)


def _over_all(pairs: Sequence[_Pair]) -> _Pair:
    """The geometric mean over the settings that passed their gates."""
    passed = [pair for pair in pairs if not pair.gate and pair.ratios]
    return _Pair(
        setting=(OVER_ALL, ""),
        params={},
        step=pairs[0].step,
        denominator={},
        numerator={},
        ratios=mean_over_cells(pair.ratios for pair in passed),
        gate=mixed(cell for pair in passed for cell in pair.cells)
        if passed
        else message("no setting passed its gates"),
        over=tuple(passed or pairs),
    )


def _judged(pairs: Sequence[_Pair], floors: Mapping[Setting, Estimate], seed: int) -> list[tuple[_Pair, Verdict]]:
    verdicts = judge_family(
        {number: pair.ratios for number, pair in enumerate(pairs)},
        margins={number: equivalence_margin(floors.get(pair.setting)) for number, pair in enumerate(pairs)},
        gates={number: pair.gate for number, pair in enumerate(pairs) if pair.gate},
        seed=seed,
    )
    return [(pair, verdicts[number]) for number, pair in enumerate(pairs)]


def _comparison(run: Run, pair: _Pair, verdict: Verdict, floor: Estimate | None) -> Comparison:
    bounded = floor is not None and floor.count > 2
    used = median_saturation(pair.cells, run)
    return Comparison(
        system=pair.setting[0],
        params=dict(pair.params),
        numerator=pair.step.numerator,
        denominator=pair.step.denominator,
        step=pair.step.name,
        **vars(verdict),
        blocks=len(pair.ratios),
        noise_floor=expm1(floor.half_width) if floor is not None and bounded else None,
        confounds=confounds(pair.step, run.runtimes) if pair.step.name != "aa" else [],
        notes=[*saturated(used), *disturbances(pair.cells)],
        saturation=used,
        disturbed=sum(bool(cell.disturbances) for cell in pair.cells) / len(pair.cells) if pair.cells else None,
        settings=[{"system": one.setting[0], "params": dict(one.params)} for one in pair.over],
        between_services=bool(addresses(run)),
    )


def widest(run: Run) -> float:
    """Width of the widest interval of the steps, as a share of its ratio; infinite while one can have no verdict.

    That takes an interval, and so many blocks that p can be small enough for the family. Infinite where nothing is
    compared at all. Invalid comparisons do not count, since more blocks would not help them; 0 where all are.
    """
    compared = [comparison for comparison in compare(run) if comparison.step != "aa"]
    if not compared:
        return float("inf")
    family = [comparison for comparison in compared if comparison.verdict != "invalid"]
    fewest = fewest_blocks(max(1, len(family)))
    return max((_width(comparison, fewest) for comparison in family if comparison.system != OVER_ALL), default=0.0)


def _width(comparison: Comparison, fewest: int) -> float:
    if comparison.low is None or comparison.high is None or not comparison.ratio or comparison.blocks < fewest:
        return float("inf")
    return (comparison.high - comparison.low) / comparison.ratio


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Those that the verdict is on: over all settings, or of the only setting there is."""
    return [comparison for comparison in compared if comparison.system == OVER_ALL] or list(compared)


def _json(value: Any) -> Any:
    if isinstance(value, list):
        return [_json(item) for item in value]
    return value.to_json() if isinstance(value, Message) else value
