"""Buckets by hand, and quantiles against exact nearest-rank values of the sorted data."""

import json
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.histogram import RELATIVE_ERROR, Histogram, bounds_ns, bucket_of
from tests.reports.sample import histogram_of
from tests.tables import each_row

LIMIT_NS = 2**42
LATENCIES = st.integers(0, LIMIT_NS - 1) | st.integers(0, 300) | st.integers(20_000, 100_000)
SAMPLES = st.lists(LATENCIES, min_size=1, max_size=200)
PER_MILLE = st.integers(0, 1000)
PERCENTILES = {"p50_ns": 1, "p90_ns": 10, "p99_ns": 100, "p999_ns": 10_000}


def nearest_rank(values: Iterable[int], per_mille: int) -> int:
    """The smallest value that at least per_mille/1000 of *values* do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * per_mille // 1000) - 1)]


@each_row
def test_a_value_has_the_bucket_that_was_worked_out_by_hand(line: str) -> None:
    value_ns, bucket, *bounds = map(int, line.split())
    assert bucket_of(value_ns) == bucket
    assert bounds_ns(bucket) == tuple(bounds)


def test_buckets_follow_each_other_without_gap_or_overlap_and_are_narrow() -> None:
    assert RELATIVE_ERROR <= 0.01
    bounds = [bounds_ns(bucket) for bucket in range(4608)]
    assert (bounds[0][0], bounds[-1][1]) == (0, LIMIT_NS)
    assert all(this[1] == following[0] for this, following in pairwise(bounds))


@each_row
def test_a_rank_is_not_off_by_one_where_the_share_has_no_exact_float(percent: int) -> None:
    assert histogram_of(range(1, 101)).quantile(percent / 100) == percent


@given(SAMPLES, PER_MILLE)
def test_a_quantile_is_within_the_relative_error_of_the_exact_one(values: list[int], per_mille: int) -> None:
    exact = nearest_rank(values, per_mille)
    assert abs(histogram_of(values).quantile(per_mille / 1000) - exact) <= RELATIVE_ERROR * exact


def test_nothing_has_a_count_of_zero_and_no_quantile() -> None:
    assert set(Histogram().to_json()) == {"count", "histogram"}
    assert Histogram().to_json()["count"] == 0
    with pytest.raises(ValueError, match="empty"):
        Histogram().quantile(0.5)


def test_a_value_over_the_limit_is_refused_and_leaves_no_trace() -> None:
    histogram = histogram_of([5])
    with pytest.raises(IndexError):
        histogram.record(LIMIT_NS)
    assert histogram.to_json() == histogram_of([5]).to_json()


@given(SAMPLES)
def test_count_minimum_mean_and_maximum_are_exact(values: list[int]) -> None:
    exact = {"count": len(values), "min_ns": min(values), "mean_ns": sum(values) // len(values), "max_ns": max(values)}
    assert histogram_of(values).to_json().items() >= exact.items()


@given(st.lists(st.lists(LATENCIES, max_size=50), max_size=4))
def test_merging_equals_recording_all_in_one(parts: list[list[int]]) -> None:
    merged, others = Histogram(), list(map(histogram_of, parts))
    for other in others:
        merged.merge(other)
    assert [other.to_json() for other in others] == [histogram_of(part).to_json() for part in parts]
    assert merged.to_json() == histogram_of(value for part in parts for value in part).to_json()


@given(st.lists(LATENCIES, max_size=50), LATENCIES)
def test_a_histogram_comes_back_from_json_and_can_go_on(values: list[int], more: int) -> None:
    back = Histogram.from_json(json.loads(json.dumps(histogram_of(values).to_json())))
    assert back.to_json() == histogram_of(values).to_json()
    back.record(more)
    assert back.to_json() == histogram_of([*values, more]).to_json()


@pytest.mark.parametrize(("name", "needed"), PERCENTILES.items())
def test_a_percentile_is_given_from_as_many_samples_as_make_it_one(name: str, needed: int) -> None:
    assert name not in histogram_of([1000] * (needed - 1)).to_json()
    assert histogram_of([1000] * needed).to_json()[name] == 1000


@pytest.mark.parametrize(("name", "shown"), {"p50": 20, "p90": 100, "p99": 1000, "p999": 10_000}.items())
def test_a_percentile_is_shown_from_as_many_samples_as_leave_ten_beyond_it(name: str, shown: int) -> None:
    assert shown >= PERCENTILES[f"{name}_ns"]  # whatever is shown is in the file, too
    assert histogram_of([1000] * (shown - 1)).shown_percentile(name) is None
    assert histogram_of([1000] * shown).shown_percentile(name) == 1000
