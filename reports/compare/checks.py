"""What a threshold says of each compared cell, for tools of continuous integration. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.messages import Message, message
from reports.compare.runs import CellComparison, open_cells, slower_cells
from reports.compare.samples import cell_name
from reports.compare.section import time_text
from reports.document.model import interval
from reports.document.values import thousandths
from reports.facts.settings import varying_names
from reports.statistics.verdict import WORDS

Outcome = Literal["passed", "slower", "open"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One cell: what came out, and a sentence on it. outcome `open`: the threshold says nothing of it."""

    comparison: CellComparison
    name: Message
    outcome: Outcome
    sentence: Message


def checks(comparisons: Sequence[CellComparison], share: float | None) -> list[Check]:
    """A check for each. share: the threshold, 0.05 for 5 %; without one none fails."""
    slower = slower_cells(comparisons, share) if share is not None else []
    without = open_cells(comparisons) if share is not None else []
    names = varying_names(comparison.sample.params for comparison in comparisons)
    return [
        Check(
            comparison=comparison,
            name=cell_name(comparison.sample, names, comparison.sample.arm),
            outcome="slower" if comparison in slower else "open" if comparison in without else "passed",
            sentence=_sentence(comparison, comparison in without and comparison not in slower),
        )
        for comparison in comparisons
    ]


def _sentence(comparison: CellComparison, is_open: bool) -> Message:
    times = " -> ".join(time_text(time) for time in comparison.medians_fs)
    seen = comparison.verdict
    if is_open:
        why = comparison.open_why
        return message("no verdict to pass or fail by ({times}): {why}.", times=times, why=why)
    word, why = WORDS[seen.verdict], seen.why
    if seen.ratio is None:
        return message("{word}: {times}; {why}.", word=word, times=times, why=why)
    ratio = f"{seen.ratio:.3f}"
    if seen.low is not None and seen.high is not None:
        ratio = interval(seen.ratio, seen.low, seen.high, thousandths)
    return message("{word}: {times}, ratio {ratio}; {why}.", word=word, times=times, ratio=ratio, why=why)
