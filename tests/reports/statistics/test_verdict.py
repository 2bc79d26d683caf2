"""Whole families: from log-ratios and saved times to verdicts that fit result.json."""

import json
from time import process_time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.messages import NOTHING, message
from reports.statistics.evidence import Evidence
from reports.statistics.stats import Estimate
from reports.statistics.verdict import Verdict, judge, judge_family, slower_beyond


def blocks_of(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def noise(seed: int, count: int, scale: float) -> list[float]:
    return [scale * value for value in np.random.default_rng(seed).standard_normal(count)]


def test_three_blocks_are_never_faster_however_large_the_effect() -> None:
    verdict = judge_family({"a": blocks_of([1.0, 1.01, 1.02])})["a"]
    assert (verdict.verdict, verdict.p) == ("inconclusive", 0.25)
    assert (str(verdict.obstacle), verdict.blocks_needed) == ("3 blocks cannot give an interval", 6)


def test_ten_blocks_suffice_for_13_comparisons_and_not_for_52() -> None:
    values = blocks_of([0.5 + one for one in noise(2, 10, 0.01)])
    assert {one.verdict for one in judge_family(dict.fromkeys(range(13), values)).values()} == {"faster"}
    of_52 = judge_family(dict.fromkeys(range(52), values))[0]
    assert of_52.verdict == "inconclusive"
    assert "10 blocks cannot bring p to 0.04 adjusted for 52" in str(of_52.why)


def test_a_failed_gate_makes_a_comparison_invalid_and_shrinks_the_family() -> None:
    values = blocks_of([0.1 + one for one in noise(3, 8, 0.01)])
    gate = message("the GIL came back on")
    verdicts = judge_family({"a": values, "b": values}, gates={"b": gate})
    assert verdicts["a"].p == 2**-7
    assert verdicts["b"] == Verdict(ratio=None, low=None, high=None, p=None, verdict="invalid", why=gate, obstacle=gate)
    assert (verdicts["a"].obstacle, verdicts["a"].blocks_needed) == (NOTHING, None)


def test_one_block_has_a_ratio_and_no_interval_and_survives_strict_json() -> None:
    verdict = judge_family({"a": {4: 0.0}})["a"]
    assert (verdict.ratio, verdict.low, verdict.high) == (1.0, None, None)
    json.dumps(verdict.to_json(), allow_nan=False)


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(-0.5, 0.5), min_size=0, max_size=14), min_size=1, max_size=6))
def test_words_always_agree_with_their_numbers(rows: list[list[float]]) -> None:
    for verdict in judge_family(dict(enumerate(map(blocks_of, rows)))).values():
        assert verdict.verdict != "faster" or (verdict.low or 0) > 1
        assert verdict.verdict != "slower" or (verdict.high or 2) < 1
        assert ("blocks are needed" in str(verdict.why)) == (verdict.verdict == "inconclusive")


def test_one_slow_process_in_five_is_not_equivalent() -> None:
    """Nothing is seen in the median of 20 blocks, and a fifth more time in all."""
    values = {block: 0.001 * (-1) ** block for block in range(20)}
    slow = {block: -0.22 + (0.2 if block % 5 else -0.7) for block in values}
    verdict = judge_family({"a": values}, totals={"a": slow})["a"]
    assert verdict.verdict == "inconclusive"
    assert "total time" in str(verdict.why)


def test_equivalent_enters_the_family_too() -> None:
    """Seven blocks: each of the two one-sided tests has 1 of 128 patterns, too many for a family of 13."""
    values = {block: 0.001 * (-1) ** block for block in range(7)}
    assert judge_family({"a": values})["a"].verdict == "equivalent"
    assert {one.verdict for one in judge_family(dict.fromkeys(range(13), values)).values()} == {"inconclusive"}


def test_what_may_be_looked_at_any_time_takes_eight_blocks() -> None:
    values = [0.2 + one for one in noise(1, 8, 0.001)]
    words = [judge_family({"a": blocks_of(values[:count])}, anytime=True)["a"].verdict for count in (7, 8)]
    assert words == ["inconclusive", "faster"]


def test_slower_beyond_takes_the_whole_interval() -> None:
    wide = judge(Evidence(effect=Estimate(value=-0.2, low=-0.38, high=-0.02, count=20), p=0.01))
    assert wide.verdict == "slower"
    assert [slower_beyond(wide, share) for share in (0.01, 0.05)] == [True, False]


def test_a_whole_record_of_13_rows_4_arms_and_20_blocks_takes_under_5_seconds() -> None:
    family = {(row, step): blocks_of(noise(10 * row + step, 20, 0.05)) for row in range(13) for step in range(4)}
    started = process_time()
    assert len(judge_family(family)) == 52
    assert process_time() - started < 5
