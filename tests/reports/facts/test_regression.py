"""Is the last runtime slower than the first by more than a threshold, and what is left undecided?"""

from dataclasses import replace

import pytest

from reports.facts.comparisons import from_first_to_last, regressions
from reports.statistics.verdict import Word
from tests.reports.facts.timed_cells import compared, only, steady

ONE = only(steady("3.14", 1500) + steady("3.14t", 3000), ("3.14", "3.14t"))


@pytest.mark.parametrize(
    ("verdict", "low", "high", "outcome"),
    [
        ("slower", 0.90, 0.952, "slower"),  # 1 / 1.05 is 0.9524
        ("slower", 0.90, 0.953, "passed"),
        ("equivalent", 0.98, 1.01, "passed"),
        ("inconclusive", 0.953, 1.2, "passed"),
        ("inconclusive", 0.95, 1.2, "unclear"),
        ("invalid", None, None, "unclear"),
        ("unjudged", 0.8, 1.2, "unclear"),
    ],
)
def test_a_threshold_of_five_percent_more_time(
    verdict: Word, low: float | None, high: float | None, outcome: str
) -> None:
    slower, unclear = regressions([replace(ONE, verdict=verdict, low=low, high=high)], 0.05)
    assert ("slower" if slower else "unclear" if unclear else "passed") == outcome


def test_few_blocks_have_a_range_and_leave_it_unclear() -> None:
    assert regressions([replace(ONE, verdict="inconclusive", low=0.99, high=1.01, blocks=3)], 0.05)[1]


def test_of_three_runtimes_the_first_and_the_last_are_compared() -> None:
    cells = [cell for name, time in (("3.11", 1000), ("3.14", 500), ("3.14t", 2000)) for cell in steady(name, time)]
    chosen = from_first_to_last(compared(cells, ("3.11", "3.14", "3.14t")))
    assert [(one.denominator, one.numerator) for one in chosen] == [("3.11", "3.14t")]
    assert [one.step for one in from_first_to_last([ONE])] == ["other"]
