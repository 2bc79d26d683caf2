"""The word, the reason and the blocks still needed, case by case."""

from math import log, nan

import pytest

from reports.statistics.evidence import Evidence, blocks_needed, obstacle, why_for, word_for
from reports.statistics.stats import Estimate


def seen(low: float, ratio: float, high: float, *, count: int = 20) -> Estimate:
    return Estimate(value=log(ratio), low=log(low), high=log(high), count=count)


def evidence(low: float, ratio: float, high: float, *, p: float = 0.001, count: int = 20) -> Evidence:
    return Evidence(effect=seen(low, ratio, high, count=count), p=p)


@pytest.mark.parametrize(
    ("case", "word"),
    [
        (evidence(1.09, 1.12, 1.15), "faster"),
        (evidence(0.85, 0.89, 0.92), "slower"),
        (evidence(0.99, 1.00, 1.02, p=0.8), "equivalent"),
        (evidence(1.01, 1.02, 1.025), "equivalent"),
        (evidence(0.97, 1.08, 1.20, p=0.2), "inconclusive"),
        (evidence(1.01, 1.08, 1.20, p=0.06), "inconclusive"),
        (evidence(0.97, 1.08, 1.20, p=0.01), "inconclusive"),
        # The margin is a ratio: 3 % is 1/1.03 to 1.03, so that swapping the arms cannot change the word.
        (evidence(1 / 1.0299, 1.0, 1.0299, p=1), "equivalent"),
        (evidence(0.9701, 1.0, 1.0299, p=1), "inconclusive"),
        # The range of five blocks is no interval.
        (evidence(1.5, 1.6, 1.7, count=5), "inconclusive"),
        (evidence(1.0, 1.0, 1.0, p=1, count=5), "inconclusive"),
    ],
)
def test_faster_and_slower_take_both_the_interval_and_the_p(case: Evidence, word: str) -> None:
    assert word_for(case) == word


def test_reason_of_equivalent_says_when_a_smaller_difference_is_there() -> None:
    assert str(why_for("equivalent", evidence(0.99, 1.0, 1.02, p=0.9))) == "the interval 0.99 to 1.02 lies within ±3 %"
    smaller = "there is a smaller difference (p is 0.001)"
    assert str(why_for("equivalent", evidence(1.01, 1.02, 1.025))).endswith(smaller)


def test_reason_of_inconclusive_says_which_of_interval_and_p_falls_short() -> None:
    assert "includes 1 and reaches beyond ±3 %" in str(obstacle(evidence(0.97, 1.08, 1.2, p=0.2)))
    assert "excludes 1, but p is 0.06, above 0.04" in str(obstacle(evidence(1.01, 1.08, 1.2, p=0.06)))


def test_blocks_needed_by_hand() -> None:
    """n (w / effect * (2.054 + 0.842) / 1.960)**2 = 30 * (1.5 * 1.4775)**2 = 147, a little less for t."""
    case = Evidence(effect=Estimate(value=0.1, low=-0.05, high=0.25, count=30), p=0.2, margin=0.01)
    assert blocks_needed(case) == pytest.approx(147, rel=0.1)


def test_an_effect_in_the_middle_of_the_margin_is_soonest_shown_equivalent() -> None:
    near, far = (Estimate(value=v, low=v - 0.04, high=v + 0.04, count=10) for v in (0.0, 0.028))
    assert (blocks_needed(Evidence(effect=near, p=1)) or 0) < (blocks_needed(Evidence(effect=far, p=0.3)) or 0)


def test_too_small_an_effect_for_its_noise_needs_more_than_a_thousand_blocks() -> None:
    case = Evidence(effect=Estimate(value=0.015, low=-0.985, high=1.015, count=10), p=0.9)
    assert blocks_needed(case) is None
    assert str(why_for("inconclusive", case)).endswith("at this spread more than 1000 blocks are needed")


def test_equivalent_takes_total_time_as_well_as_the_median() -> None:
    inside, beyond = seen(0.99, 1.0, 1.01), seen(0.8, 0.9, 0.99)
    alike, slower = (Evidence(effect=inside, total=total, p=0.5) for total in (inside, beyond))
    assert word_for(alike) == "equivalent"
    assert word_for(slower) == "inconclusive"
    assert "total time, 0.8 to 0.99, may not" in str(obstacle(slower))


def test_equivalent_takes_the_p_of_a_larger_difference_which_the_family_raises() -> None:
    case = Evidence(effect=seen(0.99, 1.0, 1.01), p=0.5, p_outside=0.05, family=13)
    assert word_for(case) == "inconclusive"
    assert "of a larger difference p is 0.05 adjusted for 13 comparisons, above 0.04" in str(obstacle(case))


@pytest.mark.parametrize(("p", "margin"), [(-0.1, 0.03), (1.1, 0.03), (nan, 0.03), (0.5, 0)])
def test_evidence_refuses_a_p_outside_0_to_1_and_a_margin_of_nothing(p: float, margin: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1" if margin else "for 3 %"):
        Evidence(effect=seen(1, 1.1, 1.2), p=p, margin=margin)
