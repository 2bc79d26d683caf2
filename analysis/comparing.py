"""The comparisons between the runtimes of a run, with verdicts: at every setting, and over all
settings.

The values of swept parameters are compared under each runtime, in the same family.
The best settings of two runtimes for one workload are compared, too (analysis/choice.py).

compare() is the entry. It makes pairs of measurements (analysis/pairs.py), judges them in families
(analysis/judging.py), and withholds the verdicts that a check does not allow. The order of these
checks decides which reason is given. A place is the index of a pair in the list of pairs.
reports/view.py calls compare() for a report, and analysis/decisions.py between blocks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

from analysis.cell_index import grouped, of_cells
from analysis.connections import connection_notes, delay_by_tcp
from analysis.details import PERCENTILES, Detail, factors, latencies
from analysis.gates import (
    LEAST_TIMED_NS,
    background,
    blocks_to_time,
    cores_in_use,
    disturbances,
    full,
    median_saturation,
)
from analysis.host_facts import host_confounds
from analysis.judging import judge_family
from analysis.open_loop import is_open
from analysis.others import MOST_BUSY, Others, on_busy, others
from analysis.pairs import SIDES, Pair, addresses, pairs, parameters
from analysis.routes import readers
from analysis.settings import value_text
from analysis.significance import DEPENDENT, SHARES, Looks, dependence, depends
from analysis.stats import FEWEST_FOR_INTERVAL
from analysis.steps import NAMES, OF_VALUES, confounds, several_causes
from analysis.topologies import shape_confounds
from core.cell import PARAMETERS, Value
from core.fingerprint import ENVIRONMENTS
from core.messages import NOTHING, Message, listed, message, plural
from core.system import SERVICE
from record.comparison import (
    AllFactors,
    JudgedRatio,
    Key,
    SavedComparison,
    Setting,
    Verdict,
    setting_key,
)
from record.saved_run import CellResult, Run

BEST = "best"  # name of the step between best settings, and the system in the pairs' setting
# verdicts that say that there is a difference
DIFFERENT = ("faster", "slower")
AT_RATE_TAILS = (
    "p50",
    "p99",
)  # the latency percentiles that stand for a comparison at a fixed rate
SHORT, BUSY = (
    "short",
    "busy",
)  # codes of obstacles: an arm was timed too briefly; other processes decide the verdict
UNCOUNTED = "uncounted"  # code of a note: some blocks do not count
# verdicts for which no more blocks are needed
DECIDED = (*DIFFERENT, "equivalent")
AT_RATE = message(
    "requests came at a fixed rate (RATE), so throughput only shows that they were answered: "
    "compare latency instead"
)
NOT_JUDGED = {  # by the family of a comparison: why there is no verdict on its throughput
    "unjudged": message("the plan asks for no verdict on this comparison (--judged-steps)"),
    "rate": AT_RATE,
}


@dataclass(frozen=True, kw_only=True)
class Comparison(SavedComparison):
    """A comparison of two arms (runtimes or services) as result.json has it, with its words.

    trace: the names of the cells that were compared, the denominator's first; result.json does not
        have them
    """

    trace: str = field(default="", compare=False)

    @property
    def is_range(self) -> bool:
        """Whether low and high are the minimum and maximum of a few blocks, because an interval
        needs more blocks.
        """
        return self.blocks < FEWEST_FOR_INTERVAL

    @property
    def is_at_rate(self) -> bool:
        """Whether requests came at a fixed rate (RATE), so that latency is compared instead of
        throughput.
        """
        return any(map(is_open, [self.params, *(setting.params for setting in self.settings)]))

    @property
    def judged(self) -> list[Verdict]:
        """The verdicts on what the comparison is about: throughput, or at a fixed rate the latency
        percentiles.
        """
        if self.verdict != "unjudged" or not self.tails:
            return [self]
        return [
            Verdict(**vars(self.tails[name]), why=self.why)
            for name in AT_RATE_TAILS
            if name in self.tails
        ]

    @property
    def opposed_routes(self) -> list[str]:
        """The names of the routes whose verdict contradicts that on throughput, the most different
        route first: faster or slower, although the whole is equivalent or the reverse.
        """
        found = {
            name: abs(log(route.ratio))
            for name, route in self.routes.items()
            if route.verdict in DIFFERENT and route.verdict != self.verdict and route.ratio
        }
        is_decided = self.verdict in DECIDED
        return sorted(found, key=found.__getitem__, reverse=True) if is_decided else []

    @property
    def word(self) -> Message:
        """The verdict as text, which says so if other processes used more than MOST_BUSY of the
        cores.
        """
        return on_busy(super().word, self.others) if self.verdict in DECIDED else super().word

    @property
    def step_name(self) -> Message:
        """The compared difference as text: 'GIL', 'build and GIL' for several causes, or
        'NUM_MULTI_SOCKET 1 → 10'.
        """
        if self.step in OF_VALUES:
            name, before, after = self.change
            return message(
                "{name} {before} → {after}",
                name=name,
                before=value_text(before),
                after=value_text(after),
            )
        is_several = self.step == "other" and not self.between_services
        return several_causes(self.denominator, self.numerator) if is_several else NAMES[self.step]

    @property
    def change(self) -> tuple[str, Value, Value]:
        """The swept parameter whose values are compared, with the denominator's value and the
        numerator's value.
        """
        before, after = (setting.params for setting in self.settings)
        name = next(
            name for name in (*PARAMETERS, *after) if name in after and before[name] != after[name]
        )
        return name, before[name], after[name]

    @property
    def label(self) -> Message:
        """The compared difference and the runtimes as text: 'GIL: 3.14t+gil → 3.14t', 'NUM_CLIENTS
        1 → 8: 3.14t'.
        """
        if self.step == "value":
            return message("{step}: {runtime}", step=self.step_name, runtime=self.numerator)
        return message(
            "{step}: {denominator} → {numerator}",
            step=self.step_name, denominator=self.denominator, numerator=self.numerator,
        )  # fmt: skip

    @property
    def limits(self) -> list[Message]:
        """The limits of the comparison: confounds, busy clients, a machine that was not quiet."""
        joint = listed(self.confounds)
        confound = message(
            "the two measurements also differ in other ways: {confounds}", confounds=joint
        )
        return [*([confound] if self.confounds else []), *self.notes]


def compare(run: Run) -> list[Comparison]:
    """Return all comparisons of a run: first A/A, whose p values are adjusted separately, then
    those of runtimes.
    """
    return compared_pairs(run, pairs(run))


def looks_at(run: Run) -> Looks:
    """Return when the results of a run were looked at, and whether they decided when measuring
    stopped.
    """
    is_anytime = run.plan.until.looks or run.plan.extended
    return Looks(is_anytime=is_anytime, first=run.plan.first_look, seed=run.seed)


def doubt(compared: Iterable[Comparison]) -> Message:
    """Return that two measurements of the same runtime differ, or NOTHING if no A/A comparison
    does.
    """
    differing = (
        one.denominator for one in compared if one.step == "aa" and one.verdict in DIFFERENT
    )
    return next(map(_differs, differing), NOTHING)


def _differs(arm: str) -> Message:
    return message(
        "A/A: two measurements of {arm} differ, so the difference in this comparison may be noise",
        arm=arm,
    )


def compared_pairs(
    run: Run, made: Sequence[Pair], share: float = SHARES["throughput"]
) -> list[Comparison]:
    """Return the comparison of each pair of *made*, those of A/A first. All others are invalid if
    an A/A pair differs.

    A/A pairs, and pairs for which the plan asks for no verdict, do not affect the p values of other
    pairs. If *made* has none of the steps that the plan names, all steps get a verdict.
    """
    chosen = {pair.step.name for pair in made} & {*run.plan.judged_steps}
    method = {"margin": run.plan.margin, "looks": looks_at(run)}
    families = grouped(enumerate(made), lambda one: _family(one[1], chosen))
    verdicts: dict[int, Verdict] = {}
    for kind, mine in families.items():
        level = 1.0 if kind == "aa" else share  # A/A is a check, not a claim
        found = _verdicts(dict(mine), share=level, **method)
        verdicts |= {
            place: _withheld(pair, found[place], NOT_JUDGED.get(kind, NOTHING))
            for place, pair in mine
        }
    same = [(pair, verdicts[place]) for place, pair in families.get("aa", ())]
    differs = next((pair.step.denominator for pair, aa in same if aa.verdict in DIFFERENT), "")
    floors = {  # how far the interval of an A/A comparison extends from 1, as a share
        pair.setting: max(aa.high, 1 / aa.low) - 1
        for pair, aa in same
        if len(pair.ratios) >= FEWEST_FOR_INTERVAL and aa.low and aa.high
    }
    why = _differs(differs)
    for place, pair in enumerate(made):
        if differs and pair.step.name != "aa" and verdicts[place].verdict != "invalid":
            verdicts[place] = replace(
                verdicts[place], verdict="invalid", why=why, obstacle=why, blocks_needed=None
            )
    named = {("routes", name): read for name, read in readers(run).items()}
    details = _details(families, verdicts, share, readers={**PERCENTILES, **named}, **method)
    ordered = sorted(enumerate(made), key=lambda one: one[1].step.name != "aa")
    return [
        _comparison(run, pair, verdicts[place], floors, details.get(place, {}))
        for place, pair in ordered
    ]


def _family(pair: Pair, chosen: Collection[str]) -> str:
    """Return which pairs *pair* is judged together with: aa, unjudged, rate (at a fixed rate) or
    judged.

    chosen: the steps for which the plan asks for a verdict; empty for all
    """
    name = pair.step.name
    if name == "aa":
        return name
    if chosen and name not in {*chosen, BEST}:
        return "unjudged"
    return "rate" if pair.is_at_rate else "judged"


def _verdicts(family: Mapping[int, Pair], **method: Any) -> dict[int, Verdict]:
    """Return the verdicts on the throughput of pairs that are judged together. They hold without
    disturbed blocks, too.

    method: the arguments of judge_family()
    """
    gates = {place: pair.gate for place, pair in family.items()}
    found = judge_family(
        {place: pair.ratios for place, pair in family.items()},
        totals={place: pair.totals for place, pair in family.items()},
        gates=gates,
        **method,
    )
    lasting = found
    if any(seen.marked for pair in family.values() if (seen := others(pair.cells))):
        lasting = judge_family(
            {place: pair.undisturbed for place, pair in family.items()}, gates=gates, **method
        )
    return {
        place: robust(found[place], lasting[place], pair.cells) for place, pair in family.items()
    }


def _details(
    families: Mapping[str, Sequence[tuple[int, Pair]]],
    verdicts: Mapping[int, Verdict],
    share: float,
    **method: Any,
) -> dict[int, dict[Detail, JudgedRatio]]:
    """Return the compared percentiles and routes of each pair, by the place of the pair.

    A/A pairs are a family of their own. A percentile or route in which an A/A pair differs is
    invalid in all other pairs. All of a pair are invalid if a gate or A/A withholds the verdict on
    its throughput.
    """
    timed: dict[bool, dict[int, Pair]] = {True: {}, False: {}}
    for kind in ("aa", "judged", "rate"):
        for place, pair in families.get(kind, ()):
            if verdicts[place].obstacle.code != SHORT:
                timed[kind == "aa"][place] = pair
    # if all judged throughputs differ, their share of the level is free for the latencies;
    # so it is if no throughput is judged, because all() of nothing is True
    passed_on = share * all(
        verdicts[place].verdict in DIFFERENT for place, _ in families.get("judged", ())
    )
    same = latencies(timed[True], **method)
    found = latencies(timed[False], share=SHARES["tails"] + passed_on, **method)
    noisy = {
        detail
        for of_pair in same.values()
        for detail, ratio in of_pair.items()
        if ratio.verdict in DIFFERENT
    }
    for place, of_pair in found.items():
        is_withheld = verdicts[place].verdict == "invalid" or bool(verdicts[place].obstacle.code)
        for detail, ratio in of_pair.items():
            if is_withheld or detail in noisy:
                of_pair[detail] = replace(ratio, verdict="invalid")
    return same | found


def robust(verdict: Verdict, undisturbed: Verdict, cells: Sequence[CellResult]) -> Verdict:
    """Withdraw *verdict* on *cells* if it does not hold without the load of other processes that
    the run measured.
    """
    seen = others(cells)
    if seen is None or verdict.verdict not in DECIDED or verdict.verdict == undisturbed.verdict:
        return verdict
    why = message(
        "{used}. Without the blocks in which other processes used more than {most:.0%}, and "
        "with all other times corrected for the cores that these processes took, the verdict "
        "would be: {word}. Measure again when the machine is quiet",
        code=BUSY, used=seen.used, most=MOST_BUSY, word=undisturbed.word,
    )  # fmt: skip
    return replace(verdict, verdict="inconclusive", why=why, obstacle=why, blocks_needed=None)


def _withheld(pair: Pair, verdict: Verdict, not_judged: Message) -> Verdict:
    """Withdraw *verdict* if throughput is not judged, or if an arm was not timed for long enough at
    each setting.
    """
    needed = max(
        blocks_to_time([*cells.values()])
        for single in pair.singles
        for cells in single.arms.values()
    )
    if pair.step.name == "best":  # the other half of the blocks chose the settings
        needed *= 2
    if verdict.verdict == "invalid":
        return verdict
    if not_judged:
        return replace(
            verdict,
            verdict="unjudged",
            p=None,
            why=not_judged,
            obstacle=NOTHING,
            blocks_needed=None,
        )
    if not needed:
        delay = delay_by_tcp(pair.cells) if verdict.verdict == "inconclusive" else NOTHING
        return replace(verdict, why=delay, obstacle=delay, blocks_needed=None) if delay else verdict
    why = message(
        "one of the two compared measurements was timed for less than {least_s:g} s in total: use "
        "--blocks {blocks} or a longer --duration",
        code=SHORT, least_s=LEAST_TIMED_NS / 1e9, blocks=needed,
    )  # fmt: skip
    most = max(needed, verdict.blocks_needed or 0)
    return replace(verdict, verdict="inconclusive", why=why, obstacle=why, blocks_needed=most)


def _comparison(
    run: Run,
    pair: Pair,
    verdict: Verdict,
    floors: Mapping[Key, float],
    details: Mapping[Detail, JudgedRatio],
) -> Comparison:
    cells, step, beside = pair.cells, pair.step, others(pair.cells)
    below, above = ([*by_block.values()] for by_block in pair.arms.values())
    # a pair over all settings has no cells of its own, so these figures and its notes are empty
    used, in_use = median_saturation(cells, run), cores_in_use(above, run)
    arms = (step.denominator, step.numerator)
    differs = [
        *confounds(step, run.runtimes),
        *host_confounds(step, run),
        *shape_confounds(arms, (below, above)),
    ]
    return Comparison(
        **vars(_beside_others(verdict, beside)),
        system=pair.setting[0],
        params=pair.params,
        numerator=step.numerator,
        denominator=step.denominator,
        step=step.name,
        blocks=len(pair.ratios),
        # of two settings, the A/A of the numerator's
        noise_floor=floors.get([pair.setting, *pair.sides][-1]),
        confounds=[] if step.name in ("aa", *OF_VALUES) else differs,
        notes=[*full(used, in_use, cells), *_notes(pair, run)],
        saturation=used,
        cores_in_use=in_use,
        disturbed=sum(bool(cell.disturbances) for cell in cells) / len(cells) if cells else None,
        others=beside.share if beside else None,
        is_beside_others=beside is not None and beside.is_busy,
        settings=[Setting(system=key[0], params=parameters(key)) for key in pair.covered],
        between_services=bool(addresses(run)),
        factors=factors(pair) if verdict.ratio is not None else AllFactors(),
        tails={name: ratio for (kind, name), ratio in details.items() if kind == "tails"},
        routes={name: ratio for (kind, name), ratio in details.items() if kind == "routes"},
        dependence=dependence(pair.ratios),
        trace=of_cells(
            cell for side in SIDES for one in pair.singles for cell in one.arms[side].values()
        ),
    )


def _beside_others(verdict: Verdict, seen: Others | None) -> Verdict:
    """Mention other processes in the reason of *verdict*, if they were busy and it does not yet."""
    is_told = verdict.verdict == "invalid" or verdict.obstacle.code == BUSY
    if not seen or not seen.is_busy or is_told:
        return verdict
    return replace(verdict, why=message("{why}; {others}", why=verdict.why, others=seen.marks))


def _notes(pair: Pair, run: Run) -> list[Message]:
    """Return notes on what influenced the measurements of a pair."""
    cells = pair.cells
    return [
        *_uncounted(pair),
        *disturbances(cells),
        *background(cells),
        *connection_notes(cells, run),
        *[DEPENDENT] * depends(dependence(pair.ratios)),
    ]


def _uncounted(pair: Pair) -> Iterator[Message]:
    """Yield a note if some blocks do not count, because requests turned up that are too long for
    the time of their block.
    """
    worst = max(pair.singles, key=lambda single: single.short_blocks)
    if pair.gate or not worst.short_blocks:
        return
    blocks = len({cell.block for cell in worst.cells})
    note = plural(
        "{count} of {all} blocks does not count, because requests took up to {longest:.2g} s, and "
        "each timed period in it was shorter than twice that. A longer "
        "--duration measures such requests in every block",
        "{count} of {all} blocks do not count, because requests took up to {longest:.2g} s, and "
        "each timed period in them was shorter than twice that. A longer "
        "--duration measures such requests in every block",
        count=worst.short_blocks, all=blocks, longest=worst.tail_ns / 1e9,
    )  # fmt: skip
    yield replace(note, code=UNCOUNTED)


def packages_at(setting: Setting, compared: Comparison, run: Run) -> dict[str, str]:
    """Return the packages with which the service of a compared setting ran, under the numerator's
    runtime: versions by name. They are empty if gilscope does not know them.
    """
    for cell in run.cells:
        is_there = setting_key(cell.system, cell.params) == setting.key
        if is_there and cell.arm == compared.numerator:
            known = run.fingerprints.get(ENVIRONMENTS, {}).get(cell.environment, {})
            return dict(known.get(SERVICE, {}).get("packages", {}))
    return {}


def confounds_of(compared: Sequence[Comparison]) -> list[Message]:
    """Return the confounds of all comparisons in *compared*, each once."""
    return [
        *dict.fromkeys(confound for comparison in compared for confound in comparison.confounds)
    ]


def answering(compared: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons that decide the run's verdict: those over all settings, or else all of
    *compared*.
    """
    return [comparison for comparison in compared if comparison.is_over_all] or list(compared)
