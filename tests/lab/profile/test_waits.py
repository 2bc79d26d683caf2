"""Hits of probes and samples of stacks, joined by hand-made times."""

import pytest

from lab.profile.frames import RawFrame, ThreadStack
from lab.profile.uprobes import Hit
from lab.profile.waits import (
    LOCK,
    LOCKED,
    STARTED,
    STOP,
    STOPPED,
    UNREAD,
    OwnerReading,
    WaitSpan,
    WaitTimeline,
    wait_samples,
)

PID, TID, DICT, US = 10, 11, 0xD1C7, 1000
PUT, GET = (RawFrame(1, 2, 0),), (RawFrame(3, 4, 0),)


def timeline(*hits: tuple[str, int, int]) -> WaitTimeline:
    """Of one thread. hits: name, time in us, first argument"""
    made = WaitTimeline()
    for name, time_us, value in hits:
        made.add(Hit(name, PID, TID, time_us * US, value))
    return made


def stack(start_us: int, end_us: int, frames: tuple[RawFrame, ...] = PUT, pid: int = PID) -> ThreadStack:
    return ThreadStack(pid, TID, start_us * US, end_us * US, frames)


def owner(start_us: int, end_us: int, name: str) -> OwnerReading:
    return OwnerReading(PID, TID, start_us * US, end_us * US, DICT, name)


def wait(start_us: int, end_us: int, mutex: int = DICT) -> WaitSpan:
    return WaitSpan(PID, TID, mutex, start_us * US, end_us * US)


@pytest.mark.parametrize(
    ("hits", "waits", "stops", "stood_us"),
    [
        pytest.param(
            [(LOCK, 0, DICT), (LOCK, 1, DICT), (LOCKED, 50, 0), (LOCKED, 51, 0)], [wait(0, 51)], [], 0,
            id="a wait is from the call to the return of the outer function",
        ),
        pytest.param([(LOCK, 0, DICT), (LOCKED, 4, 0)], [], [], 0, id="a call that finds the mutex free is no wait"),
        pytest.param(
            [(LOCK, 0, DICT), (LOCK, 100, 0xBEEF), (LOCKED, 150, 0), (LOCKED, 160, 0)], [wait(100, 150, 0xBEEF)], [], 0,
            id="a return that was lost spoils one wait only",
        ),
        pytest.param(
            [(STOP, 5, 1), (LOCK, 6, 2), (LOCKED, 30, 0), (STOPPED, 40, 0), (STARTED, 55, 0)], [], [wait(5, 55, 0)], 15,
            id="a stop is from its request to the new start, and stops that wait for each other are stops",
        ),
        pytest.param(
            [(STOP, 5, 1), (STOP, 6, 1), (STOPPED, 40, 0), (STOPPED, 41, 0), (STARTED, 55, 0), (STARTED, 56, 0)],
            [], [wait(6, 55, 0)], 14,
            id="a function that stops all threads by another such function stops them once",
        ),
        pytest.param(
            [(STOP, 5, 1), (LOCK, 2_000_000, DICT), (LOCKED, 2_000_100, 0)], [wait(2_000_000, 2_000_100)], [], 0,
            id="after a stop whose end was lost waits count again",
        ),
    ],
)  # fmt: skip
def test_hits_become_waits_and_stops(
    hits: list[tuple[str, int, int]], waits: list[WaitSpan], stops: list[WaitSpan], stood_us: int
) -> None:
    line = timeline(*hits)
    assert (line.waits, line.stops, line.stood_ns[PID]) == (waits, stops, stood_us * US)


def test_who_still_waits_at_the_end_has_waited_until_then() -> None:
    line = timeline((LOCK, 0, DICT))
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


def test_a_mutex_that_was_never_looked_at_is_said_to_be_unread() -> None:
    assert list(wait_samples([wait(0, 50)], [stack(1, 2)], [owner(60, 61, "dict")])) == [(UNREAD, stack(1, 2))]


def test_a_thread_of_another_process_with_the_same_number_is_another_thread() -> None:
    assert list(wait_samples([wait(0, 50, 0)], [stack(1, 2, pid=PID + 1), stack(3, 4)], [])) == [("", stack(3, 4))]
