"""Is the last runtime of a run slower than the first by more than its plan allows? Pure."""

from collections.abc import Sequence

from reports.facts.comparisons import Comparison
from reports.facts.pairs import OVER_ALL
from reports.statistics.verdict import slower_beyond


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
