"""Clients whose workers have a connection each: how many requests a worker sends, and the threads that it runs on."""

import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import perf_counter_ns
from typing import Any, Generic, TypeVar

from core.cell import Cell
from core.method import Method

GIVE_UP_AFTER = 10  # failures in a row
NEVER_NS = 1 << 62
SPARE_THREADS = 2  # beside the workers: the one that starts them, and the parent watch


@dataclass(frozen=True, kw_only=True)
class Quota:
    """requests: how many each worker sends; None for as many as fit into slice_ns."""

    requests: tuple[int | None, ...]
    slice_ns: int = 0

    def until_ns(self, now_ns: int) -> int:
        """When a worker that begins now ends after its request."""
        return now_ns + self.slice_ns if self.slice_ns else NEVER_NS


def timed(cell: Cell, services: int, method: Method) -> Quota:
    """What is sent after `go`: NUM_REQUESTS_PER_CLIENT to each service, or as many as fit into the duration."""
    return _quota(cell, cell.num_requests_per_client * services, method.duration_s)


def warmup(cell: Cell, services: int, method: Method) -> Quota:
    """What is sent in the warm-up: at least one request of each worker."""
    requests, seconds = method.warmup_of(cell.num_requests_per_client * services)
    return _quota(cell, max(requests or 0, cell.num_connections_per_client), seconds)


def _quota(cell: Cell, requests: int, seconds: float) -> Quota:
    workers = cell.num_connections_per_client
    if seconds:
        return Quota(requests=(None,) * workers, slice_ns=round(seconds * 1e9))
    return Quota(requests=tuple(shares(requests, workers)))


def shares(requests: int, workers: int) -> list[int]:
    """*requests* divided among *workers*; the remainder goes to the first ones."""
    whole, more = divmod(requests, workers)
    return [whole + (number < more) for number in range(workers)]


def turns(cell: Cell, client_id: int, services: int) -> list[int]:
    """Which service each worker calls: the workers of all clients, one after the other, go round the services."""
    first = client_id * cell.num_connections_per_client
    return [(first + number) % services for number in range(cell.num_connections_per_client)]


def numbers(requests: int | None) -> Iterable[int]:
    """0, 1, 2, ... for each of *requests*; None: without end."""
    return count() if requests is None else range(requests)


WorkerT = TypeVar("WorkerT", bound=Any)


class WorkerClient(Generic[WorkerT]):
    """NUM_CONNECTIONS_PER_CLIENT workers on a thread each, whose connections are open once this is built.

    workers: each has a tally, open(), drop() and call(requests, until_ns). services: how many the requests go to.
    The threads are started inside the timed region, as in seeds 000 and 001.
    """

    def __init__(self, workers: Sequence[WorkerT], cell: Cell, services: int, method: Method) -> None:
        self._workers = workers
        self._warmup = warmup(cell, services, method)
        self._timed = timed(cell, services, method)
        self._open()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._workers)} workers)"

    def warm_up(self) -> None:
        """Send requests as in the timed window, as many as the method says, and forget the counts."""
        self._race(self._warmup)
        for worker in self._workers:
            worker.tally.clear()

    def run(self) -> dict[str, Any]:
        """Release the workers, wait for all of them, and sum up: docs/child-contract.md."""
        return self._result(*self._race(self._timed))

    def close(self) -> None:
        """Close the connections; a process that ends need not."""
        for worker in self._workers:
            worker.drop()

    def _open(self) -> None:
        together([worker.open for worker in self._workers])
        _make_room(len(self._workers) + SPARE_THREADS)

    def _race(self, quota: Quota) -> tuple[int, int]:
        """When the workers were released and when the last of them had ended."""
        started_ns = perf_counter_ns()
        together(self._calls(quota, started_ns))
        return started_ns, perf_counter_ns()

    def _calls(self, quota: Quota, started_ns: int) -> list[Callable[[], Any]]:
        until_ns = quota.until_ns(started_ns)
        pairs = zip(self._workers, quota.requests, strict=True)
        return [partial(worker.call, requests, until_ns) for worker, requests in pairs]

    def _result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        raise NotImplementedError


def together(calls: Sequence[Callable[[], Any]]) -> None:
    """Make each call in a thread of its own and wait for all. Raises the first exception that ended one of them."""
    errors: list[BaseException] = []
    for lock in [_start(call, errors) for call in calls]:
        lock.acquire()
    if errors:
        raise errors[0]


def _start(call: Callable[[], Any], errors: list[BaseException]) -> LockType:
    """Make *call* in a thread that is not waited for; the lock can be had when it has ended.

    threading.Thread.start() waits until the new thread runs. On cores that are full, the one that waited then queues
    behind the workers: 3 ms of the scheduler for each thread where there is no GIL that a worker must give up.
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
