"""What slices say, with the truth known."""

from math import log

import numpy as np
import pytest

from reports.statistics.inside import Noise, design_for, noise_of, start_of
from reports.statistics.significance import ALPHA, sign_flip_p
from reports.statistics.stats import effect


def test_a_slow_start_is_found_with_its_length_and_its_cost() -> None:
    chance, profile = np.random.default_rng(1), np.ones(20)
    profile[:4] = 0.8
    starts = [start_of(chance.normal(1, 0.05, (12, 20)) * profile) for _ in range(50)]
    assert np.median([slices for slices, _ in starts]) == 4
    assert abs(np.mean([loss for _, loss in starts]) - 0.2 * 4 / 20) < 0.003


@pytest.mark.parametrize("slices", [4, 18])
def test_of_cells_that_run_evenly_hardly_one_in_twenty_is_said_to_start_unevenly(slices: int) -> None:
    chance = np.random.default_rng(2)
    assert sum(start_of(chance.normal(1, 0.05, (12, slices)))[0] > 0 for _ in range(200)) <= 10


def test_a_slow_first_slice_of_four_is_found() -> None:
    chance = np.random.default_rng(5)
    for _ in range(50):
        assert start_of(chance.normal(1, 0.05, (8, 4)) * [0.6, 1, 1, 1])[0] in (1, 2)


def test_cells_that_got_no_answers_later_have_no_steady_rate_and_so_no_start() -> None:
    assert start_of(np.array([[9.0, 1, 0, 0], [9.0, 1, 1, 1]])) == (0, 0.0)


def test_noise_is_divided_between_and_within_processes() -> None:
    chance = np.random.default_rng(3)
    parts = [chance.normal(0, 0.03, (20, 1)) + chance.normal(0, 0.04, (20, 4)) for _ in range(200)]
    noises = [noise_of(part, 2.0) for part in parts]
    assert np.mean([noise.between**2 for noise in noises]) == pytest.approx(0.03**2, rel=0.1)
    assert np.mean([noise.within**2 for noise in noises]) == pytest.approx(0.04**2 / 4, rel=0.1)
    assert np.mean([noise.sd(4) ** 2 for noise in noises]) == pytest.approx(0.03**2 + 0.04**2 / 8, rel=0.1)


def test_a_recommended_design_finds_the_difference_as_often_as_it_says() -> None:
    chance = np.random.default_rng(4)
    for between, family in ((0.0, 1), (0.03, 4), (2**0.5 * 0.03, 1)):
        noise = Noise(between=between, within=0.03)
        design = design_for(0.05, noise, cells=2, start_s=0.4, family=family)
        assert design
        runs = chance.normal(log(1.05), noise.sd(design.seconds), (200, design.blocks))
        assert np.mean([effect(run).low > 0 and family * sign_flip_p(run) <= ALPHA for run in runs]) >= 0.8
        assert design.spent_s == pytest.approx(design.blocks * 2 * (design.seconds + 0.4))
        assert family > 1 or design.spent_s < 180


def test_where_the_noise_is_hopeless_nothing_is_recommended() -> None:
    assert design_for(0.01, Noise(between=0.2, within=0.0), cells=2, start_s=0.4, family=1) is None
