"""Verdicts on pairs of measurements, in families whose p values are adjusted together.

judge_pairs() is the entry. It judges the throughput of pairs (analysis/pairs.py) in families
(analysis/judging.py), and then their latencies: percentiles, and means of routes. It withholds the
verdicts that a check does not allow. The order of these checks decides which reason is given.
analysis/comparing.py makes comparisons of the verdicts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.cell_index import grouped
from analysis.comparison_words import doubt
from analysis.connections import delay_by_tcp
from analysis.gates import LEAST_TIMED_NS, blocks_to_time
from analysis.judging import judge_family
from analysis.metrics import METRICS, Reader
from analysis.others import MOST_BUSY, others
from analysis.pairs import Pair
from analysis.routes import readers
from analysis.significance import SHARES, Looks
from core.messages import NOTHING, Message, message
from record.comparison import BEST, DECIDED, DIFFERENT, JudgedRatio, Verdict, Word
from record.saved_run import CellResult, Run

Detail = tuple[str, str]  # a field of the comparison, `tails` or `routes`, and a key in it
Details = Mapping[Detail, JudgedRatio]
PERCENTILES = {
    ("tails", metric.percentile): metric.read for metric in METRICS.values() if metric.percentile
}
# codes of obstacles: an arm was timed too briefly; other processes decide the verdict
SHORT, BUSY = "short", "busy"
AT_RATE = message(
    "requests came at a fixed rate (RATE), so throughput only shows that they were answered: "
    "compare latency instead"
)
NOT_JUDGED = {  # by the family of a comparison: why there is no verdict on its throughput
    "unjudged": message("the plan asks for no verdict on this comparison (--judged-steps)"),
    "rate": AT_RATE,
}


def looks_at(run: Run) -> Looks:
    """Return when the results of a run were looked at, and whether they decided when measuring
    stopped.
    """
    is_anytime = run.plan.until.looks or run.plan.extended
    return Looks(is_anytime=is_anytime, first=run.plan.first_look, seed=run.seed)


def judge_pairs(
    run: Run, made: Sequence[Pair], share: float
) -> tuple[Mapping[Pair, Verdict], Mapping[Pair, Details]]:
    """Return the verdicts on the throughput of the pairs *made*, and those on their latencies. All
    others are invalid if an A/A pair differs.

    A/A pairs, and pairs for which the plan asks for no verdict, do not affect the p values of other
    pairs. If *made* has none of the steps that the plan names, all steps get a verdict.
    """
    chosen = {pair.step.name for pair in made} & {*run.plan.judged_steps}
    method = {"margin": run.plan.margin, "looks": looks_at(run)}
    families = grouped(made, lambda pair: _family(pair, chosen))
    verdicts: dict[Pair, Verdict] = {}
    for kind, family in families.items():
        level = 1.0 if kind == "aa" else share  # A/A is a check, not a claim
        for pair, verdict in _verdicts(family, share=level, **method).items():
            verdicts[pair] = _withheld(pair, verdict, NOT_JUDGED.get(kind, NOTHING))
    why = doubt((pair.step.denominator, verdicts[pair]) for pair in families.get("aa", ()))
    for pair, verdict in verdicts.items() if why else ():
        if pair.step.name != "aa" and verdict.verdict != "invalid":
            verdicts[pair] = _changed(verdict, "invalid", why)
    named = {("routes", name): read for name, read in readers(run).items()}
    details = _details(families, verdicts, share, readers={**PERCENTILES, **named}, **method)
    return verdicts, details


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


def _verdicts(family: Sequence[Pair], **method: Any) -> dict[Pair, Verdict]:
    """Return the verdicts on the throughput of pairs that are judged together. They hold without
    disturbed blocks, too.

    method: the arguments of judge_family()
    """
    gates = {pair: pair.gate for pair in family}
    found = judge_family(
        {pair: pair.ratios for pair in family},
        totals={pair: pair.totals for pair in family},
        gates=gates,
        **method,
    )
    lasting = found
    if any(seen.marked for pair in family if (seen := others(pair.cells))):
        lasting = judge_family({pair: pair.undisturbed for pair in family}, gates=gates, **method)
    return {pair: robust(found[pair], lasting[pair], pair.cells) for pair in family}


def _details(
    families: Mapping[str, Sequence[Pair]],
    verdicts: Mapping[Pair, Verdict],
    share: float,
    **method: Any,
) -> dict[Pair, dict[Detail, JudgedRatio]]:
    """Return the compared percentiles and routes of each pair.

    A/A pairs are a family of their own. A percentile or route in which an A/A pair differs is
    invalid in all other pairs. All of a pair are invalid if a gate or A/A withholds the verdict on
    its throughput, and inconclusive if other processes do.
    """

    def timed(*kinds: str) -> list[Pair]:
        every = [pair for kind in kinds for pair in families.get(kind, ())]
        return [pair for pair in every if verdicts[pair].obstacle.code != SHORT]

    # if all judged throughputs differ, their share of the level is free for the latencies;
    # so it is if no throughput is judged, because all() of nothing is True
    passed_on = share * all(
        verdicts[pair].verdict in DIFFERENT for pair in families.get("judged", ())
    )
    same = _latencies(timed("aa"), **method)
    found = _latencies(timed("judged", "rate"), share=SHARES["tails"] + passed_on, **method)
    noisy = {
        detail
        for of_pair in same.values()
        for detail, ratio in of_pair.items()
        if ratio.verdict in DIFFERENT
    }
    for pair, of_pair in found.items():
        of_all = verdicts[pair]
        for detail, ratio in of_pair.items():
            if of_all.verdict == "invalid" or detail in noisy:
                of_pair[detail] = replace(ratio, verdict="invalid")
            elif of_all.obstacle.code == BUSY:
                of_pair[detail] = replace(ratio, verdict="inconclusive")
    return same | found


def _latencies(
    pairs: Sequence[Pair], readers: Mapping[Detail, Reader], **method: Any
) -> dict[Pair, dict[Detail, JudgedRatio]]:
    """Compare latencies of the two runtimes or services in each pair: percentiles, and the means of
    routes.

    A ratio above 1 means less latency. The p values are corrected for all latencies of all pairs
    together. A percentile is missing if a cell of a block that counts has too few requests
    (Histogram.shown_percentile).
    readers: a function for each latency that reads it from a cell
    method: the arguments margin, looks and share of judge_family()
    """
    ratios = {
        (pair, detail): logs
        for pair in pairs
        for detail, read in readers.items()
        if not pair.gate
        and (logs := pair.log_ratios(read))
        and (detail not in PERCENTILES or logs.keys() == pair.ratios.keys())
    }
    found: dict[Pair, dict[Detail, JudgedRatio]] = {}
    for (pair, detail), judged in judge_family(ratios, **method).items():
        found.setdefault(pair, {})[detail] = JudgedRatio(
            ratio=judged.ratio,
            low=judged.low,
            high=judged.high,
            p=judged.p,
            verdict=judged.verdict,
        )
    return found


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
        "would be: {word} instead of {all}. Measure again when the machine is quiet",
        used=seen.used, most=MOST_BUSY, word=undisturbed.word, all=verdict.word,
    )  # fmt: skip
    # reports name the processes and their shares once for all comparisons
    short = message("other processes decide the verdict", code=BUSY)
    return replace(_changed(verdict, "inconclusive", why), obstacle=short)


def _withheld(pair: Pair, verdict: Verdict, not_judged: Message) -> Verdict:
    """Withdraw *verdict* if throughput is not judged, or if an arm was not timed for long enough at
    each setting.
    """
    needed = max(
        blocks_to_time([*cells.values()]) for single in pair.singles for cells in single.arms
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
        return _changed(verdict, "inconclusive", delay) if delay else verdict
    why = message(
        "one of the two compared measurements was timed for less than {least_s:g} s in total: use "
        "--blocks {blocks} or a longer --duration",
        code=SHORT, least_s=LEAST_TIMED_NS / 1e9, blocks=needed,
    )  # fmt: skip
    return _changed(verdict, "inconclusive", why, max(needed, verdict.blocks_needed or 0))


def _changed(verdict: Verdict, word: Word, why: Message, needed: int | None = None) -> Verdict:
    """Return *verdict* with another *word* and the obstacle that is the reason.

    needed: the number of blocks that remove the obstacle, or None
    """
    return replace(verdict, verdict=word, why=why, obstacle=why, blocks_needed=needed)
