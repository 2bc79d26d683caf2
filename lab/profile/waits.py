"""Who waits for whose lock, who stops all threads, at which line: hits of probes and samples of stacks, joined. Pure.

A sample of a thread's stack is one of a wait only if all of it was read while the thread waited: then it stood still.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from lab.profile.frames import RawFrame, ThreadStack
from lab.profile.uprobes import CLOCK, Hit

LOCK, LOCKED, STOP, STOPPED, STARTED = "lock", "locked", "stop", "stopped", "started"
SHORTEST_WAIT_NS = 5000  # what an uncontended call takes at most, most of it in the two probes
LONGEST_STOP_NS = 1_000_000_000  # after that its end was lost
MOST = 400_000


class WaitSpan(NamedTuple):
    """A thread waits for the mutex at *mutex*, or (0) wants all others to stop."""

    pid: int
    tid: int
    mutex: int
    start_ns: int
    end_ns: int


class Owner(NamedTuple):
    """Whose mutex it is, by its type's name, as it was read from start_ns to end_ns."""

    tid: int
    mutex: int
    start_ns: int
    end_ns: int
    name: str


@dataclass
class _Thread:
    """What a thread is doing. depth: of functions that take *mutex*, one of which may call the other."""

    mutex: int = 0
    depth: int = 0
    start_ns: int = 0
    asked_ns: int = 0
    stopped_ns: int = 0


@dataclass
class WaitTimeline:
    """Hits of probes, as they come, made into waits and stops. stood_ns: by process, how long its threads stood.

    cpu: how many samples of CPU time were of threads that waited (True) or did not
    """

    waits: list[WaitSpan] = field(default_factory=list)
    stops: list[WaitSpan] = field(default_factory=list)
    stood_ns: Counter[int] = field(default_factory=Counter)
    cpu: Counter[bool] = field(default_factory=Counter)
    _threads: dict[tuple[int, int], _Thread] = field(default_factory=lambda: defaultdict(_Thread))

    @property
    def is_full(self) -> bool:
        """Whether it has as many as it will ever need."""
        return len(self.waits) + len(self.stops) >= MOST

    def add(self, hits: Iterable[Hit]) -> None:
        """In the order of their time. One that is lost spoils one wait."""
        for hit in hits:
            thread = self._threads[hit.pid, hit.tid]
            if hit.name == CLOCK:
                self.cpu[bool(thread.depth)] += 1
            elif hit.name == LOCK:
                self._enter(thread, hit)
            elif hit.name == LOCKED:
                self._leave(thread, hit)
            elif hit.name == STOP:
                thread.asked_ns, thread.stopped_ns, thread.depth = hit.time_ns, 0, 0
            elif hit.name == STOPPED:
                thread.stopped_ns, thread.depth = hit.time_ns, 0
            elif hit.name == STARTED and thread.asked_ns:
                self.stops.append(WaitSpan(hit.pid, hit.tid, 0, thread.asked_ns, hit.time_ns))
                self.stood_ns[hit.pid] += hit.time_ns - (thread.stopped_ns or hit.time_ns)
                thread.asked_ns = thread.stopped_ns = 0

    def end(self, now_ns: int) -> None:
        """Nothing follows: who waits now has waited until *now_ns*."""
        for (pid, tid), thread in self._threads.items():
            if thread.depth and now_ns - thread.start_ns >= SHORTEST_WAIT_NS:
                self.waits.append(WaitSpan(pid, tid, thread.mutex, thread.start_ns, now_ns))

    def waiting(self) -> list[tuple[int, int, int]]:
        """Those who wait since the last hit: process, thread, mutex."""
        return [(*who, thread.mutex) for who, thread in self._threads.items() if thread.depth]

    def _enter(self, thread: _Thread, hit: Hit) -> None:
        if thread.asked_ns and hit.time_ns - thread.asked_ns < LONGEST_STOP_NS:
            return  # stops wait for each other: that is the stop's
        if thread.depth and thread.mutex == hit.value:
            thread.depth += 1
        else:
            thread.mutex, thread.depth, thread.start_ns = hit.value, 1, hit.time_ns

    def _leave(self, thread: _Thread, hit: Hit) -> None:
        if not thread.depth:
            return
        thread.depth -= 1
        if not thread.depth and hit.time_ns - thread.start_ns >= SHORTEST_WAIT_NS:
            self.waits.append(WaitSpan(hit.pid, hit.tid, thread.mutex, thread.start_ns, hit.time_ns))


Read = TypeVar("Read", ThreadStack, Owner)


class Held(NamedTuple):
    """What a sample of a waiting thread is of: whose mutex (StackReader.owner, UNREAD; "" of a stop), where and when.

    part: which of the successive times of the same length that all samples are divided into
    """

    pid: int
    owner: str
    frames: tuple[RawFrame, ...]
    part: int = 0


UNREAD = "?"


def of_stops(stops: Sequence[WaitSpan], stacks: Mapping[int, Sequence[ThreadStack]]) -> Counter[Held]:
    """The samples that are of a thread which stops all others. stacks: by process."""
    return Counter(Held(span.pid, "", stack.frames) for span, stack in _joined(stops, stacks))


def of_waits(
    waits: Sequence[WaitSpan],
    stacks: Mapping[int, Sequence[ThreadStack]],
    owners: Mapping[int, Sequence[Owner]],
    part_at: Callable[[int], int] = lambda at_ns: 0,
) -> Counter[Held]:
    """The samples that are of a thread which waits for a mutex. stacks, owners: by process; part_at: Held.part

    Whose mutex it is was read during this wait, or during most of the others for it; UNREAD where it never was.
    """
    by_wait = {span: owner.name for span, owner in _joined(waits, owners) if owner.mutex == span.mutex}
    names: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for span, name in by_wait.items():
        names[span.pid, span.mutex][name] += 1
    usual = {mutex: counted.most_common(1)[0][0] for mutex, counted in names.items()}
    return Counter(
        Held(
            span.pid,
            by_wait.get(span, usual.get((span.pid, span.mutex), UNREAD)),
            stack.frames,
            part_at(stack.start_ns),
        )
        for span, stack in _joined(waits, stacks)
    )


def _joined(spans: Iterable[WaitSpan], reads: Mapping[int, Sequence[Read]]) -> Iterator[tuple[WaitSpan, Read]]:
    """Each reading with the span of its thread that it lies in as a whole."""
    by_thread: dict[tuple[int, int], list[WaitSpan]] = defaultdict(list)
    for span in spans:
        by_thread[span.pid, span.tid].append(span)
    starts = {thread: [span.start_ns for span in those] for thread, those in by_thread.items()}
    for pid, readings in reads.items():
        for reading in readings:
            place = bisect_right(starts.get((pid, reading.tid), ()), reading.start_ns) - 1
            if place >= 0 and reading.end_ns <= (span := by_thread[pid, reading.tid][place]).end_ns:
                yield span, reading
