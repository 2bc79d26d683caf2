"""When a run may end, and whether a runtime is slower than a plan allows, by the comparisons of the
run. record/comparison.py explains the fields of a comparison, such as its step and tails.

lab/run/experiment.py asks is_enough() after each block, and whether there is hope; so does
analysis/capacity_search.py of each arm. commands/running.py fails a run by its
regressions (fail_if_slower), and reports/ shows how many blocks to add. Each call compares the run
anew, with p values that allow for such looks (analysis/significance.py: Looks).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf

from analysis.comparing import compare
from analysis.comparison_words import Comparison, answering
from analysis.judging import MOST_DOZENS, slower_beyond
from analysis.pair_verdicts import SHORT
from analysis.significance import SHARES, fewest_blocks_anytime
from record.comparison import DECIDED, Verdict
from record.saved_plan import Until
from record.saved_run import CellResult, Run

HOPELESS = 2  # blocks without one right answer, after which a run ends


def is_enough(run: Run, until: Until, spent_ns: int) -> bool:
    """Return whether a run can end: by its time, by verdicts on all comparisons, or by narrow
    confidence intervals.
    """
    blocks = Counter(cell.block for cell in run.cells)
    share = blocks[max(blocks, default=1)] / (len(run.cells) or 1)  # of the last block
    if until.seconds and spent_ns * (1 + share) > until.seconds * 1e9:  # with another block
        return True
    return (until.verdict and is_decided(run)) or (bool(until.width) and widest(run) <= until.width)


def is_hopeless(cells: Sequence[CellResult]) -> bool:
    """Return whether all of these measurements failed, in at least HOPELESS blocks, and each had
    answers, of which none was right. One without any answer may have been killed, and the next one
    may succeed.
    """
    blocks = {cell.block for cell in cells}
    return len(blocks) >= HOPELESS and not any(map(is_hopeful, cells))


def is_hopeful(cell: CellResult) -> bool:
    """Return whether a measurement did not fail, or had a right answer, or no answer at all."""
    # errors count requests without an answer, too
    of_answers = max(0, sum(cell.errors.values()) - (cell.requests - cell.answered))
    has_right = cell.answered > cell.wrong + of_answers
    return cell.status != "failed" or not cell.answered or has_right


def widest(run: Run) -> float:
    """Return the width of the widest interval of a comparison of runtimes, as a share of the
    comparison's ratio.

    Infinite if a step cannot have a verdict yet, because it has no interval or too few blocks for a
    small enough p, or if nothing is compared. Invalid comparisons do not count, because more blocks
    would not help; 0 if all are invalid. Means over all settings take part in the correction for
    several comparisons, but their width is not waited for.
    """
    claims = _claims(run)
    family = [
        (one, judged) for one in claims for judged in one.judged if judged.verdict != "invalid"
    ]
    fewest = fewest_blocks_anytime(max(1, len(family)) / SHARES["throughput"])
    widths = [_width(judged, one, fewest) for one, judged in family if not one.is_over_all]
    return max(widths, default=0.0) if claims else inf


def _width(judged: Verdict, one: Comparison, fewest: int) -> float:
    """Return the width of an interval as a share of its ratio; infinite if there is none, or too
    few blocks.
    """
    if one.blocks < fewest or one.obstacle.code == SHORT or not judged.ratio:
        return inf
    return (
        (judged.high - judged.low) / judged.ratio if judged.low is not None and judged.high else inf
    )


def is_decided(run: Run) -> bool:
    """Return whether every comparison has a verdict or is invalid. Return False if there are no
    comparisons.
    """
    words = [judged.verdict for comparison in _claims(run) for judged in comparison.judged]
    return bool(words) and "inconclusive" not in words


def _claims(run: Run) -> list[Comparison]:
    """Return the comparisons for which the plan asks for a verdict, without A/A comparisons."""
    return [
        one for one in compare(run) if one.step != "aa" and (one.verdict != "unjudged" or one.tails)
    ]


def from_first_to_last(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of the last runtime with the first, one at each setting; if there are
    none, all others.

    A/A comparisons and comparisons over all settings are left out.
    """
    of_settings = [one for one in comparisons if not one.is_over_all and one.step != "aa"]
    return [one for one in of_settings if one.step == "whole"] or of_settings


def regressions(
    comparisons: Sequence[Comparison], share: float
) -> tuple[list[Comparison], list[Comparison]]:
    """Return the comparisons that are slower by more than *share*, and those that are undecided.

    share: 0.05 for 5 % more time; the whole interval must lie beyond it
    A comparison without a verdict counts as decided if its interval excludes so large a difference.
    """
    slower, unclear = [], []
    for one in comparisons:
        if any(slower_beyond(judged, share) for judged in one.judged):
            slower.append(one)
        if any(_is_unclear(judged, one, share) for judged in one.judged):
            unclear.append(one)
    return slower, unclear


def _is_unclear(judged: Verdict, one: Comparison, share: float) -> bool:
    """Return whether a verdict of a comparison is missing, and its interval includes more than
    *share* more time.
    """
    has_verdict = judged.verdict in DECIDED
    return not has_verdict and (one.is_range or (judged.low or 0) < 1 / (1 + share))


def more_blocks(compared: Iterable[Comparison]) -> list[int]:
    """Return the numbers of additional blocks that comparisons need for a verdict, except those
    of a runtime with itself (A/A).
    """
    return [
        one.blocks_needed - one.blocks for one in compared if one.blocks_needed and one.step != "aa"
    ]


def blocks_to_add(compared: Sequence[Comparison]) -> int:
    """Return how many blocks to measure next, for all verdicts that need at most MOST_DOZENS; 0 if
    there are none.
    """
    undecided = (one for one in answering(compared) if one.verdict == "inconclusive" and one.ratio)
    return max((more for more in more_blocks(undecided) if more <= MOST_DOZENS), default=0)
