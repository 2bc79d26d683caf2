"""How long a run has still to go, by how long its cells took."""

from collections.abc import Callable
from time import monotonic

from core.messages import NOTHING, Message, message, verbatim


class Pace:
    """How long the cells that are left will take, if they take as long as those that are behind."""

    def __init__(self, *, open_ended: bool = False, clock: Callable[[], float] = monotonic) -> None:
        self.open_ended = open_ended
        self._clock = clock
        self._began_s: float | None = None
        self._first = 0
        self._ended_s = 0.0
        self._done = 0

    def started(self, done: int) -> None:
        """A cell begins, with *done* behind; the first of them may be of a run that goes on."""
        if self._began_s is None:
            self._began_s, self._first, self._done = self._clock(), done, done

    def ended(self, done: int) -> None:
        """*done* cells are behind now."""
        self._done, self._ended_s = done, self._clock()

    def left_s(self, total: int) -> float | None:
        """Seconds until *total* cells are behind, counting down while one runs; None while nothing is known."""
        counted = self._done - self._first
        if self.open_ended or self._began_s is None or counted <= 0:
            return None
        expected_s = (self._ended_s - self._began_s) / counted * (total - self._done)
        return max(0.0, expected_s - (self._clock() - self._ended_s))

    def place(self, done: int, total: int) -> Message:
        """'3/12', or '3 done' where nobody knows of how many."""
        if self.open_ended:
            return message("{count} done", count=done)
        return verbatim(f"{done:>{len(str(total))}}/{total}")


def time_left(left_s: float | None) -> Message:
    """'45 s left', '12 min left', '3 h 05 min left'; nothing for None."""
    if left_s is None:
        return NOTHING
    if left_s < 100:
        return message("{seconds:.0f} s left", seconds=left_s)
    minutes = round(left_s / 60)
    if minutes < 120:
        return message("{minutes} min left", minutes=minutes)
    return message("{hours} h {minutes:02d} min left", hours=minutes // 60, minutes=minutes % 60)
