"""What the runner itself uses while a cell is set up, timed and collected: CPU time, and bytes to and from hosts."""

from collections.abc import Callable
from itertools import pairwise
from threading import Event, Thread
from time import perf_counter_ns, process_time_ns
from typing import Any

PHASES = ("setup", "window", "collection")


class RunnerUse:
    """Of this process, cell by cell. moved_bytes: over all links, so far"""

    def __init__(self, moved_bytes: Callable[[], int]) -> None:
        self._moved_bytes = moved_bytes
        self._marks: list[tuple[int, int, int]] = []
        self._over = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """A cell's set-up."""
        self.stop()
        self._marks.clear()
        self._mark()

    def release(self, start_ns: int, end_ns: int) -> None:
        """The window that comes, by our clock."""
        self._over.clear()
        self._thread = Thread(target=self._watch, args=(start_ns, end_ns), name="runner's use", daemon=True)
        self._thread.start()

    def end(self) -> dict[str, Any]:
        """All is collected; what each of PHASES took: ns, cpu_ns, link_bytes."""
        self.stop()
        self._mark()
        return {
            phase: dict(zip(("ns", "cpu_ns", "link_bytes"), map(_difference, before, after), strict=True))
            for phase, (before, after) in zip(PHASES, pairwise(self._marks), strict=True)
        }

    def stop(self) -> None:
        """Also where a cell fails in its window."""
        self._over.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def _watch(self, *times_ns: int) -> None:
        for at_ns in times_ns:
            self._over.wait(max(0, at_ns - perf_counter_ns()) / 1e9)
            self._mark()

    def _mark(self) -> None:
        self._marks.append((perf_counter_ns(), process_time_ns(), self._moved_bytes()))


def _difference(before: int, after: int) -> int:
    return max(0, after - before)  # a link that was lost is counted no more
