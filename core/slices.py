"""Answers by time: how many came in each slice of the host's monotonic clock."""

from collections.abc import Mapping
from typing import Any

WIDTH_NS = 50_000_000
MOST = 512


class Slices:
    """Answers in slices of 50 ms; of more than MOST slices, two are made one. Not locked: one per thread, merged after
    join.

    The loop that is timed compares each answer's time with what turn() returned, and calls turn() once a slice.
    """

    __slots__ = ("_counted", "_counts", "_end_ns", "_width_ns")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Count from zero."""
        self._width_ns, self._end_ns, self._counted = WIDTH_NS, 0, 0
        self._counts: dict[int, int] = {}

    def turn(self, now_ns: int, answered: int) -> int:
        """The end of the slice that *now_ns* is in, whose answers begin after the first *answered* ones."""
        self.close(answered)
        self._end_ns = (now_ns // self._width_ns + 1) * self._width_ns
        return self._end_ns

    def close(self, answered: int) -> None:
        """All of the first *answered* answers that were not counted yet came in the slice under way."""
        if answered > self._counted:
            self.add(self._end_ns - self._width_ns, answered - self._counted)
            self._counted = answered

    def add(self, time_ns: int, count: int) -> None:
        """*count* answers came in the slice of *time_ns*."""
        place = time_ns // self._width_ns
        self._counts[place] = self._counts.get(place, 0) + count
        while max(self._counts) - min(self._counts) >= MOST:
            self._widen()

    def merge(self, other: "Slices") -> None:
        """Add what *other* has counted."""
        while self._width_ns < other._width_ns:
            self._widen()
        for place, count in other._counts.items():
            self.add(place * other._width_ns, count)

    def _widen(self) -> None:
        self._width_ns *= 2
        pairs, self._counts = self._counts, {}
        for place, count in pairs.items():
            self._counts[place // 2] = self._counts.get(place // 2, 0) + count

    def to_json(self) -> Any:
        """Counts of successive slices; the first began at start_ns. Empty without any."""
        if not self._counts:
            return {}
        first, last = min(self._counts), max(self._counts)
        counts = [self._counts.get(place, 0) for place in range(first, last + 1)]
        return {"width_ns": self._width_ns, "start_ns": first * self._width_ns, "counts": counts}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Slices":
        """What to_json() wrote, with bounds checked by the contract."""
        slices = cls()
        while slices._width_ns < said["width_ns"]:
            slices._widen()
        for place, count in enumerate(said["counts"]):
            if count:
                slices.add(said["start_ns"] + place * said["width_ns"], count)
        return slices
