"""Latency by percentile, worked out by hand."""

from dataclasses import replace

import pytest

from reports.sections.latency import curve, percentiles, section
from reports.view import View
from tests.analysis.timed_cells import steady
from tests.reports.sample import histogram_of, run_of


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


def test_the_columns_below_the_curves_have_their_unit() -> None:
    """Other tables of the page have ms, and the title of this one is shown nowhere."""
    cells = [replace(cell, latency=histogram_of(range(1000, 101_000, 1000))) for cell in steady("3.14", 2000)]
    (figure,) = section(View(run_of(cells))).figures
    assert figure.table
    assert [str(column.head) for column in figure.table.columns[1:3]] == ["p50 [us]", "p90 [us]"]
