"""Log-bucketed latency histogram: known relative error, one list index per record.

A value below 2**(SUB_BITS+1) has a bucket of its own. Above, every power of two is cut into 2**SUB_BITS
equal buckets, so a bucket is at most 1/128 = 0.78 % of its lower bound wide. Quantiles report a bucket's
midpoint: they are within RELATIVE_ERROR = 0.4 % of the exact nearest-rank value. min, max and mean are exact.
Source of the layout: HdrHistogram (G. Tene), log-linear buckets.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from reprlib import Repr
from sys import intern
from typing import Any

SUB_BITS = 7
RELATIVE_ERROR = 1 / 2 ** (SUB_BITS + 1)
_EXACT_BELOW = 1 << (SUB_BITS + 1)
_VALUE_BITS = 42
_BUCKETS = (_VALUE_BITS - SUB_BITS + 1) << SUB_BITS
_SHOWN = Repr()
_SHARES = {"p50_ns": (0.50, 1), "p90_ns": (0.90, 10), "p99_ns": (0.99, 100), "p999_ns": (0.999, 10_000)}


def bucket_of(value_ns: int) -> int:
    """Index of the bucket that holds *value_ns* (0 or more)."""
    if value_ns < _EXACT_BELOW:
        return value_ns
    shift = value_ns.bit_length() - (SUB_BITS + 1)
    return (shift << SUB_BITS) + (value_ns >> shift)


def bounds_ns(bucket: int) -> tuple[int, int]:
    """Lowest value of *bucket* and the lowest of the next, in ns."""
    if bucket < _EXACT_BELOW:
        return bucket, bucket + 1
    shift = (bucket >> SUB_BITS) - 1
    low = (bucket - (shift << SUB_BITS)) << shift
    return low, low + (1 << shift)


class Histogram:
    """Latencies in ns. Not locked: one per thread, merged after join."""

    __slots__ = ("_counts", "max_ns", "min_ns", "total_ns")

    def __init__(self) -> None:
        self._counts = [0] * _BUCKETS
        self.total_ns = 0
        self.max_ns = 0
        self.min_ns = 1 << 63

    def record(self, value_ns: int) -> None:
        """Count one latency, in ns, below 2**42 (73 minutes). Raises IndexError above.

        The body is bucket_of() written out, constants too: a call would cost as much as the rest.
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

    def clear(self) -> None:
        """Forget all that was recorded."""
        self.__init__()  # type: ignore[misc]

    def merge(self, other: "Histogram") -> None:
        """Add the counts of *other*."""
        self._counts = [mine + theirs for mine, theirs in zip(self._counts, other._counts, strict=True)]
        self.total_ns += other.total_ns
        self.max_ns = max(self.max_ns, other.max_ns)
        self.min_ns = min(self.min_ns, other.min_ns)

    @property
    def count(self) -> int:
        """How many latencies were recorded."""
        return sum(self._counts)

    def filled(self) -> Iterable[tuple[int, int]]:
        """(bucket, count) of every bucket that is not empty, lowest first."""
        return ((bucket, count) for bucket, count in enumerate(self._counts) if count)

    def quantile(self, share: float) -> int:
        """Latency that *share* of the requests did not exceed, in ns, within RELATIVE_ERROR.

        share: 0..1, not percent
        Raises ValueError if nothing was recorded or share is outside 0..1.
        Source: nearest-rank definition, docs/statistics.md.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}; it must lie between 0 and 1")
        count = self.count
        if not count:
            raise ValueError("an empty histogram has no quantiles")
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

    def to_json(self) -> Any:
        """Exact count, min, mean and max, the percentiles that the count allows, and all buckets."""
        count = self.count
        if not count:
            return {"count": 0, "histogram": {"sub_bits": SUB_BITS, "total_ns": 0, "counts": {}}}
        summary: dict[str, Any] = {
            "count": count,
            "min_ns": self.min_ns,
            "mean_ns": self.total_ns // count,
            "max_ns": self.max_ns,
        }
        for name, (share, needed) in _SHARES.items():
            if count >= needed:
                summary[name] = self.quantile(share)
        counts = {intern(str(bucket)): number for bucket, number in self.filled()}  # a run keeps many histograms
        summary["histogram"] = {"sub_bits": SUB_BITS, "total_ns": self.total_ns, "counts": counts}
        return summary

    @classmethod
    def from_json(cls, summary: Mapping[str, Any]) -> "Histogram":
        """The histogram that to_json wrote. Raises ValueError for another layout, and where its numbers disagree."""
        cls.check(summary)
        stored = summary["histogram"]
        histogram = cls()
        for bucket, number in stored["counts"].items():
            histogram._counts[int(bucket)] = number
        if summary["count"]:
            histogram.total_ns = stored["total_ns"]
            histogram.min_ns, histogram.max_ns = summary["min_ns"], summary["max_ns"]
        return histogram

    @staticmethod
    def check(summary: Any) -> None:
        """Raises ValueError, with key and value, unless what from_json reads of *summary* is as to_json writes it."""
        stored = _object(_object(summary, "the summary").get("histogram"), "histogram")
        counts = _object(stored.get("counts"), "counts")
        if stored.get("sub_bits") != SUB_BITS:
            raise ValueError(
                f"the histogram has sub_bits {_short(stored.get('sub_bits'))}; this version reads {SUB_BITS}"
            )
        buckets = [_bucket(key) for key in counts]
        held = sum(_whole(number, "a count") for number in counts.values())
        if _whole(summary.get("count"), "count") != held:
            raise ValueError(f"count is {summary['count']}; its buckets hold {held}")
        if held:
            _check_range(summary, stored, [bucket for bucket in buckets if counts[str(bucket)]], counts)


def _check_range(
    summary: Mapping[str, Any], stored: Mapping[str, Any], filled: list[int], counts: Mapping[str, int]
) -> None:
    """Minimum and maximum lie in the outermost buckets, and the sum is one that the buckets can have."""
    total_ns = _whole(stored.get("total_ns"), "total_ns")
    for name, outermost in (("min_ns", min(filled)), ("max_ns", max(filled))):
        low, high = bounds_ns(outermost)
        if not low <= _whole(summary.get(name), name) < high:
            raise ValueError(f"{name} is {summary[name]}; its bucket is from {low} to {high - 1}")
    bounds = [(*bounds_ns(bucket), counts[str(bucket)]) for bucket in filled]
    least_ns, most_ns = (sum((low, high - 1)[end] * held for low, high, held in bounds) for end in (0, 1))
    if not least_ns <= total_ns <= most_ns:
        raise ValueError(f"total_ns is {total_ns}; its buckets sum up to {least_ns} at least, {most_ns} at most")


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if type(value) is not dict:
        raise ValueError(f"{name} is {_short(value)}; it must be an object")
    return value


def _whole(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{name} is {_short(value)}; it must be a whole number from 0 to 2**63 - 1")
    return value


def _bucket(key: str) -> int:
    if not (key.isascii() and key.isdecimal() and len(key) <= 4 and str(int(key)) == key and int(key) < _BUCKETS):
        raise ValueError(f"a bucket is {_short(key)}; buckets are numbers from 0 to {_BUCKETS - 1}")
    return int(key)


def _short(value: Any) -> str:
    return _SHOWN.repr(value)
