"""Latency by percentile, worked out by hand."""

import pytest

from reports.sections.latency import curve, percentiles
from tests.reports.sample import histogram_of


def test_a_curve_ends_where_ten_requests_are_slower() -> None:
    points = curve(histogram_of(range(1000, 1_000_001, 1000)))
    assert list(points[0]) == pytest.approx([1, 1.0], rel=0.004)
    assert list(points[-1]) == pytest.approx([100, 990], rel=0.004)
    assert points == sorted(points)
    assert [y for _, y in points] == sorted(y for _, y in points)


def test_marks_are_the_nearest_rank_percentiles_that_the_count_bears() -> None:
    assert percentiles(histogram_of(range(1, 201))) == [(2.0, 0.1), (10.0, 0.18)]


@pytest.mark.parametrize("count", [0, 10])
def test_there_is_no_curve_of_ten_requests_or_fewer(count: int) -> None:
    assert curve(histogram_of(range(5, 5 + count))) == []
