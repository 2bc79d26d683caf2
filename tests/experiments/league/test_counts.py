"""Counting on threads that are not ours."""

import threading

from experiments.league.thread_servers import Counts

THREADS, EACH = 8, 2000


def test_nothing_is_lost_between_threads_threads_that_have_ended_still_count_and_a_reset_counts_from_nought() -> None:
    counts = Counts()

    def add() -> None:
        for _ in range(EACH):
            counts.add()

    threads = [threading.Thread(target=add) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts.requests == THREADS * EACH
    counts.add()
    counts.reset()
    assert counts.requests == 0
    counts.add()
    assert counts.requests == 1
