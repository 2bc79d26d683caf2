"""What a threshold says of each compared cell, for tools of continuous integration. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reports.compare.runs import CellComparison, open_cells, slower_cells
from reports.compare.samples import cell_text, varying
from reports.compare.text import time_text

Outcome = Literal["passed", "slower", "open"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One cell: what came out, and a sentence on it. outcome `open`: the threshold says nothing of it."""

    comparison: CellComparison
    name: str
    outcome: Outcome
    sentence: str


def checks(comparisons: Sequence[CellComparison], share: float | None) -> list[Check]:
    """A check for each. share: the threshold, 0.05 for 5 %; without one none fails."""
    slower = slower_cells(comparisons, share) if share is not None else []
    without = open_cells(comparisons) if share is not None else []
    names = varying(one.sample for one in comparisons)
    return [
        Check(
            comparison=one,
            name=cell_text(one.sample, names, one.sample.arm),
            outcome="slower" if one in slower else "open" if one in without else "passed",
            sentence=_sentence(one, one in without and one not in slower),
        )
        for one in comparisons
    ]


def _sentence(one: CellComparison, is_open: bool) -> str:
    times = " -> ".join(time_text(time) for time in one.medians_fs)
    if is_open:
        return f"no verdict to pass or fail by ({times}): {one.open_why.rstrip('.')}."
    seen = one.verdict
    ratio = "" if seen.ratio is None else f", ratio {seen.ratio:.3f}"
    span = "" if seen.low is None else f" [{seen.low:.3f}, {seen.high:.3f}]"
    return f"{seen.verdict}: {times}{ratio}{span}; {seen.why}."
