"""An HTTP client whose workers are threads, each with a connection of its own that blocks."""

import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from time import perf_counter_ns
from typing import Any, Protocol

from clients.channel import CallFailed
from clients.http import workers as http_workers
from clients.http.workers import EXPECTED_BYTES, GIVE_UP_AFTER, Quota, Tally
from core.cell import Cell
from core.child import thread_run_queue_ns
from core.method import Method

SPARE_THREADS = 2  # beside the workers: the one that makes them, and the parent watch


class Connection(Protocol):
    """One keep-alive connection. Errors are clients.channel.CallFailed, or another whose first argument is a code.

    Codes: those of docs/child-contract.md, timeout too.
    """

    def get(self) -> tuple[int, int]:
        """GET /, the whole body read: status and length of the body in bytes."""

    def close(self) -> None:
        """Close the connection."""


Connect = Callable[[str, int, float], Connection]
Get = Callable[[], tuple[int, int]]


class Worker:
    """One connection, opened when it is needed and again after an error, and what its requests came to.

    connect(host, port, deadline_s): see Connection; no answer takes longer than deadline_s.
    failure: what connect and connections raise. died: the exception that ended the worker and was none of those.
    """

    __slots__ = ("_connect", "_connection", "_failure", "_place", "died", "run_queue_ns", "tally")

    def __init__(self, connect: Connect, place: tuple[str, int], failure: type[Exception] = CallFailed) -> None:
        self._connect = connect
        self._place = place
        self._failure = failure
        self._connection: Connection | None = None
        self.died: BaseException | None = None
        self.run_queue_ns = 0
        self.tally = Tally()

    def open(self) -> None:
        """Open the connection and use it once; if that fails, the first request that is counted will say so."""
        start = perf_counter_ns()
        try:
            self._take()()
        except self._failure:
            self.drop()
        except BaseException as error:
            self.died = error
        else:
            self.tally.connect.record(perf_counter_ns() - start)

    def drop(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            with suppress(self._failure):
                self._connection.close()
            self._connection = None

    def call(self, requests: int | None, until_ns: int) -> None:
        """Send *requests* requests one after the other (None: any number, until *until_ns*), count and time each.

        Gives up after GIVE_UP_AFTER failures in a row; what was not sent is missing from answered.
        """
        tally = self.tally
        tally.sent = requests or 0
        began_ns = perf_counter_ns()
        try:
            tried = self._ask(count(1) if requests is None else range(1, requests + 1), until_ns)
            tally.sent = tried if requests is None else requests
        except BaseException as error:
            self.died = error
        tally.loop_ns = perf_counter_ns() - began_ns
        self.run_queue_ns = thread_run_queue_ns()

    def _ask(self, numbers: Iterable[int], until_ns: int) -> int:
        """A request for each of *numbers*; how many were tried.

        The one loop that is timed: what can wait until the end of the workers is done by http_workers.summary.
        """
        note, clock, right_bytes, failure = self.tally.times_ns.append, perf_counter_ns, EXPECTED_BYTES, self._failure
        get: Get | None = None
        number = failures = 0
        for number in numbers:  # noqa: B007 - how far it came
            try:
                get = get or self._take()
                start_ns = clock()
                status, size_bytes = get()
                end_ns = clock()
            except failure as failed:
                self._lose(failed)
                get, failures = None, failures + 1
                if failures == GIVE_UP_AFTER:
                    break
                continue
            note(start_ns)
            note(end_ns)
            failures = 0
            if status != 200 or size_bytes != right_bytes:
                self._refuse(status)
                get = None
            if end_ns >= until_ns:
                break
        return number

    def _take(self) -> Get:
        if self._connection is None:
            self._connection = self._connect(*self._place, http_workers.REQUEST_DEADLINE_S)
        return self._connection.get

    def _lose(self, failed: Exception) -> None:
        self.tally.errors[failed.args[0]] += 1
        self.drop()

    def _refuse(self, status: int) -> None:
        self.tally.refuse(status)
        self.drop()


class ThreadClient:
    """NUM_CONNECTIONS_PER_CLIENT workers, whose connections are open once this is built.

    connect, failure: see Worker. addresses: of every service, its sockets. The threads are made inside the timed
    region, as in seeds 000 and 001.
    """

    def __init__(
        self,
        connect: Connect,
        cell: Cell,
        client_id: int,
        addresses: Sequence[Sequence[str]],
        method: Method,
        failure: type[Exception] = CallFailed,
    ) -> None:
        self._workers = [Worker(connect, place, failure) for place in http_workers.places(cell, client_id, addresses)]
        self._warmup = http_workers.warmup(cell, len(addresses), method)
        self._timed = http_workers.timed(cell, len(addresses), method)
        self._together([worker.open for worker in self._workers])
        _make_room(len(self._workers) + SPARE_THREADS)

    def __repr__(self) -> str:
        return f"ThreadClient({len(self._workers)} workers)"

    def warm_up(self) -> None:
        """Ask as in the timed window, as much as the method says, and forget it."""
        self._race(self._warmup)
        for worker in self._workers:
            worker.tally.clear()

    def run(self) -> dict[str, Any]:
        """Make the threads, wait for all of them, and sum up: docs/child-contract.md and http_workers.summary."""
        started_ns, finished_ns = self._race(self._timed)
        counted = http_workers.summary([worker.tally for worker in self._workers], started_ns, finished_ns, "thread")
        return counted | {"run_queue_ns": sum(worker.run_queue_ns for worker in self._workers)}

    def close(self) -> None:
        """Close the connections; a process that ends need not."""
        for worker in self._workers:
            worker.drop()

    def _race(self, quota: Quota) -> tuple[int, int]:
        started_ns = perf_counter_ns()
        until_ns = quota.until_ns(started_ns)
        pairs = zip(self._workers, quota.requests, strict=True)
        self._together([partial(worker.call, requests, until_ns) for worker, requests in pairs])
        return started_ns, perf_counter_ns()

    def _together(self, calls: Sequence[Callable[[], None]]) -> None:
        """Make each call in a thread of its own and wait for all.

        Raises what ended a worker, unless that was counted as an error of a request.
        """
        ended = [_start(call) for call in calls]
        for lock in ended:
            lock.acquire()
        for worker in self._workers:
            if worker.died:
                raise worker.died


def _start(call: Callable[[], None]) -> LockType:
    """Make *call* in a thread that is not waited for; the lock can be had when it has ended.

    threading.Thread.start() waits until the new thread runs. On cores that are full, the one that waited then queues
    behind the workers: 3 ms of the scheduler for each thread where there is no GIL that a worker must give up.
    """
    ended = allocate_lock()
    ended.acquire()

    def run() -> None:
        try:
            call()
        finally:
            ended.release()

    start_new_thread(run, ())
    return ended


def _make_room(threads: int) -> None:
    """Have so many threads at once, before anything is timed.

    To make room for more threads than ever before, a free-threaded CPython stops the world, and that waits for every
    thread whose extension holds on to the interpreter through its I/O. Source: CPython 3.14, Python/qsbr.c.
    """
    gate = threading.Event()
    waiting = [threading.Thread(target=gate.wait, daemon=True) for _ in range(threads)]
    for thread in waiting:
        thread.start()
    gate.set()
    for thread in waiting:
        thread.join()
