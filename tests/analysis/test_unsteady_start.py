"""What slices say, with the truth known."""

import numpy as np
import pytest

from analysis.unsteady_start import start_of


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


def test_cells_that_got_no_answers_later_have_no_steady_rate_and_so_no_start() -> None:
    assert start_of(np.array([[9.0, 1, 0, 0], [9.0, 1, 1, 1]])) == (0, 0.0)
