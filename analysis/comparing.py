"""The comparisons between the runtimes of a run, with verdicts: at every setting, and over all
settings.

The values of swept parameters are compared under each runtime, in the same family.
The best settings of two runtimes for one workload are compared, too (analysis/choice.py).

compare() is the entry. It makes pairs of measurements (analysis/pairs.py), has them judged
(analysis/pair_verdicts.py), and adds to each verdict what explains or limits it: the factors of the
ratio, confounds and notes. reports/view.py calls compare() for a report, and analysis/decisions.py
between blocks. A ratio above 1 means that the numerator has more throughput, takes less time, or
uses more cores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp, isfinite

from analysis.cell_index import of_cells
from analysis.comparison_words import Comparison
from analysis.confounds import build_confounds, host_confounds, shape_confounds
from analysis.connections import connection_notes
from analysis.gates import background, cores_in_use, disturbances, full, median_saturation
from analysis.metrics import METRICS
from analysis.others import Others, others
from analysis.pair_verdicts import BUSY, Details, judge_pairs
from analysis.pairs import Pair, addresses, pairs
from analysis.significance import DEPENDENT, SHARES, dependence, depends
from analysis.stats import FEWEST_FOR_INTERVAL, Estimate, effect
from analysis.steps import OF_VALUES
from core.messages import Message, message, plural
from record.comparison import AllFactors, Factors, Key, RatioInterval, Verdict
from record.saved_run import CellResult, Run

UNCOUNTED = "uncounted"  # code of a note: some blocks do not count
# by key of AllFactors: the kinds of processes whose CPU time is added up
KINDS = {"both": ("service", "client"), "service": ("service",), "client": ("client",)}


def compare(run: Run) -> list[Comparison]:
    """Return all comparisons of a run: first A/A, whose p values are adjusted separately, then
    those of runtimes.
    """
    return compared_pairs(run, pairs(run))


def compared_pairs(
    run: Run, made: Sequence[Pair], share: float = SHARES["throughput"]
) -> list[Comparison]:
    """Return the comparison of each pair of *made*, those of A/A first.

    share: of the level of the report, for the verdicts on throughput
    """
    verdicts, details = judge_pairs(run, made, share)
    floors = {  # how far the interval of an A/A comparison extends from 1, as a share
        pair.setting.key: max(aa.high, 1 / aa.low) - 1
        for pair, aa in verdicts.items()
        if pair.step.name == "aa" and len(pair.ratios) >= FEWEST_FOR_INTERVAL
        if aa.low and aa.high
    }
    return [
        _comparison(run, pair, verdicts[pair], floors, details.get(pair, {}))
        for pair in sorted(made, key=lambda pair: pair.step.name != "aa")
    ]


def _comparison(
    run: Run,
    pair: Pair,
    verdict: Verdict,
    floors: Mapping[Key, float],
    details: Details,
) -> Comparison:
    cells, step, beside = pair.cells, pair.step, others(pair.cells)
    verdict = _beside_others(verdict, beside)
    below, above = ([*by_block.values()] for by_block in pair.arms)
    # a pair over all settings has no cells of its own, so these figures and its notes are empty
    used, in_use = median_saturation(cells, run), cores_in_use(above, run)
    differs = [
        *build_confounds(step, run.runtimes),
        *host_confounds(step, run),
        *shape_confounds(step, (below, above)),
    ]
    return Comparison(
        **vars(verdict),
        system=pair.setting.system,
        params=pair.setting.params,
        numerator=step.numerator,
        denominator=step.denominator,
        step=step.name,
        blocks=len(pair.ratios),
        # of two settings, the A/A of the numerator's
        noise_floor=floors.get([pair.setting, *pair.sides][-1].key),
        confounds=[] if step.name in ("aa", *OF_VALUES) else differs,
        notes=[*full(used, in_use, cells), *_notes(pair, run, verdict)],
        saturation=used,
        cores_in_use=in_use,
        disturbed=sum(bool(cell.disturbances) for cell in cells) / len(cells) if cells else None,
        others=beside.share if beside else None,
        is_beside_others=beside is not None and beside.is_busy,
        # those of the two arms if they differ, or else those that the pair covers
        settings=[*pair.sides] or [one.setting for one in pair.over],
        between_services=bool(addresses(run)),
        factors=factors(pair) if verdict.ratio is not None else AllFactors(),
        tails={name: ratio for (kind, name), ratio in details.items() if kind == "tails"},
        routes={name: ratio for (kind, name), ratio in details.items() if kind == "routes"},
        dependence=dependence(pair.ratios),
        trace=of_cells(
            cell for side in (0, 1) for one in pair.singles for cell in one.arms[side].values()
        ),
    )


def _beside_others(verdict: Verdict, seen: Others | None) -> Verdict:
    """Mention other processes in the reason of *verdict*, if they were busy and it does not yet."""
    is_told = verdict.verdict == "invalid" or verdict.obstacle.code == BUSY
    if not seen or not seen.is_busy or is_told:
        return verdict
    return replace(verdict, why=message("{why}; {others}", why=verdict.why, others=seen.marks))


def _notes(pair: Pair, run: Run, verdict: Verdict) -> list[Message]:
    """Return notes on what influenced the measurements of a pair, without the other processes if
    the reason of its *verdict* names them.
    """
    cells, seen = pair.cells, others(pair.cells)
    is_told = seen and (verdict.obstacle.code == BUSY or seen.marks in verdict.why.args.values())
    known = [seen.marks] if seen and is_told else []
    return [
        *_uncounted(pair),
        *(note for note in disturbances(cells) if note not in known),
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


# ---- factors -------------------------------------------------------------------------------------


def factors(pair: Pair) -> AllFactors:
    """Split the throughput ratio into two factors: the cores in use, and the CPU time per request.

    The factors are given for all processes, and for only the services and only the clients.
    cores_used:      ratio of the cores in use
    cpu_per_request: inverted ratio of CPU time per request; above 1, a request takes less CPU time
    The result is empty if any cell does not report its CPU time.
    """
    made: dict[str, Factors] = {}
    for side, kinds in KINDS.items():
        cpu = pair.log_ratios(partial(_cpu_ns, kinds))
        if cpu.keys() != pair.ratios.keys():
            return AllFactors()
        cores = {block: ratio - cpu[block] for block, ratio in pair.ratios.items()}
        seen = effect([*cores.values()]), effect([*cpu.values()])
        rest = effect([*pair.ratios.values()]).value - sum(estimate.value for estimate in seen)
        # two medians need not add up to the median of the sum, so each factor takes half of the
        # rest
        cores_used, cpu_per_request = (_interval(estimate, rest / 2) for estimate in seen)
        made[side] = Factors(cores_used=cores_used, cpu_per_request=cpu_per_request)
    return AllFactors(**made["both"], service=made["service"], client=made["client"])


def _interval(seen: Estimate, moved: float) -> RatioInterval:
    """Convert an estimate of a logarithm to one of the value itself, with its interval.

    moved: added to its value; the interval is widened to hold the sum
    """
    value = seen.value + moved
    ratio, low, high = exp(value), exp(min(seen.low, value)), exp(max(seen.high, value))
    return (
        RatioInterval(ratio=ratio, low=low, high=high)
        if isfinite(seen.half_width)
        else RatioInterval(ratio=ratio)
    )


def _cpu_ns(kinds: Sequence[str], cell: CellResult) -> float | None:
    """Return the CPU time per request of services, clients or both, in ns.

    None if it is unknown or 0 for any of them.
    """
    spent = [METRICS[f"{kind}_cpu_ns_per_request"].read(cell) for kind in kinds]
    return sum(ns or 0 for ns in spent) if all(spent) else None
