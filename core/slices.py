"""Count answers by time, in slices of the host's monotonic clock.

A slice here is a period of 50 ms or more. core.child.Slice is something else: the time in which a
client sends. clients/tally.py counts into it in the clients' timed loop, so turn() must stay cheap.
lab/run adds up the clients' counts, and reports show answers by time.
"""

from collections.abc import Mapping
from typing import Any

WIDTH_NS = 50_000_000  # of each slice, until slices are merged
MOST = 512  # slices that are kept


class Slices:
    """Counts of answers in slices of 50 ms. If there are more than MOST slices, pairs of slices are
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
        self._counts: dict[int, int] = {}

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
        self._counts[place] = self._counts.get(place, 0) + count
        while max(self._counts) - min(self._counts) >= MOST:
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
        pairs, self._counts = self._counts, {}
        for place, count in pairs.items():
            self._counts[place // 2] = self._counts.get(place // 2, 0) + count

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
    def from_json(cls, said: Mapping[str, Any]) -> "Slices":
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
