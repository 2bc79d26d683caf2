"""Latency by percentile as points of a curve, HDR style: every further nine is as far as the one before. Pure."""

from collections.abc import Sequence
from math import sqrt

from core.histogram import Histogram, bounds_ns

SLOWER_REQUESTS = 10
POINTS_PER_NINE = 60


def curve(latency: Histogram) -> list[tuple[float, float]]:
    """Return points (1 / (1 - share), latency in us), from the fastest request to the last percentile of the count.

    That is where SLOWER_REQUESTS are slower: a p999 needs 10 000 samples, as everywhere in a report.
    """
    count = latency.count
    furthest = count / SLOWER_REQUESTS
    if furthest <= 1:
        return []
    points: list[tuple[float, float]] = []
    left = count
    for bucket, number in latency.filled():
        low, high = bounds_ns(bucket)
        value_us = min(max((low + high - 1) // 2, latency.min_ns), latency.max_ns) / 1e3
        points.append((min(count / left, furthest), value_us))
        left -= number
        if left <= SLOWER_REQUESTS:
            break
        points.append((count / left, value_us))
    return sorted([*_thinned(points), *percentiles(latency), (furthest, points[-1][1])])


def percentiles(latency: Histogram) -> list[tuple[float, float]]:
    """Return the points of a curve at 50, 90, 99, ... %."""
    furthest = latency.count / SLOWER_REQUESTS
    places = [2.0, *(10.0**nines for nines in range(1, 10))]
    return [(place, latency.quantile(1 - 1 / place) / 1e3) for place in places if place <= furthest]


def deviation_ns(latency: Histogram) -> float:
    """Return the standard deviation of the recorded values, each taken as the middle of its bucket."""
    mean_ns = latency.total_ns / latency.count
    squares = sum(number * ((sum(bounds_ns(bucket)) - 1) / 2 - mean_ns) ** 2 for bucket, number in latency.filled())
    return sqrt(squares / latency.count)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first point, and of the others no more than a drawing can show."""
    kept = [points[0]]
    step = 10 ** (1 / POINTS_PER_NINE)
    for point in points[1:]:
        if point[0] >= kept[-1][0] * step or point[1] >= kept[-1][1] * 1.1:
            kept.append(point)
    return kept
