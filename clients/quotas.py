"""Divide a client's requests among workers that have one connection each, and run each worker in a
thread.

WorkerClient is the base of the clients with one connection for each worker: UserServiceClient
(user_service.py), and ThreadClient and TaskClient (experiments/http_clients). A
subclass must define _result(), and may replace the other hooks. WorkerClient.__init__ calls
_open(), so a subclass sets its own attributes first.
    _open()                            connect all workers, before the timed region
    _calls(quota, started_ns)          the calls that the workers make, in the workers' order
    _race(quota)                       run these calls; the times of the start and of the last end
    _result(started_ns, finished_ns)   the result line (docs/child-contract.md)
"""

import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from time import perf_counter_ns
from typing import Any, Generic, NamedTuple, TypeVar

from clients.schedule import NEVER_NS
from core.cell import Cell
from core.messages import Json
from core.method import Method

GIVE_UP_AFTER = 10  # failures in a row
SPARE_THREADS = 2  # in addition to the workers: the thread that starts them, and the parent watch


class Quota(NamedTuple):
    """The number of requests that each worker sends; None for a worker that sends requests for
    slice_ns.
    """

    requests: tuple[int | None, ...]
    slice_ns: int = 0

    def until_ns(self, now_ns: int) -> int:
        """Return the time after which a worker that begins at *now_ns* sends no further request:
        NEVER_NS if the quota is a number of requests.
        """
        return now_ns + self.slice_ns if self.slice_ns else NEVER_NS


def quotas(cell: Cell, services: int, method: Method) -> tuple[Quota, Quota]:
    """Return what the workers of a client send in the warm-up (at least one request each) and in
    the timed window.
    """
    requests, workers = cell.num_requests_per_client * services, cell.num_connections_per_client
    warmup, warmup_s = method.warmup_of(requests)
    return _quota(max(warmup or 0, workers), warmup_s, workers), _quota(
        requests, method.duration_s, workers
    )


def _quota(requests: int, seconds: float, workers: int) -> Quota:
    """Return how many of *requests* each of *workers* workers sends, or for how long it sends if
    *seconds* is set.
    """
    if seconds:
        return Quota(requests=(None,) * workers, slice_ns=round(seconds * 1e9))
    whole, more = divmod(requests, workers)
    return Quota(
        requests=tuple(whole + (number < more) for number in range(workers))
    )  # the first send the remainder


def turns(cell: Cell, client_id: int, services: int) -> list[int]:
    """Return for each worker the index of the service that it calls. Clients' workers get the
    services in turn.
    """
    first = client_id * cell.num_connections_per_client
    return [(first + number) % services for number in range(cell.num_connections_per_client)]


def numbers(requests: int | None, first: int = 0) -> Iterable[int]:
    """Return the numbers *first*, *first* + 1, ... of a worker's requests. They never end if
    *requests* is None.
    """
    return count(first) if requests is None else range(first, first + requests)


WorkerT = TypeVar("WorkerT", bound=Any)


class WorkerClient(Generic[WorkerT]):
    """A client with NUM_CONNECTIONS_PER_CLIENT workers, each on its own thread. It connects when it
    is created.

    workers: each has a tally, open(), drop() and call(requests, until_ns)
    services: number of services that get the requests
    The threads start inside the timed region, as in seeds 000 and 001.
    """

    def __init__(
        self, workers: Sequence[WorkerT], cell: Cell, services: int, method: Method
    ) -> None:
        self._workers = workers
        self._warmup, self._timed = quotas(cell, services, method)
        self._open()

    def warm_up(self) -> None:
        """Send the warm-up requests, and then reset the counts to zero."""
        self._race(self._warmup)
        for worker in self._workers:
            worker.tally.clear()

    def run(self) -> Json:
        """Run all workers, and return the client's result (docs/child-contract.md)."""
        return self._result(*self._race(self._timed))

    def close(self) -> None:
        """Close the connections of all workers now, before the process ends."""
        for worker in self._workers:
            worker.drop()

    def _open(self) -> None:
        together([worker.open for worker in self._workers])
        _make_room(len(self._workers) + SPARE_THREADS)

    def _race(self, quota: Quota) -> tuple[int, int]:
        """Run all workers. Return the time at which the workers started and the time at which the
        last worker ended.
        """
        started_ns = perf_counter_ns()
        together(self._calls(quota, started_ns))
        return started_ns, perf_counter_ns()

    def _calls(self, quota: Quota, started_ns: int) -> list[Callable[[], Any]]:
        until_ns = quota.until_ns(started_ns)
        pairs = zip(self._workers, quota.requests, strict=True)
        return [partial(worker.call, requests, until_ns) for worker, requests in pairs]

    def _result(self, started_ns: int, finished_ns: int) -> Json:
        raise NotImplementedError


def together(calls: Sequence[Callable[[], Any]]) -> None:
    """Run each call in its own thread, and wait until all have ended. Raises the first exception of
    a call.
    """
    errors: list[BaseException] = []
    for lock in [_start(call, errors) for call in calls]:
        lock.acquire()
    if errors:
        raise errors[0]


def _start(call: Callable[[], Any], errors: list[BaseException]) -> LockType:
    """Run *call* in a new thread without waiting for its start. The returned lock is released when
    *call* ends.

    threading.Thread.start() waits until the new thread runs. If all cores are busy and there is no
    GIL, the starting thread then queues behind the workers, which takes 3 ms of scheduling for each
    thread.
    """
    ended = allocate_lock()
    ended.acquire()

    def run() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.release()

    start_new_thread(run, ())
    return ended


def _make_room(threads: int) -> None:
    """Start *threads* threads before the timed region. CPython then allocates their memory before
    the timing starts.

    If there are more threads than ever before, a free-threaded CPython stops the world to allocate
    more room. Such a pause waits for every thread whose extension does not detach from the
    interpreter during I/O.
    Source: CPython 3.14, Python/qsbr.c.
    """
    gate = threading.Event()
    waiting = [threading.Thread(target=gate.wait, daemon=True) for _ in range(threads)]
    for thread in waiting:
        thread.start()
    gate.set()
    for thread in waiting:
        thread.join()
