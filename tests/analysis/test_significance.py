"""p values against Fisher's count by hand, full enumeration and properties that must hold."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.significance import (
    ALPHA,
    EXACT_UP_TO,
    anytime_p,
    dependence,
    depends,
    fewest_blocks,
    fewest_blocks_unpaired,
    holm,
    outside_p,
    sign_flip_p,
    sum_flip_p,
    unpaired_p,
)
from tests.tables import each_row

# Darwin's maize: cross- minus self-fertilised height of 15 pairs, in eighths of an inch (Fisher 1935, section 17).
DARWIN = "49 -67 8 16 6 23 28 41 14 29 56 24 75 60 -48"

tenths = st.integers(-20, 20).map(lambda number: number / 10)


def test_darwins_maize_gives_the_count_that_fisher_made_by_hand() -> None:
    """Section 21: 863 of 32 768 arrangements have a sum of 314 or more, so 1726 one as far from 0."""
    assert sum_flip_p(np.array(DARWIN.split(), dtype=np.float64)) == 1726 / 32768


@given(st.lists(tenths, min_size=1, max_size=9))
def test_counting_by_halves_gives_what_trying_every_pattern_gives(scores: list[float]) -> None:
    signs = np.array([*product((1, -1), repeat=len(scores))])
    as_far = abs(signs @ scores) >= abs(sum(scores)) - 1e-9
    assert sum_flip_p(np.array(scores)) == pytest.approx(as_far.mean())


@given(st.lists(tenths, min_size=1, max_size=12))
def test_p_is_the_same_for_either_direction_and_never_below_its_floor(values: list[float]) -> None:
    p = sign_flip_p(values)
    assert p == sign_flip_p([-value for value in values])
    assert 2.0 ** (1 - len(values)) <= p <= 1


def test_drawn_signs_agree_with_the_exact_p_and_are_the_same_for_the_same_seed() -> None:
    values = np.random.default_rng(2).standard_normal(EXACT_UP_TO) + 0.35
    exact = sign_flip_p(values)
    more = [*values, 1e-9]
    drawn = sign_flip_p(more, seed=5)
    assert drawn == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)
    assert drawn == sign_flip_p(more, seed=5) != sign_flip_p(more, seed=6)


def test_one_stalled_run_does_not_hide_an_effect() -> None:
    steady = [0.05, 0.06, 0.04, 0.05, 0.07, 0.05, 0.06, 0.04, 0.05]
    assert sign_flip_p([*steady, -2.0]) < 0.05 < sum_flip_p(np.array([*steady, -2.0]))


@each_row
def test_holm_by_hand(line: str) -> None:
    """In the first: 0.005 x 4, 0.01 x 3, 0.03 x 2, then as the one before."""
    ps, adjusted = ([*map(float, words.split())] for words in line.split("->"))
    assert holm(ps) == pytest.approx(adjusted)


def test_two_runs_quite_apart_have_the_p_of_one_deal_and_its_mirror() -> None:
    """There are 20, 70 and 252 ways to deal 6, 8 and 10 blocks to two runs."""
    seen = [unpaired_p(range(2000, 2000 + blocks), range(1000, 1000 + blocks)) for blocks in (3, 4, 5)]
    assert seen == pytest.approx([2 / 20, 2 / 70, 2 / 252])


def test_fewest_blocks_by_hand() -> None:
    """2 of 64 patterns of signs are 3.1 %, and 18 times 2 of the 924 ways to deal 12 blocks are 3.9 %."""
    assert fewest_blocks(1) == 6
    assert [fewest_blocks_unpaired(family) for family in (1, 18, 19)] == [6, 6, 7]


def test_what_is_seen_of_a_bet_is_kept_however_the_blocks_go_on() -> None:
    gained = anytime_p([0.1] * 10)
    assert anytime_p([0.1] * 10 + [-0.1] * 10) == gained < ALPHA
    assert anytime_p([-0.1] * 10) == pytest.approx(gained)
    assert anytime_p([-0.1] * 10, one_sided=True) == 1


def test_by_looking_after_every_block_alike_arms_are_seen_to_differ_no_more_often_than_it_says() -> None:
    """400 runs of 60 blocks: 16 are 4 %, and 27 are 3 standard errors more. Sign flips at each look find 17 %."""
    rng = np.random.default_rng(11)
    assert sum(anytime_p(rng.standard_t(3, 60)) <= ALPHA for _ in range(400)) <= 27


def test_a_difference_beyond_the_margin_is_what_the_larger_of_two_tests_leaves() -> None:
    """Six blocks at 0 inside 0.03: each side has all six signs alike, 1 of 64 patterns."""
    assert outside_p([0.001, -0.001] * 3, 0.03, sign_flip_p) == pytest.approx(2.0**-6)
    assert outside_p([0.04] * 6, 0.03, sign_flip_p) == 1


def p_of(values: list[float]) -> float | None:
    return dependence(dict(enumerate(values)))


def test_blocks_that_resemble_the_ones_before_them_are_seen() -> None:
    assert depends(p_of([0.0, 0.01, 0.02, 0.03, 0.3, 0.31, 0.32, 0.33, 0.02, 0.01, 0.0, 0.03]))


def test_independent_blocks_seem_dependent_in_5_percent_of_runs() -> None:
    chance = np.random.default_rng(2)
    seen = sum(depends(p_of(chance.standard_normal(20).tolist())) for _ in range(200))
    assert 3 <= seen <= 19  # 5 %, give or take three standard errors


def test_of_blocks_that_are_alike_or_too_few_nothing_is_seen() -> None:
    assert (p_of([0.5] * 10), p_of([0.1] * 7)) == (1.0, None)
