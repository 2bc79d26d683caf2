"""Counting on threads that are not ours."""

import threading

from services.alternatives.counts import Counts

THREADS, EACH = 8, 2000


def add_in_threads(counts: Counts) -> None:
    def add() -> None:
        for _ in range(EACH):
            counts.add()

    threads = [threading.Thread(target=add) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_nothing_is_lost_between_threads_and_threads_that_have_ended_still_count() -> None:
    counts = Counts()
    add_in_threads(counts)
    assert counts.requests == THREADS * EACH


def test_after_a_reset_it_counts_from_nought() -> None:
    counts = Counts()
    counts.add()
    add_in_threads(counts)
    counts.reset()
    assert counts.requests == 0
    counts.add()
    assert counts.requests == 1
