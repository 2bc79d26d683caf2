"""Latency by percentile as points of a curve, HDR style: every further nine is as far as the one before. Pure."""

from collections.abc import Sequence
from math import sqrt

from core.histogram import Histogram, bounds_ns

SLOWER_REQUESTS = 10
POINTS_PER_NINE = 60


def curve(latency: Histogram) -> list[tuple[float, float]]:
    """Points (1 / (1 - share), latency in us), from the fastest request to the last percentile that the count bears.

    That is where SLOWER_REQUESTS are slower: a p999 needs 10 000 samples, as everywhere in a report.
    """
    count = latency.count
    furthest = count / SLOWER_REQUESTS
    if furthest <= 1:
        return []
    points: list[tuple[float, float]] = []
    seen = 0
    for bucket, number in latency.filled():
        value_us = _middle_ns(bucket, latency) / 1e3
        points.append((min(count / (count - seen), furthest), value_us))
        seen += number
        if seen >= count - SLOWER_REQUESTS:
            return sorted([*_thinned(points), *percentiles(latency), (furthest, value_us)])
        points.append((count / (count - seen), value_us))
    raise AssertionError("the counts sum to less than their count")


def percentiles(latency: Histogram) -> list[tuple[float, float]]:
    """The points of a curve at 50, 90, 99, ... %."""
    furthest = latency.count / SLOWER_REQUESTS
    places = [2.0, *(10.0**nines for nines in range(1, 10))]
    return [(place, latency.quantile(1 - 1 / place) / 1e3) for place in places if place <= furthest]


def deviation_ns(latency: Histogram) -> float:
    """Standard deviation of the recorded values, each taken as the middle of its bucket."""
    mean_ns = latency.total_ns / latency.count
    squares = sum(number * ((sum(bounds_ns(bucket)) - 1) / 2 - mean_ns) ** 2 for bucket, number in latency.filled())
    return sqrt(squares / latency.count)


def _middle_ns(bucket: int, latency: Histogram) -> int:
    low, high = bounds_ns(bucket)
    return min(max((low + high - 1) // 2, latency.min_ns), latency.max_ns)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The first point, and of the others no more than a drawing can show."""
    kept = [points[0]]
    step = 10 ** (1 / POINTS_PER_NINE)
    for point in points[1:]:
        if point[0] >= kept[-1][0] * step or point[1] >= kept[-1][1] * 1.1:
            kept.append(point)
    return kept
