"""Combine probe hits with sampled stacks, to find the lines that wait for locks or stop all
threads. No I/O.

A sampled stack counts for a wait only if the whole stack was read while the thread waited. A
waiting thread does not change its stack, so such a sample is consistent.
lab/profile/lock_watcher.py adds hits to a WaitTimeline while it records, and calls wait_samples()
at the end. All times are in ns on the host's monotonic clock.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, TypeVar

from lab.profile.frames import ThreadStack
from lab.profile.uprobes import Hit

# Names of hits. A thread begins to wait for a mutex and has it; asks all others to stop, they have
# stopped, and they run again.
LOCK, LOCKED, STOP, STOPPED, STARTED = "lock", "locked", "stop", "stopped", "started"
# functions of the interpreter: the names of the hits of their entry and of their return, if probed
PROBED = {
    "_PyMutex_LockTimed": (LOCK, LOCKED),
    "PyMutex_Lock": (LOCK, LOCKED),
    "_PyRecursiveMutex_LockTimed": (LOCK, LOCKED),
    "stop_the_world": (STOP, STOPPED),
    "start_the_world": ("", STARTED),
    "_PyEval_StopTheWorld": (STOP, STOPPED),
    "_PyEval_StartTheWorld": ("", STARTED),
}
# an uncontended call takes less than this; most of its time is spent in the two probes
SHORTEST_WAIT_NS = 5000
LONGEST_STOP_NS = 1_000_000_000  # if a pause seems to last longer, the hit of its end was lost
Who = tuple[int, int]  # a thread: its process and itself
# waits and pauses after which the recording stops, because each one needs memory
MOST_SPANS = 400_000


class WaitSpan(NamedTuple):
    """A time span in which a thread waited for the mutex at address *mutex*, or paused all threads
    if *mutex* is 0.
    """

    pid: int
    tid: int
    mutex: int
    start_ns: int
    end_ns: int


class OwnerReading(NamedTuple):
    """The owner of a mutex for which thread *tid* waited. The owner was read between start_ns and
    end_ns.

    name: as FrameReader.owner() returns it
    """

    pid: int
    tid: int
    start_ns: int
    end_ns: int
    mutex: int
    name: str


@dataclass
class _Thread:
    """The present state of a thread: which mutex it waits for, or which pause it causes.

    depth: how many nested calls take *mutex*, because one such function may call another
    asked_ns: when the thread asked all others to stop; stopped_ns: when they had stopped; 0 if it
        did not
    """

    mutex: int = 0
    depth: int = 0
    start_ns: int = 0
    asked_ns: int = 0
    stopped_ns: int = 0


@dataclass
class WaitTimeline:
    """A record of all threads' lock waits and stop-the-world pauses, built from probe hits as they
    arrive.

    stood_ns: how long the threads of each process were paused
    """

    waits: list[WaitSpan] = field(default_factory=list)
    stops: list[WaitSpan] = field(default_factory=list)
    stood_ns: Counter[int] = field(default_factory=Counter)
    _threads: dict[Who, _Thread] = field(default_factory=lambda: defaultdict(_Thread))

    @property
    def is_full(self) -> bool:
        """Whether the timeline has MOST_SPANS waits and pauses, so that recording can stop."""
        return len(self.waits) + len(self.stops) >= MOST_SPANS

    def add(self, hit: Hit) -> None:
        """Add a call of a probed function. Hits must be added oldest first.

        If a call was lost, only one wait in the record is wrong.
        """
        who = hit.pid, hit.tid
        thread = self._threads[who]
        if hit.name == LOCK:
            _enter(thread, hit)
        elif hit.name == LOCKED and thread.depth:
            thread.depth -= 1
            if not thread.depth:
                self._add_wait(who, thread, hit.time_ns)
        elif hit.name == STOP:
            # if a wait has not ended by now, the hit of its end was lost
            self._threads[who] = _Thread(asked_ns=hit.time_ns)
        elif hit.name == STOPPED:
            thread.stopped_ns, thread.depth = hit.time_ns, 0
        elif hit.name == STARTED and thread.asked_ns:
            self.stops.append(WaitSpan(*who, 0, thread.asked_ns, hit.time_ns))
            # adds nothing if the hit STOPPED was lost
            self.stood_ns[hit.pid] += hit.time_ns - (thread.stopped_ns or hit.time_ns)
            self._threads[who] = _Thread()

    def end(self, now_ns: int) -> None:
        """End the timeline at *now_ns*, which also ends all waits that still last."""
        for who, thread in self._threads.items():
            if thread.depth:
                self._add_wait(who, thread, now_ns)

    def _add_wait(self, who: Who, thread: _Thread, end_ns: int) -> None:
        if end_ns - thread.start_ns >= SHORTEST_WAIT_NS:
            self.waits.append(WaitSpan(*who, thread.mutex, thread.start_ns, end_ns))

    def is_waiting(self, pid: int, tid: int) -> bool:
        """Return whether a thread waits for a mutex at the time of the newest probe hit."""
        return self._threads[pid, tid].depth > 0

    def waiting(self) -> list[tuple[int, int, int]]:
        """Return the threads that wait at the time of the newest probe hit, each as (process,
        thread, mutex).
        """
        return [(*who, thread.mutex) for who, thread in self._threads.items() if thread.depth]


def _enter(thread: _Thread, hit: Hit) -> None:
    if thread.asked_ns and hit.time_ns - thread.asked_ns < LONGEST_STOP_NS:
        # a thread that causes a pause may wait for another pause, which counts for its own pause
        return
    if thread.depth and thread.mutex == hit.value:
        thread.depth += 1
    else:
        thread.mutex, thread.depth, thread.start_ns = hit.value, 1, hit.time_ns


# the name of an owner that was not read; not the same as NO_OWNER, and also in result.json
UNREAD = "?"
Reading = TypeVar("Reading", ThreadStack, OwnerReading)


def wait_samples(
    spans: Sequence[WaitSpan], stacks: Iterable[ThreadStack], owners: Iterable[OwnerReading]
) -> Iterator[tuple[str, ThreadStack]]:
    """Yield the sampled stacks of threads that wait for a mutex, or that pause all threads, each
    with its owner.

    A mutex's owner is the one that was read during the same wait, or else the owner most often read
    for this mutex. It is UNREAD if no owner was read, and "" for a pause.
    """
    by_wait = {
        span: owner.name
        for span, owner in _match_readings(spans, owners)
        if owner.mutex == span.mutex
    }
    names: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for span, name in by_wait.items():
        names[span.pid, span.mutex][name] += 1
    usual = {mutex: counted.most_common(1)[0][0] for mutex, counted in names.items()}
    for span, stack in _match_readings(spans, stacks):
        unread = UNREAD if span.mutex else ""
        yield by_wait.get(span, usual.get((span.pid, span.mutex), unread)), stack


def _match_readings(
    spans: Iterable[WaitSpan], readings: Iterable[Reading]
) -> Iterator[tuple[WaitSpan, Reading]]:
    """Pair each reading of a thread with the lock wait or the stop-the-world pause of the thread at
    that time.

    A reading is a stack, or the owner of a mutex. Readings outside of waits and pauses are skipped.
    """
    by_thread: dict[Who, list[WaitSpan]] = defaultdict(list)
    for span in spans:
        by_thread[span.pid, span.tid].append(span)
    for reading in readings:
        of_thread = by_thread.get((reading.pid, reading.tid), [])
        # the spans of a thread are in the order of time and do not overlap
        place = bisect_right(of_thread, reading.start_ns, key=attrgetter("start_ns")) - 1
        if place >= 0 and reading.end_ns <= of_thread[place].end_ns:
            yield of_thread[place], reading
