"""What clients count of their answers: a latency histogram with log-linear buckets, which has a
bounded relative error and one list access per recorded value, and the answers by time.

Each value below 2**(SUB_BITS+1) has its own bucket. Above that, every power of two is divided into
2**SUB_BITS equal buckets, so the width of a bucket is at most 1/128 = 0.78 % of its lower bound.
Quantiles report a bucket's midpoint, which is within RELATIVE_ERROR = 0.4 % of the exact
nearest-rank value. min, max and mean are exact.
Source of the layout: HdrHistogram (G. Tene), log-linear buckets.

Clients record into it in their timed loop, so record() must stay free of calls and allocations.
lab/run adds up the histograms of clients, and record/ saves them. native/contract has the same
layout. from_json() refuses another SUB_BITS, so a change of it makes saved runs unreadable.

Slices counts answers in slices of the host's monotonic clock. Such a slice is a period of 50 ms or
more. core.child.Slice is something else: the time in which a client sends.
"""

from collections import defaultdict
from collections.abc import Iterable
from math import ceil
from sys import intern
from typing import Any

from core.messages import Json

SUB_BITS = 7  # binary digits of a value after its first; record() has it as 7 and 8
RELATIVE_ERROR = 1 / 2 ** (SUB_BITS + 1)  # of a quantile, as a share of its exact value
TAIL_SHARE = 0.01  # of the sum of all latencies, not of the number of requests
_EXACT_BELOW = 1 << (SUB_BITS + 1)  # ns; each lower value has its own bucket
_VALUE_BITS = 42  # a latency is below 2**42 ns, which is 73 minutes
_EMPTY = 1 << 63  # min_ns without any latency
_BUCKETS = (_VALUE_BITS - SUB_BITS + 1) << SUB_BITS
# of each percentile: its share of the values; from how many values a histogram has it; and from how
# many it is shown and compared, so that ten of them lie beyond it
_PERCENTILES = {
    "p50": (0.50, 1, 20),
    "p90": (0.90, 10, 100),
    "p99": (0.99, 100, 1000),
    "p999": (0.999, 10_000, 10_000),
}


def bucket_of(value_ns: int) -> int:
    """Return the index of the bucket that holds *value_ns* (0 or more)."""
    if value_ns < _EXACT_BELOW:
        return value_ns
    shift = value_ns.bit_length() - (SUB_BITS + 1)
    return (shift << SUB_BITS) + (value_ns >> shift)


def bounds_ns(bucket: int) -> tuple[int, int]:
    """Return the lowest value of *bucket* and the lowest value of the next bucket, in ns."""
    if bucket < _EXACT_BELOW:
        return bucket, bucket + 1
    shift = (bucket >> SUB_BITS) - 1
    low = (bucket - (shift << SUB_BITS)) << shift
    return low, low + (1 << shift)


class Histogram:
    """A histogram of latencies in ns. It has no lock: each thread has its own, and they are merged
    after the join.
    """

    __slots__ = ("_counts", "max_ns", "min_ns", "total_ns")

    def __init__(self) -> None:
        self._counts = self._no_counts()
        self.total_ns = 0
        self.max_ns = 0
        self.min_ns = _EMPTY

    @staticmethod
    def _no_counts() -> Any:
        """Return a count of 0 for each bucket."""
        return [0] * _BUCKETS

    def record(self, value_ns: int) -> None:
        """Count one latency in ns, which must be below 2**42 (73 minutes). Raises IndexError above
        that.

        The body repeats bucket_of() with its constants, because a call would double the cost.
        """
        if value_ns < _EXACT_BELOW:
            self._counts[value_ns] += 1
        else:
            shift = value_ns.bit_length() - 8
            self._counts[(shift << 7) + (value_ns >> shift)] += 1
        self.total_ns += value_ns
        if value_ns > self.max_ns:
            self.max_ns = value_ns
        if value_ns < self.min_ns:
            self.min_ns = value_ns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def clear(self) -> None:
        """Remove all recorded latencies."""
        if self.min_ns != _EMPTY:
            self.__init__()  # type: ignore[misc]

    def merge(self, other: "Histogram") -> None:
        """Add the latencies of the histogram *other* to this histogram."""
        if other.min_ns == _EMPTY:
            return
        for bucket, number in other.filled():
            self._counts[bucket] += number
        self.total_ns += other.total_ns
        self.max_ns = max(self.max_ns, other.max_ns)
        self.min_ns = min(self.min_ns, other.min_ns)

    @property
    def count(self) -> int:
        """Return the number of recorded latencies."""
        return sum(self._counts)

    @property
    def mean_ns(self) -> int:
        """Return the mean of the recorded latencies in ns, rounded down; 0 if nothing was
        recorded.
        """
        return self.total_ns // (self.count or 1)

    @property
    def tail_ns(self) -> int:
        """Return the length of the longest requests that matter: longer ones have TAIL_SHARE of all
        latency at most.

        0 if nothing was recorded.
        """
        left_ns = self.total_ns * TAIL_SHARE
        for bucket, number in reversed([*self.filled()]):
            longest_ns = min(bounds_ns(bucket)[1] - 1, self.max_ns)
            left_ns -= number * longest_ns
            if left_ns < 0:
                return longest_ns
        return 0

    def filled(self) -> Iterable[tuple[int, int]]:
        """Yield (bucket, count) for every bucket that is not empty, lowest bucket first."""
        return ((bucket, count) for bucket, count in enumerate(self._counts) if count)

    def quantile(self, share: float) -> int:
        """Return the latency in ns that *share* of the requests did not exceed, within
        RELATIVE_ERROR.

        share: 0..1, not percent
        Raises ValueError if nothing was recorded or share is outside 0..1.
        Source: nearest-rank definition, docs/statistics.md.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}; it must lie between 0 and 1")
        count = self.count
        if not count:
            raise ValueError("an empty histogram has no quantiles")
        # rounded first, because 0.07 * 100 is a little more than 7
        rank = max(1, ceil(round(share * count, 9)))
        if rank == count:
            return self.max_ns
        seen = 0
        for bucket, number in self.filled():
            seen += number
            if seen >= rank:
                low, high = bounds_ns(bucket)
                return min(max((low + high - 1) // 2, self.min_ns), self.max_ns)
        raise AssertionError("the counts sum to less than their count")

    def percentile(self, name: str) -> int | None:
        """Return the latency of the percentile *name* in ns: p50, p90, p99 or p999. None if there
        are too few values.
        """
        share, needed, _ = _PERCENTILES[name]
        return self.quantile(share) if self.count >= needed else None

    def shown_percentile(self, name: str) -> int | None:
        """Return the percentile as tables show it and comparisons use it. None if fewer than ten
        values lie beyond it.
        """
        return self.percentile(name) if self.count >= _PERCENTILES[name][-1] else None

    def to_json(self) -> Any:
        """Return count, exact min, mean and max, each percentile for which there are enough values,
        and all buckets.
        """
        count = self.count
        summary: dict[str, Any] = {"count": count}
        if count:
            summary |= {"min_ns": self.min_ns, "mean_ns": self.mean_ns, "max_ns": self.max_ns}
        known = {f"{name}_ns": self.percentile(name) for name in _PERCENTILES}
        summary |= {name: value_ns for name, value_ns in known.items() if value_ns is not None}
        counts = {
            intern(str(bucket)): number for bucket, number in self.filled()
        }  # a run has many histograms
        summary["histogram"] = {"sub_bits": SUB_BITS, "total_ns": self.total_ns, "counts": counts}
        return summary

    @classmethod
    def from_json(cls, summary: Json) -> "Histogram":
        """Decode a histogram that to_json() encoded. Raises ValueError for another layout or
        contradictory numbers.
        """
        histogram = cls()
        for bucket, number in _checked_counts(summary).items():
            histogram._counts[bucket] = number
        if summary["count"]:
            histogram.total_ns = summary["histogram"]["total_ns"]
            histogram.min_ns, histogram.max_ns = summary["min_ns"], summary["max_ns"]
        return histogram


class SparseHistogram(Histogram):
    """A histogram that stores only the buckets with values. A client has one for each connection
    and request of its plan.
    """

    __slots__ = ()

    @staticmethod
    def _no_counts() -> defaultdict[int, int]:
        return defaultdict(int)

    @property
    def count(self) -> int:
        """Return the number of recorded latencies."""
        return sum(self._counts.values())

    def filled(self) -> Iterable[tuple[int, int]]:
        """Yield (bucket, count) for every bucket that is not empty, lowest bucket first."""
        return sorted(self._counts.items())


def _checked_counts(summary: Json) -> dict[int, int]:
    """Return the counts of a record.child_lines.Summary by bucket. Raises ValueError, with key and
    value, if its numbers contradict each other.
    """
    stored = summary.get("histogram", {})
    if stored.get("sub_bits") != SUB_BITS:
        raise ValueError(
            f"the histogram has sub_bits {stored.get('sub_bits')}; this version reads {SUB_BITS}"
        )
    for key in stored["counts"]:
        if not (key.isdecimal() and len(key) <= 4 and str(int(key)) == key and int(key) < _BUCKETS):
            raise ValueError(
                f"a bucket is {key[:40]!r}; buckets are numbers from 0 to {_BUCKETS - 1}"
            )
    counts = {int(key): number for key, number in stored["counts"].items() if number}
    held = sum(counts.values())
    if summary.get("count") != held:
        raise ValueError(f"count is {summary.get('count')}; its buckets hold {held}")
    if not held:
        return counts
    bounds = [(*bounds_ns(bucket), number) for bucket, number in counts.items()]
    for name, (low, high, _) in (("min_ns", min(bounds)), ("max_ns", max(bounds))):
        if not low <= summary.get(name, -1) < high:
            raise ValueError(
                f"{name} is {summary.get(name)}; its bucket is from {low} to {high - 1}"
            )
    total_ns = stored["total_ns"]
    least_ns = sum(low * number for low, _, number in bounds)
    most_ns = sum((high - 1) * number for _, high, number in bounds)
    if not least_ns <= total_ns <= most_ns:
        raise ValueError(
            f"total_ns is {total_ns}; its buckets sum up to {least_ns} at least, {most_ns} at most"
        )
    return counts


# ---- answers by time -----------------------------------------------------------------------------
WIDTH_NS = 50_000_000  # of each slice, until slices are merged
MOST_KEPT = 512  # slices that are kept


class Slices:
    """Counts of answers in slices of 50 ms. If there are more than MOST_KEPT, pairs of slices are
    merged.

    It has no lock: each thread has its own, and they are merged after the join. The timed loop
    compares each answer's time with the value that turn() returned, and calls turn() once per
    slice.
    """

    __slots__ = ("_counted", "_counts", "_end_ns", "_width_ns")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Reset all counts of answers, and begin again with slices of 50 ms."""
        self._width_ns, self._end_ns, self._counted = WIDTH_NS, 0, 0
        self._counts = defaultdict[int, int](int)

    def turn(self, now_ns: int, answered: int) -> int:
        """Begin the slice that contains *now_ns*. Return its end in ns, which is not part of it.

        The answers since the previous call are first added to the slice before.
        answered: the number of all answers so far
        """
        self.close(answered)
        self._end_ns = (now_ns // self._width_ns + 1) * self._width_ns
        return self._end_ns

    def close(self, answered: int) -> None:
        """Add the answers since the previous call to the current slice.

        answered: the number of all answers so far
        """
        if answered > self._counted:
            self.add(self._end_ns - self._width_ns, answered - self._counted)
            self._counted = answered

    def add(self, time_ns: int, count: int) -> None:
        """Count *count* answers in the slice that contains *time_ns*."""
        place = time_ns // self._width_ns
        self._counts[place] += count
        while max(self._counts) - min(self._counts) >= MOST_KEPT:
            self._widen()

    def merge(self, other: "Slices") -> None:
        """Add the counts of answers in *other* to the counts of this object, for each slice of
        time.
        """
        while self._width_ns < other._width_ns:
            self._widen()
        for place, count in other._counts.items():
            self.add(place * other._width_ns, count)

    def _widen(self) -> None:
        self._width_ns *= 2
        pairs, self._counts = self._counts, defaultdict(int)
        for place, count in pairs.items():
            self._counts[place // 2] += count

    def to_json(self) -> Any:
        """Return the counts of successive slices; the first began at start_ns. Return {} without
        answers.
        """
        if not self._counts:
            return {}
        first, last = min(self._counts), max(self._counts)
        counts = [self._counts.get(place, 0) for place in range(first, last + 1)]
        return {"width_ns": self._width_ns, "start_ns": first * self._width_ns, "counts": counts}

    @classmethod
    def from_json(cls, said: Json) -> "Slices":
        """Decode counts of answers in slices of time, which to_json() encoded.

        said: the encoded counts; lab.run.contract has already checked that its numbers are in the
            valid ranges
        """
        slices = cls()
        while slices._width_ns < said["width_ns"]:
            slices._widen()
        for place, count in enumerate(said["counts"]):
            if count:
                slices.add(said["start_ns"] + place * said["width_ns"], count)
        return slices
