"""Hits of probes and samples of stacks, joined by hand-made times."""

from lab.profile.frames import RawFrame, ThreadStack
from lab.profile.lock_waits import LOCK, UNREAD, OwnerReading, WaitSpan, WaitTimeline, wait_samples
from lab.profile.uprobes import Hit
from tests.tables import each_row

PID, TID, DICT, US = 10, 11, 0xD1C7, 1000
PUT, GET = (RawFrame(1, 2, 0),), (RawFrame(3, 4, 0),)


def stack(start_us: int, end_us: int, frames: tuple[RawFrame, ...] = PUT, pid: int = PID) -> ThreadStack:
    return ThreadStack(pid, TID, start_us * US, end_us * US, frames)


def owner(start_us: int, end_us: int, name: str) -> OwnerReading:
    return OwnerReading(PID, TID, start_us * US, end_us * US, DICT, name)


def wait(start_us: int, end_us: int, mutex: int = DICT) -> WaitSpan:
    return WaitSpan(PID, TID, mutex, start_us * US, end_us * US)


@each_row
def test_hits_become_waits_and_stops(case: str) -> None:
    """Hits have a time in us and their first argument, a wait has its begin, its end and its mutex.

    A wait is from the call to the return of the outer function. A call that finds the mutex free is no wait. A return
    that was lost spoils one wait only. A stop is from its request to the new start, and stops that wait for each other
    are stops. A function that stops all threads by another such function stops them once. After a stop whose end was
    lost, waits count again.
    """
    hits, _, found = case.partition(" -> ")
    line = WaitTimeline()
    for hit in hits.split(", "):
        name, time_us, value = hit.split()
        line.add(Hit(name, PID, TID, int(time_us) * US, int(value)))
    told = [span_text("wait", span) for span in line.waits] + [span_text("stop", span) for span in line.stops]
    assert ", ".join([*told, f"stood {line.stood_ns[PID] // US}"]) == found


def span_text(kind: str, span: WaitSpan) -> str:
    return f"{kind} {span.start_ns // US} {span.end_ns // US} {span.mutex}"


def test_who_still_waits_at_the_end_has_waited_until_then() -> None:
    line = WaitTimeline()
    line.add(Hit(LOCK, PID, TID, 0, DICT))
    assert line.waiting() == [(PID, TID, DICT)]
    line.end(90 * US)
    assert line.waits == [wait(0, 90)]


def test_a_sample_counts_only_if_all_of_it_was_read_while_the_thread_waited() -> None:
    stacks = [stack(10, 20), stack(45, 55), stack(60, 70), stack(110, 120, GET), stack(112, 122, GET)]
    owners = [owner(30, 31, "dict"), owner(52, 53, "list")]
    assert list(wait_samples([wait(0, 50), wait(100, 150)], stacks, owners)) == [
        ("dict", stacks[0]),
        ("dict", stacks[3]),  # nobody looked during this wait: it is the same mutex as before
        ("dict", stacks[4]),
    ]


def test_a_mutex_that_was_never_looked_at_is_said_to_be_unread_and_a_pause_has_no_owner() -> None:
    """A thread of another process with the same number is another thread."""
    assert list(wait_samples([wait(0, 50)], [stack(1, 2)], [owner(60, 61, "dict")])) == [(UNREAD, stack(1, 2))]
    assert list(wait_samples([wait(0, 50, 0)], [stack(1, 2, pid=PID + 1), stack(3, 4)], [])) == [("", stack(3, 4))]
