"""The comparisons of a run: every step of every system and setting, and over all of them, with verdicts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.messages import NOTHING, Message, listed, message, plural
from core.result import Run
from core.saved import Until
from reports.facts.arms import addresses
from reports.facts.best import Best, best_pairs
from reports.facts.capacity import capacity
from reports.facts.cells import runtimes, setting_key
from reports.facts.factors import factors
from reports.facts.gates import (
    LEAST_TIMED_NS,
    blocks_to_time,
    cores_in_use,
    disturbances,
    full,
    median_saturation,
    saturated,
)
from reports.facts.hosts import host_confounds
from reports.facts.inside import noise
from reports.facts.loops import is_open
from reports.facts.others import others
from reports.facts.pairs import OVER_ALL, Pair, Setting, pairs
from reports.facts.ran import shape_confounds
from reports.facts.steps import NAMES, confounds, steps
from reports.facts.tails import tails
from reports.statistics.dependence import DEPENDENT, dependence, depends
from reports.statistics.evidence import MARGIN
from reports.statistics.significance import fewest_blocks_anytime
from reports.statistics.stats import FEWEST_FOR_INTERVAL
from reports.statistics.verdict import Verdict, judge_family

SHORT = "short"  # code of the obstacle that an arm was not timed for long enough
AT_RATE = message("requests came at a rate, so throughput says only that they were answered: compare latency")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One comparison as result.json keeps it. ratio above 1: the numerator is faster. system 'all': over all cells.

    low, high: 95 % interval; with 3 to 5 blocks their range (is_range)
    noise_floor: how far from 1 the A/A interval of the same cell reaches, as a share; None without an A/A arm
    confounds: what else than the step's cause differs between the two builds, and between hosts
    notes: what limits the figures, such as clients that were saturated
    blocks: how many blocks have both arms
    obstacle, blocks_needed: what keeps it from a verdict, and how many blocks in all would do; see Verdict
    saturation: share of the cores they could have had that the clients used, median over the cells; None if not known
    cores_in_use: share of all cores that services and clients of the numerator used together, median over its cells
    disturbed: share of the cells in which the machine was not quiet; None without cells
    others: share of the cores that other processes used while clients were timed; None where that is not known
    is_beside_others: whether they did so in so many blocks that the verdict must say it
    settings: of one over all settings, {system, params} of those that it is over: they passed their gates, or none did;
        of a step between bests that of the denominator and that of the numerator
    between_services: its arms are services that already ran, not runtimes
    factors, tails: what the ratio is made of, and percentiles of latency; reports.facts.factors and .tails
    capacity: what the services of each arm could serve by themselves; reports.facts.capacity
    far_slower: of each side, how many cells were far slower than its others
    dependence: p that blocks resemble the one before by chance; None with too few; reports.statistics.dependence
    noise: the fields of Noise, of which its ratio's is made in a block; reports.statistics.inside
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

    def to_json(self) -> dict[str, Any]:
        """For result.json."""
        return {name: _json(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Comparison":
        """Of to_json(), and of what earlier versions kept. Raises TypeError where keys are missing."""
        known = {name: value for name, value in stored.items() if name in cls.__dataclass_fields__}
        for name in ("why", "obstacle"):
            known[name] = Message.from_json(known.get(name, {}))
        for name in ("confounds", "notes"):
            known[name] = [Message.from_json(text) for text in known.get(name, ())]
        return cls(**known)


def compare(run: Run) -> list[Comparison]:
    """Every comparison that the run's arms allow: A/A, a family of its own, then the steps."""
    made = pairs(run)
    same = _judged(run, [pair for pair in made if pair.step.name == "aa"])
    family = [pair for pair in made if pair.step.name != "aa"]
    return [_comparison(run, pair, verdict, _floors(same)) for pair, verdict in same] + _steps(run, family, same)


def compare_bests(run: Run, chosen: Sequence[Best]) -> list[Comparison]:
    """The steps between the best services of the runtimes, a family of their own."""
    family = best_pairs(run, chosen)
    again = [pair for pair in pairs(run) if pair.step.name == "aa"] if family and run.plan.get("aa") else []
    return _steps(run, family, _judged(run, again))


def _steps(run: Run, family: Sequence[Pair], same: Sequence[tuple[Pair, Verdict]]) -> list[Comparison]:
    """A comparison for each pair of *family*, where no A/A of *same* differs from itself."""
    judged = [pair for pair in family if is_judged(run, pair) and not _blocks_to_time(pair)]
    found = tails(judged, margin=_margin(run), anytime=is_anytime(run), seed=run.seed)
    of_tails = {id(pair): of_tail for pair, of_tail in zip(judged, found, strict=True)}
    return [
        replace(
            _comparison(run, pair, _unless_aa_differs(verdict, same), _floors(same)),
            tails=of_tails.get(id(pair), {}),
        )
        for pair, verdict in _judged(run, family)
    ]


def _blocks_to_time(pair: Pair) -> int:
    """Return how many blocks it takes to time each arm of each setting for long enough; 0 if it was."""
    sides = [side for single in pair.singles for side in (single.denominator, single.numerator)]
    return max(blocks_to_time([*side.values()]) for side in sides)


def _margin(run: Run) -> float:
    margin: float = run.plan.get("margin", MARGIN)
    return margin


def is_anytime(run: Run) -> bool:
    """Whether blocks of *run* had been seen when their number was settled: its p must bear looking at any time."""
    return bool(Until(**run.plan.get("until", {})).looks or run.plan.get("extended"))


def _judged(run: Run, family: Sequence[Pair]) -> list[tuple[Pair, Verdict]]:
    verdicts = _verdicts(run, [pair for pair in family if is_judged(run, pair)])
    for pair in family:
        if not is_judged(run, pair):
            verdicts |= {key: _unjudged(one) for key, one in _verdicts(run, [pair]).items()}
    return [(pair, _if_timed(pair, verdicts[id(pair)])) for pair in family]


def _verdicts(run: Run, family: Sequence[Pair]) -> dict[int, Verdict]:
    """Return a verdict on each of *family*, by its id()."""
    return judge_family(
        {id(pair): pair.ratios for pair in family},
        totals={id(pair): pair.totals for pair in family},
        margin=_margin(run),
        gates={id(pair): pair.gate for pair in family if pair.gate},
        anytime=is_anytime(run),
        seed=run.seed,
    )


def is_judged(run: Run, pair: Pair) -> bool:
    """Return whether the plan wants a verdict on the step of *pair*; A/A and best against best always have one.

    If the runtimes that are present allow none of the steps that the plan names, all steps are judged.
    """
    chosen = {*run.plan.get("judged_steps", ())} & {step.name for step in steps(runtimes(run), {}, run.runtimes)}
    return not chosen or pair.step.name in {*chosen, "aa", "best"}


def _unjudged(verdict: Verdict) -> Verdict:
    """Return *verdict* with its ratio and interval, and no claim."""
    if verdict.verdict == "invalid":
        return verdict
    why = message("the plan does not judge this step (--judged-steps)")
    return replace(verdict, verdict="unjudged", p=None, why=why, obstacle=NOTHING, blocks_needed=None)


def _if_timed(pair: Pair, verdict: Verdict) -> Verdict:
    """Return *verdict*, inconclusive if an arm of a setting was timed for too short in all blocks together."""
    needed = _blocks_to_time(pair)
    if not needed or verdict.verdict in ("invalid", "unjudged"):
        return verdict
    short = message(
        "an arm was timed for less than {least_s:g} s in all: --blocks {blocks}, or a longer --duration",
        code=SHORT, least_s=LEAST_TIMED_NS / 1e9, blocks=needed,
    )  # fmt: skip
    most = max(needed, verdict.blocks_needed or 0)
    return replace(verdict, verdict="inconclusive", why=short, obstacle=short, blocks_needed=most)


def _floors(same: Sequence[tuple[Pair, Verdict]]) -> dict[Setting, float]:
    return {pair.setting: floor for pair, verdict in same if (floor := _floor(pair, verdict)) is not None}


def _floor(pair: Pair, verdict: Verdict) -> float | None:
    """How far from 1 the interval of an A/A comparison reaches, as a share; None without an interval."""
    if len(pair.ratios) < FEWEST_FOR_INTERVAL or not verdict.low or not verdict.high:
        return None
    return max(verdict.high, 1 / verdict.low) - 1


def _unless_aa_differs(verdict: Verdict, same: Sequence[tuple[Pair, Verdict]]) -> Verdict:
    """*verdict*, invalid where a runtime differs from itself: what does that may be in every step."""
    differs = next((pair.step.denominator for pair, aa in same if aa.verdict in ("faster", "slower")), None)
    if differs is None or verdict.verdict == "invalid":
        return verdict
    why = message("A/A: {arm} differs from itself, so what differs here may be no step", arm=differs)
    return replace(verdict, verdict="invalid", why=why, obstacle=why, blocks_needed=None)


def _comparison(run: Run, pair: Pair, verdict: Verdict, floors: Mapping[Setting, float]) -> Comparison:
    settings = pair.sides or tuple((single.setting[0], single.params) for single in pair.over)
    used, in_use = median_saturation(pair.cells, run), cores_in_use([*pair.numerator.values()], run)
    of_blocks, beside = dependence(pair.ratios), others(pair.cells)
    is_beside = beside is not None and beside.is_busy
    if beside and is_beside and verdict.verdict != "invalid":
        verdict = replace(verdict, why=message("{why}; {others}", why=verdict.why, others=beside.marks))
    return Comparison(
        system=pair.setting[0],
        params=dict(pair.params),
        numerator=pair.step.numerator,
        denominator=pair.step.denominator,
        step=pair.step.name,
        **vars(verdict),
        blocks=len(pair.ratios),
        noise_floor=floors.get(setting_key(*pair.sides[-1]) if pair.sides else pair.setting),
        confounds=[
            *confounds(pair.step, run.runtimes),
            *host_confounds(pair.step, run),
            *shape_confounds(
                (pair.step.denominator, pair.step.numerator),
                ([*pair.denominator.values()], [*pair.numerator.values()]),
            ),
        ]
        if pair.step.name != "aa"
        else [],
        notes=[
            *([AT_RATE] if is_open(pair.params) else []),
            *saturated(used),
            *full(in_use, pair.cells),
            *disturbances(pair.cells),
            *_far_slower(pair),
            *([DEPENDENT] if depends(of_blocks) else []),
        ],
        saturation=used,
        cores_in_use=in_use,
        disturbed=sum(bool(cell.disturbances) for cell in pair.cells) / len(pair.cells) if pair.cells else None,
        others=beside.share if beside else None,
        is_beside_others=is_beside,
        settings=[{"system": system, "params": dict(params)} for system, params in settings],
        between_services=bool(addresses(run)),
        factors=factors(pair) if verdict.ratio is not None else {},
        capacity=capacity(pair, run) if verdict.ratio is not None else {},
        far_slower=pair.far_slower,
        dependence=of_blocks,
        noise=asdict(of_block) if (of_block := noise(pair)) else {},
    )


def _far_slower(pair: Pair) -> list[Message]:
    """How many cells of each arm were far slower than the others, where some were."""
    arms = {"denominator": pair.step.denominator, "numerator": pair.step.numerator}
    return [
        plural(
            "{count} cell of {arm} was slower than its others by a quarter or more",
            "{count} cells of {arm} were slower than its others by a quarter or more",
            count=count, arm=arms[side],
        )
        for side, count in pair.far_slower.items()
        if count
    ]  # fmt: skip


def widest(run: Run) -> float:
    """Width of the widest interval of the steps, as a share of its ratio; infinite while one can have no verdict.

    That takes an interval, and so many blocks that p can be small enough for the family. Infinite where nothing is
    compared at all. Invalid comparisons do not count, since more blocks would not help them; 0 where all are.
    """
    compared = _claims(run)
    if not compared:
        return float("inf")
    family = [comparison for comparison in compared if comparison.verdict != "invalid"]
    fewest = fewest_blocks_anytime(max(1, len(family)))
    return max((_width(comparison, fewest) for comparison in family if comparison.system != OVER_ALL), default=0.0)


def _width(comparison: Comparison, fewest: int) -> float:
    is_open = comparison.blocks < fewest or comparison.obstacle.code == SHORT
    if comparison.low is None or comparison.high is None or not comparison.ratio or is_open:
        return float("inf")
    return (comparison.high - comparison.low) / comparison.ratio


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


def _json(value: Any) -> Any:
    if isinstance(value, list):
        return [_json(item) for item in value]
    return value.to_json() if isinstance(value, Message) else value
