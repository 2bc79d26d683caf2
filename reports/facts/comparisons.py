"""The comparisons of a run: every step of every system and setting, and over all of them, with verdicts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from core.decode import decoded
from core.messages import NOTHING, Message, listed, message, plural
from core.result import Run
from core.saved import Until
from reports.facts.best import Best, best_pairs
from reports.facts.cells import runtimes
from reports.facts.details import capacity, factors, noise, tails
from reports.facts.gates import (
    LEAST_TIMED_NS,
    background,
    blocks_to_time,
    cores_in_use,
    disturbances,
    full,
    median_saturation,
)
from reports.facts.hosts import host_confounds
from reports.facts.measures import is_open
from reports.facts.others import others
from reports.facts.pairs import OVER_ALL, Pair, Setting, addresses, pairs, parameters
from reports.facts.steps import NAMES, confounds, steps
from reports.facts.topologies import shape_confounds
from reports.statistics.significance import DEPENDENT, dependence, depends, fewest_blocks_anytime
from reports.statistics.stats import FEWEST_FOR_INTERVAL
from reports.statistics.verdict import MARGIN, Verdict, judge_family, slower_beyond

SHORT = "short"  # code of the obstacle that an arm was not timed for long enough
AT_RATE = message("requests came at a rate, so throughput says only that they were answered: compare latency")


@dataclass(frozen=True, kw_only=True)
class Comparison(Verdict):
    """A verdict with all that result.json keeps of its comparison. system 'all': over all cells.

    noise_floor: how far from 1 the A/A interval of the same cell reaches, as a share; None without an A/A arm
    confounds: what else than the step's cause differs between the two builds, and between hosts
    notes: what limits the figures, such as clients that were saturated
    blocks: how many blocks have both arms
    saturation: share of the cores they could have had that the clients used, median over the cells; None if not known
    cores_in_use: share of all cores that services and clients of the numerator used together, median over its cells
    disturbed: share of the cells in which the machine was not quiet; None without cells
    others: share of the cores that other processes used while clients were timed; None where that is not known
    is_beside_others: whether they did so in so many blocks that the verdict must say it
    settings: of one over all settings, {system, params} of those that it is over: they passed their gates, or none did;
        of a step between bests that of the denominator and that of the numerator
    between_services: its arms are services that already ran, not runtimes
    factors, tails: what the ratio is made of, and percentiles of latency; reports.facts.details
    capacity: what the services of each arm could serve by themselves
    far_slower: of each side, how many cells were far slower than its others
    dependence: p that blocks resemble the one before by chance; None with too few
    noise: the fields of Noise, of which its ratio's is made in a block
    """

    system: str
    params: Mapping[str, Any]
    numerator: str
    denominator: str
    step: str
    blocks: int = 0
    noise_floor: float | None = None
    confounds: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    saturation: float | None = None
    cores_in_use: float | None = None
    disturbed: float | None = None
    others: float | None = None
    is_beside_others: bool = False
    settings: list[dict[str, Any]] = field(default_factory=list)
    between_services: bool = False
    factors: dict[str, Any] = field(default_factory=dict)
    capacity: dict[str, Any] = field(default_factory=dict)
    tails: dict[str, Any] = field(default_factory=dict)
    far_slower: dict[str, int] = field(default_factory=dict)
    dependence: float | None = None
    noise: dict[str, float] = field(default_factory=dict)

    @property
    def is_range(self) -> bool:
        """Whether low and high are the least and the most of a few blocks, and no interval."""
        return self.blocks < FEWEST_FOR_INTERVAL

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

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Comparison":
        """Return what to_json() made. Raises Misfit if keys are missing."""
        return decoded(stored, cls, all_known=False)


def compare(run: Run) -> list[Comparison]:
    """Return every comparison that the run's arms allow: A/A, a family of its own, then the steps."""
    made = pairs(run)
    again, family = ([pair for pair in made if (pair.step.name == "aa") is same] for same in (True, False))
    same = _judged(run, again)
    floors = _floors(same)
    return [_comparison(run, pair, verdict, floors) for pair, verdict in same] + _steps(run, family, same)


def compare_bests(run: Run, chosen: Sequence[Best]) -> list[Comparison]:
    """Return the steps between the best services of the runtimes, a family of their own."""
    family = best_pairs(run, chosen)
    again = [pair for pair in pairs(run) if pair.step.name == "aa"] if family and run.plan.get("aa") else []
    return _steps(run, family, _judged(run, again))


def _steps(run: Run, family: Sequence[Pair], same: Sequence[tuple[Pair, Verdict]]) -> list[Comparison]:
    """Return a comparison for each pair of *family*, which is invalid where an A/A of *same* differs from itself."""
    differs = next((pair.step.denominator for pair, aa in same if aa.verdict in ("faster", "slower")), "")
    timed = {place: pair for place, pair in enumerate(family) if is_judged(run, pair) and not _blocks_to_time(pair)}
    found, floors = tails(timed, **_method(run)), _floors(same)
    return [
        replace(_comparison(run, pair, verdict, floors), tails=found.get(place, {}))
        for place, (pair, verdict) in enumerate(_judged(run, family, differs))
    ]


def _method(run: Run) -> dict[str, Any]:
    """Return how verdicts of *run* are reached."""
    return {"margin": run.plan.get("margin", MARGIN), "anytime": is_anytime(run), "seed": run.seed}


def is_anytime(run: Run) -> bool:
    """Return whether blocks of *run* had been seen when their number was settled: p must bear looking at any time."""
    return bool(Until(**run.plan.get("until", {})).looks or run.plan.get("extended"))


def is_judged(run: Run, pair: Pair) -> bool:
    """Return whether the plan wants a verdict on the step of *pair*; A/A and best against best always have one.

    If the runtimes that are present allow none of the steps that the plan names, all steps are judged.
    """
    chosen = {*run.plan.get("judged_steps", ())} & {step.name for step in steps(runtimes(run), {}, run.runtimes)}
    return not chosen or pair.step.name in {*chosen, "aa", "best"}


def _judged(run: Run, family: Sequence[Pair], differs: str = "") -> list[tuple[Pair, Verdict]]:
    """Return each pair with its verdict. Steps that the plan does not judge do not belong to the family.

    differs: the arm that differs from itself, if one does
    """
    verdicts: dict[int, Verdict] = {}
    for wanted in (True, False):
        mine = {place: pair for place, pair in enumerate(family) if is_judged(run, pair) is wanted}
        verdicts |= judge_family(
            {place: pair.ratios for place, pair in mine.items()},
            totals={place: pair.totals for place, pair in mine.items()},
            gates={place: pair.gate for place, pair in mine.items()},
            **_method(run),
        )
    return [(pair, _withheld(run, pair, verdicts[place], differs)) for place, pair in enumerate(family)]


def _withheld(run: Run, pair: Pair, verdict: Verdict, differs: str) -> Verdict:
    """Return *verdict* without its claim if the plan, a short time or an arm that differs from itself forbids it."""
    if verdict.verdict == "invalid":
        return verdict
    needed = _blocks_to_time(pair)
    if not is_judged(run, pair):
        why = message("the plan does not judge this step (--judged-steps)")
        verdict = replace(verdict, verdict="unjudged", p=None, why=why, obstacle=NOTHING, blocks_needed=None)
    elif needed:
        why = message(
            "an arm was timed for less than {least_s:g} s in all: --blocks {blocks}, or a longer --duration",
            code=SHORT, least_s=LEAST_TIMED_NS / 1e9, blocks=needed,
        )  # fmt: skip
        most = max(needed, verdict.blocks_needed or 0)
        verdict = replace(verdict, verdict="inconclusive", why=why, obstacle=why, blocks_needed=most)
    if differs:
        why = message("A/A: {arm} differs from itself, so what differs here may be no step", arm=differs)
        verdict = replace(verdict, verdict="invalid", why=why, obstacle=why, blocks_needed=None)
    return verdict


def _blocks_to_time(pair: Pair) -> int:
    """Return how many blocks it takes to time each arm of each setting for long enough; 0 if it was."""
    return max(blocks_to_time([*cells.values()]) for single in pair.singles for cells in single.arms.values())


def _floors(same: Sequence[tuple[Pair, Verdict]]) -> dict[Setting, float]:
    """Return how far from 1 the interval of each A/A comparison reaches, as a share, by setting."""
    return {
        pair.setting: max(verdict.high, 1 / verdict.low) - 1
        for pair, verdict in same
        if len(pair.ratios) >= FEWEST_FOR_INTERVAL and verdict.low and verdict.high
    }


def _comparison(run: Run, pair: Pair, verdict: Verdict, floors: Mapping[Setting, float]) -> Comparison:
    cells, step, of_blocks, beside = pair.cells, pair.step, dependence(pair.ratios), others(pair.cells)
    below, above = ([*by_block.values()] for by_block in pair.arms.values())
    used, in_use = median_saturation(cells, run), cores_in_use(above, run)
    is_beside = beside is not None and beside.is_busy
    if beside and is_beside and verdict.verdict != "invalid":
        verdict = replace(verdict, why=message("{why}; {others}", why=verdict.why, others=beside.marks))
    arms = (step.denominator, step.numerator)
    differs = [
        *confounds(step, run.runtimes),
        *host_confounds(step, run),
        *shape_confounds(arms, (below, above)),
    ]
    far_slower = [
        plural(
            "{count} cell of {arm} was slower than its others by a quarter or more",
            "{count} cells of {arm} were slower than its others by a quarter or more",
            count=count, arm=arm,
        )
        for arm, count in zip(arms, pair.far_slower.values(), strict=True)
        if count
    ]  # fmt: skip
    return Comparison(
        **vars(verdict),
        system=pair.setting[0],
        params=pair.params,
        numerator=step.numerator,
        denominator=step.denominator,
        step=step.name,
        blocks=len(pair.ratios),
        noise_floor=floors.get([pair.setting, *pair.sides][-1]),
        confounds=[] if step.name == "aa" else differs,
        notes=[
            *([AT_RATE] if is_open(pair.params) else []),
            *full(used, in_use, cells),
            *disturbances(cells),
            *background(cells),
            *far_slower,
            *([DEPENDENT] if depends(of_blocks) else []),
        ],
        saturation=used,
        cores_in_use=in_use,
        disturbed=sum(bool(cell.disturbances) for cell in cells) / len(cells) if cells else None,
        others=beside.share if beside else None,
        is_beside_others=is_beside,
        settings=[
            {"system": setting[0], "params": parameters(setting)}
            for setting in pair.sides or [single.setting for single in pair.over]
        ],
        between_services=bool(addresses(run)),
        factors=factors(pair) if verdict.ratio is not None else {},
        capacity=capacity(pair, run) if verdict.ratio is not None else {},
        far_slower=pair.far_slower,
        dependence=of_blocks,
        noise=noise(pair),
    )


def widest(run: Run) -> float:
    """Width of the widest interval of the steps, as a share of its ratio; infinite while one can have no verdict.

    That takes an interval, and so many blocks that p can be small enough for the family. Infinite where nothing is
    compared at all. Invalid comparisons do not count, since more blocks would not help them; 0 where all are.
    """
    claims = _claims(run)
    family = [one for one in claims if one.verdict != "invalid"]
    fewest = fewest_blocks_anytime(max(1, len(family)))
    widths = [
        (one.high - one.low) / one.ratio
        if one.low is not None and one.high and one.ratio and one.blocks >= fewest and one.obstacle.code != SHORT
        else inf
        for one in family
        if one.system != OVER_ALL
    ]
    return max(widths, default=0.0) if claims else inf


def is_decided(run: Run) -> bool:
    """Whether every step has a verdict, or is invalid, which more blocks would not mend. False where there is none."""
    words = [comparison.verdict for comparison in _claims(run)]
    return bool(words) and "inconclusive" not in words


def _claims(run: Run) -> list[Comparison]:
    """Return the comparisons of steps that are judged."""
    return [one for one in compare(run) if one.step != "aa" and one.verdict != "unjudged"]


def confounds_of(compared: Sequence[Comparison]) -> list[Message]:
    """What else than their step differs between the builds of *compared*, each once."""
    return [*dict.fromkeys(confound for comparison in compared for confound in comparison.confounds)]


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Those that the verdict is on: over all settings, or of the only setting there is."""
    return [comparison for comparison in compared if comparison.system == OVER_ALL] or list(compared)


def from_first_to_last(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of the last runtime with the first: the whole, or the only step where there are two."""
    of_settings = [one for one in comparisons if one.system != OVER_ALL and one.step != "aa"]
    return [one for one in of_settings if one.step == "whole"] or of_settings


def regressions(comparisons: Sequence[Comparison], share: float) -> tuple[list[Comparison], list[Comparison]]:
    """Return those slower by more than *share* (0.05 for 5 % more time) with the whole interval, and the undecided.

    One without a verdict is decided where its interval excludes so large a difference.
    """
    slower = [one for one in comparisons if slower_beyond(one, share)]
    unclear = [
        one
        for one in comparisons
        if one.verdict not in ("faster", "slower", "equivalent") and (one.is_range or (one.low or 0) < 1 / (1 + share))
    ]
    return slower, unclear
