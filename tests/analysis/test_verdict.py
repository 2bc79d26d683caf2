"""The word, the reason and the blocks still needed, case by case; whole families, from log-ratios to verdicts."""

import json
import re
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.judging import Evidence, blocks_needed, judge, judge_family
from analysis.significance import Looks
from analysis.stats import Estimate
from core.messages import message
from record.comparison import Verdict
from record.run_file import plain
from tests.tables import each_row


@each_row
def test_faster_and_slower_take_both_the_interval_and_the_p(line: str) -> None:
    *numbers, blocks, word = line.split()
    low, ratio, high, p = map(float, numbers)
    effect = Estimate(value=log(ratio), low=log(low), high=log(high), count=int(blocks))
    assert judge(Evidence(effect=effect, p=p)).verdict == word


def test_blocks_needed_by_hand() -> None:
    """n (w / effect * (2.054 + 0.842) / 1.960)**2 = 30 * (1.5 * 1.4775)**2 = 147, a little less for t."""
    case = Evidence(effect=Estimate(value=0.1, low=-0.05, high=0.25, count=30), p=0.2, margin=0.01)
    assert blocks_needed(case) == pytest.approx(147, rel=0.1)


def test_too_small_an_effect_for_its_noise_needs_more_than_a_thousand_blocks() -> None:
    case = Evidence(effect=Estimate(value=0.015, low=-0.985, high=1.015, count=10), p=0.9)
    assert blocks_needed(case) is None
    assert str(judge(case).why).endswith("with this much noise, a verdict needs more than 1000 blocks")


# ---- families


def around(middle: float, seed: int, count: int) -> dict[int, float]:
    """Log-ratios of blocks with a standard deviation of 1 %."""
    return dict(enumerate((middle + 0.01 * np.random.default_rng(seed).standard_normal(count)).tolist()))


def test_three_blocks_are_never_faster_however_large_the_effect() -> None:
    verdict = judge_family({"a": {1: 1.0, 2: 1.01, 3: 1.02}})["a"]
    assert (verdict.verdict, verdict.p) == ("inconclusive", 0.25)
    assert (str(verdict.obstacle), verdict.blocks_needed) == ("no interval can be computed from 3 blocks", 10)


def test_ten_blocks_suffice_for_13_comparisons_and_not_for_52() -> None:
    values = around(0.5, 2, 10)
    assert {one.verdict for one in judge_family(dict.fromkeys(range(13), values)).values()} == {"faster"}
    of_52 = judge_family(dict.fromkeys(range(52), values))[0]
    assert of_52.verdict == "inconclusive"
    assert "with 10 blocks, p cannot be as low as 0.04 after correction for 52" in str(of_52.why)


def test_a_failed_gate_makes_a_comparison_invalid_and_shrinks_the_family() -> None:
    values, gate = around(0.1, 3, 8), message("the GIL came back on")
    verdicts = judge_family({"a": values, "b": values}, gates={"b": gate})
    assert verdicts["a"].p == 2**-7
    assert verdicts["b"] == Verdict(verdict="invalid", why=gate, obstacle=gate)


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(-0.5, 0.5), min_size=0, max_size=14), min_size=1, max_size=6))
def test_words_always_agree_with_their_numbers(rows: list[list[float]]) -> None:
    for verdict in judge_family({number: dict(enumerate(row)) for number, row in enumerate(rows)}).values():
        assert verdict.verdict != "faster" or (verdict.low or 0) > 1
        assert verdict.verdict != "slower" or (verdict.high or 2) < 1
        json.dumps(plain(verdict), allow_nan=False)
        asks = re.search(r"blocks are needed|a verdict needs more than 1000 blocks", str(verdict.why))
        assert bool(asks) == (verdict.verdict == "inconclusive")


def test_one_slow_process_in_five_is_not_equivalent() -> None:
    """Nothing is seen in the median of 20 blocks, and a fifth more time in all."""
    values = {block: 0.001 * (-1) ** block for block in range(20)}
    slow = {block: -0.22 + (0.2 if block % 5 else -0.7) for block in values}
    verdict = judge_family({"a": values}, totals={"a": slow})["a"]
    assert verdict.verdict == "inconclusive"
    assert "total times, 0.689 to 0.973, may differ by more" in str(verdict.why)


def test_equivalent_enters_the_family_too() -> None:
    """Seven blocks: each of the two one-sided tests has 1 of 128 patterns, too many for a family of 13."""
    values = {block: 0.001 * (-1) ** block for block in range(7)}
    assert judge_family({"a": values})["a"].verdict == "equivalent"
    assert {one.verdict for one in judge_family(dict.fromkeys(range(13), values)).values()} == {"inconclusive"}


@each_row
def test_looking_at_any_time_takes_eight_blocks_and_a_first_report_leaves_a_quarter_of_its_level(case: str) -> None:
    """Eight blocks that agree have an anytime p of 0.026. Five have a p of 0.06, and six one of 0.03."""
    count, first, word = case.split()
    blocks = dict.fromkeys(range(int(count)), 0.2)
    assert judge_family({0: blocks}, looks=Looks(is_anytime=True, first=int(first)))[0].verdict == word
