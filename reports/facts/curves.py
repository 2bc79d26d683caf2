"""Latency by percentile as points of a curve, on the logarithmic scale of HdrHistogram: 90 %, 99 %, 99.9 %. Pure.

The place of a share of the requests is 1 / (1 - share): 50 % is at 2, 99 % at 100.
"""

from collections.abc import Sequence
from math import sqrt

from core.histogram import Histogram, bounds_ns

SLOWER_REQUESTS = 10
POINTS_PER_NINE = 60


def curve(latency: Histogram) -> list[tuple[float, float]]:
    """Return the curve's points (place on the axis, latency in us) up to the highest percentile that is reliable.

    The place of a percentile is 1 divided by the share of slower requests.
    A percentile is reliable if at least SLOWER_REQUESTS requests are slower: p999 needs 10,000 requests.
    """
    count = left = latency.count
    if count <= SLOWER_REQUESTS:
        return []
    points: list[tuple[float, float]] = []
    for bucket, number in latency.filled():
        value_us = min(max((sum(bounds_ns(bucket)) - 1) // 2, latency.min_ns), latency.max_ns) / 1e3
        points.append((count / max(left, SLOWER_REQUESTS), value_us))
        left -= number
        points.append((count / max(left, SLOWER_REQUESTS), value_us))
        if left <= SLOWER_REQUESTS:
            break
    return sorted([*_thinned(points[:-1]), *percentiles(latency), points[-1]])


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first point of a curve, and each later point that is visibly apart from the previous point."""
    kept = [points[0]]
    step = 10 ** (1 / POINTS_PER_NINE)
    for point in points[1:]:
        if point[0] >= kept[-1][0] * step or point[1] >= kept[-1][1] * 1.1:
            kept.append(point)
    return kept


def percentiles(latency: Histogram) -> list[tuple[float, float]]:
    """Return the points of a curve at 50 %, 90 %, 99 % and so on."""
    places = (2.0, *(10.0**nines for nines in range(1, 10)))
    return [(place, value_ns / 1e3) for place in places if (value_ns := percentile_ns(latency, place)) is not None]


def percentile_ns(latency: Histogram, place: float) -> int | None:
    """Return the latency in ns at a percentile; None if there are too few requests.

    place: 1 divided by the share of slower requests, so 2 is the percentile 50 and 100 is the percentile 99
    """
    return latency.quantile(1 - 1 / place) if place <= latency.count / SLOWER_REQUESTS else None


def deviation_ns(latency: Histogram) -> float:
    """Return the standard deviation of the latencies, in ns. Each value counts as the middle of its bucket."""
    mean_ns = latency.total_ns / latency.count
    squares = sum(number * ((sum(bounds_ns(bucket)) - 1) / 2 - mean_ns) ** 2 for bucket, number in latency.filled())
    return sqrt(squares / latency.count)
