"""Fits against certified and published figures, laws without noise, and cases that must be refused."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.statistics.scaling import amdahl_fit, jain_index, line_fit, usl_fit

POWERS_OF_2 = (1, 2, 4, 8, 16, 32)

# SPEC SDM91 on a Sun SPARCcenter 2000, scripts per hour by load (Gunther 2007; data set specsdm91 of R's usl package).
SDM91 = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1828.9, 144: 1775.0, 216: 1702.2}

# NIST Statistical Reference Datasets, Norris: x, y.
NORRIS = """
0.2 0.1  337.4 338.8  118.2 118.1  884.6 888.0  10.1 9.2  226.5 228.1  666.3 668.5  996.3 998.5  448.6 449.1
777.0 778.9  558.2 559.2  0.4 0.3  0.6 0.1  775.5 778.1  666.9 668.8  338.0 339.3  447.5 448.9  11.6 10.8
556.0 557.7  228.1 228.3  995.8 998.0  887.6 888.8  120.2 119.6  0.3 0.3  0.3 0.6  556.8 557.6  339.1 339.3
887.2 888.0  999.0 998.5  779.0 778.9  11.1 10.2  118.3 117.6  229.2 228.9  669.1 668.4  448.9 449.2  0.5 0.2
"""


def usl(n: int, rate: float, sigma: float, kappa: float) -> float:
    return rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


@given(st.floats(0.1, 1e6), st.floats(0, 0.9), st.floats(1e-5, 0.05))
def test_usl_without_noise_gives_its_parameters_back(rate: float, sigma: float, kappa: float) -> None:
    fit = usl_fit({n: usl(n, rate, sigma, kappa) for n in POWERS_OF_2})
    assert fit.rate.value == pytest.approx(rate, rel=1e-6)
    assert fit.sigma.value == pytest.approx(sigma, abs=1e-6)
    assert fit.kappa.value == pytest.approx(kappa, abs=1e-7)


def test_peak_of_the_usl_by_hand() -> None:
    """sqrt((1 - 0.05) / 0.001) = 30.8."""
    peak = usl_fit({n: usl(n, 100, 0.05, 0.001) for n in POWERS_OF_2}).peak
    assert peak is not None
    assert peak.value == pytest.approx(sqrt(950))


def test_sdm91_peaks_where_the_published_fit_has_its_peak() -> None:
    """R's usl, least squares in throughput itself, has kappa 0.0001044 and hence a peak at 96.5."""
    fit = usl_fit(SDM91)
    assert fit.peak is not None
    assert fit.peak.low < 96.5 < fit.peak.high
    assert fit.kappa.low < 0.0001044 < fit.kappa.high


def test_no_peak_is_claimed_where_kappas_interval_includes_0() -> None:
    rng = np.random.default_rng(1)
    fit = usl_fit({n: usl(n, 100, 0.05, 0) * float(np.exp(0.03 * rng.standard_normal())) for n in POWERS_OF_2})
    assert fit.kappa.low <= 0 <= fit.kappa.high
    assert fit.peak is None


def test_no_peak_is_claimed_where_one_is_best() -> None:
    assert usl_fit({n: usl(n, 100, 1.0, 0.5) for n in POWERS_OF_2}).peak is None


def test_intervals_of_the_usl_hold_the_truth_in_about_95_percent_of_noisy_sweeps() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        noisy = {n: usl(n, 50, 0.08, 0.002) * float(np.exp(0.04 * rng.standard_normal())) for n in POWERS_OF_2}
        kappa = usl_fit(noisy).kappa
        held += kappa.low <= 0.002 <= kappa.high
    assert 180 <= held <= 198


def test_amdahl_without_noise_gives_its_serial_share_and_limit_back() -> None:
    fit = amdahl_fit({n: 10 * n / (1 + 0.25 * (n - 1)) for n in POWERS_OF_2})
    assert fit.serial.value == pytest.approx(0.25)
    assert fit.limit is not None
    assert fit.limit.value == pytest.approx(4)


def test_amdahl_claims_no_limit_where_the_serial_share_may_be_0() -> None:
    rng = np.random.default_rng(3)
    fit = amdahl_fit({n: 10 * n * float(np.exp(0.05 * rng.standard_normal())) for n in POWERS_OF_2})
    assert fit.serial.low <= 0
    assert fit.limit is None


@pytest.mark.parametrize("fit", [usl_fit, amdahl_fit])
def test_fewer_than_six_values_are_refused(fit: Callable[[dict[int, float]], object]) -> None:
    with pytest.raises(ValueError, match="5 values are too few for a scaling fit; sweep at least 6"):
        fit(dict.fromkeys(range(1, 6), 100.0))


@pytest.mark.parametrize("bad", [{0: 1.0}, {7: 0.0}, {7: -1.0}, {7: float("inf")}, {7: float("nan")}])
def test_values_that_no_throughput_has_are_refused(bad: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="throughput above 0"):
        usl_fit(dict.fromkeys(POWERS_OF_2, 1.0) | bad)


def test_a_sweep_that_says_nothing_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="sweep from 1"):
        usl_fit({n: usl(n, 100, 0.3, 0.02) * (1 + 0.05 * (-1) ** n) for n in (100, 121, 150, 181, 200, 251, 300)})


def test_line_has_the_slope_and_error_that_nist_certifies() -> None:
    numbers = [float(word) for word in NORRIS.split()]
    line = line_fit(zip(numbers[::2], numbers[1::2], strict=True))
    assert line.slope.count == 36
    assert line.slope.value == pytest.approx(1.00211681802045, rel=1e-12)
    assert line.intercept.value == pytest.approx(-0.262323073774029, rel=1e-9)
    assert line.slope.half_width == pytest.approx(2.032244509 * 0.429796848199937e-3, rel=1e-8)


@pytest.mark.parametrize("points", [[], [(0.0, 1.0), (1.0, 2.0)], [(5.0, 1.0), (5.0, 2.0), (5.0, 3.0)]])
def test_a_slope_takes_three_points_at_two_values(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="too few for a slope"):
        line_fit(points)


@pytest.mark.parametrize(("sharing", "of_all"), [(1, 10), (2, 10), (7, 10), (10, 10), (1, 1)])
def test_jain_index_is_k_over_n_where_k_of_n_share_evenly(sharing: int, of_all: int) -> None:
    """Jain, Chiu and Hawe (1984), section 3."""
    assert jain_index([8] * sharing + [0] * (of_all - sharing)) == pytest.approx(sharing / of_all)


def test_jain_index_by_hand() -> None:
    """(1 + 2 + 3)**2 / (3 * (1 + 4 + 9)) = 36 / 42."""
    assert jain_index([1, 2, 3]) == pytest.approx(36 / 42)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30).filter(any), st.integers(1, 10**9))
def test_jain_index_lies_between_1_over_n_and_1_whatever_the_unit(shares: list[int], unit: int) -> None:
    index = jain_index(shares)
    assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9
    assert jain_index([unit * share for share in shares]) == pytest.approx(index)


@pytest.mark.parametrize("shares", [[], [0, 0], [1, -1]])
def test_jain_index_refuses_what_is_not_shared(shares: list[int]) -> None:
    with pytest.raises(ValueError, match="at least one must be above 0"):
        jain_index(shares)
