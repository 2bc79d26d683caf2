"""Slopes against certified figures, and cases that must be refused."""

import pytest

from reports.statistics.scaling import line_fit

# NIST Statistical Reference Datasets, Norris: x, y.
NORRIS = """
0.2 0.1  337.4 338.8  118.2 118.1  884.6 888.0  10.1 9.2  226.5 228.1  666.3 668.5  996.3 998.5  448.6 449.1
777.0 778.9  558.2 559.2  0.4 0.3  0.6 0.1  775.5 778.1  666.9 668.8  338.0 339.3  447.5 448.9  11.6 10.8
556.0 557.7  228.1 228.3  995.8 998.0  887.6 888.8  120.2 119.6  0.3 0.3  0.3 0.6  556.8 557.6  339.1 339.3
887.2 888.0  999.0 998.5  779.0 778.9  11.1 10.2  118.3 117.6  229.2 228.9  669.1 668.4  448.9 449.2  0.5 0.2
"""


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
