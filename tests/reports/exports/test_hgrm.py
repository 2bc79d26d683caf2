"""HdrHistogram's percentile files: its steps, from counts that one can check. Golden outputs have the layout."""

import pytest

from core.histogram import Histogram
from reports.exports.hgrm import steps

# The percentiles of wrk2's README, which HdrHistogram's C port printed for 39 500 requests.
FIRST_LEVELS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875, 0.8875, 0.9]


def histogram(counts_ns: dict[int, int]) -> Histogram:
    made = Histogram()
    for value_ns, count in counts_ns.items():
        for _ in range(count):
            made.record(value_ns)
    return made


def test_steps_are_those_of_hdrhistogram() -> None:
    every = [share for _, share, _ in steps(histogram({10: 9999, 200: 1}))]
    assert every[: len(FIRST_LEVELS)] == pytest.approx(FIRST_LEVELS)
    assert every[-1] == 1
    assert every == sorted(every)


def test_each_step_has_the_value_that_its_share_does_not_exceed_and_the_count_up_to_it() -> None:
    """100 values: 50 of 10, 30 of 20, 15 of 50, 4 of 100, 1 of 200; below 256 ns buckets are single values."""
    by_share = {
        round(share, 4): (value, count)
        for value, share, count in steps(histogram({10: 50, 20: 30, 50: 15, 100: 4, 200: 1}))
    }
    expected = {0.5: (10, 50), 0.55: (20, 80), 0.8: (20, 80), 0.825: (50, 95), 0.95: (50, 95), 0.9875: (100, 99)}
    assert {share: by_share[share] for share in expected} == expected
    assert by_share[1] == (200, 100)
