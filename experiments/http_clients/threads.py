"""An HTTP client whose workers are threads, each with its own blocking connection.

The modules of libraries give ThreadClient a Library (workers.py), and WorkerClient
(clients/quotas.py) runs the workers. call() is the measured loop, and does the same as
TaskWorker.call() in tasks.py.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from clients.quotas import GIVE_UP_AFTER, numbers
from core.child import thread_run_queue_ns
from experiments.http_clients.workers import EXPECTED_BYTES, HttpClient, HttpWorker, Library


class ThreadWorker(HttpWorker):
    """A worker that runs on a thread."""

    __slots__ = ("run_queue_ns",)

    def __init__(self, library: Library, place: tuple[str, int]) -> None:
        super().__init__(library, place)
        self.run_queue_ns = 0

    def open(self) -> None:
        """Open the connection and send one request. Ignore a failure, because the first counted
        request reports it.
        """
        start = perf_counter_ns()
        try:
            self._take().get()
        except self._library.failures:
            self.drop()
        else:
            self.tally.connect.record(perf_counter_ns() - start)

    def drop(self) -> None:
        """Close the connection. The next request opens a new connection."""
        if self._connection is not None:
            with suppress(*self._library.failures):
                self._connection.close()
            self._connection = None

    def call(self, requests: int | None, until_ns: int) -> None:
        """Send and time *requests* requests one after the other; if *requests* is None, send
        requests until *until_ns*, a time that is infinite otherwise.

        After GIVE_UP_AFTER failures in a row, the remaining requests are not sent. They still count
        as sent, so that they are failures. *get* is of the open connection, so it ends with each
        drop(). All work that
        can wait until the workers end is in summary().
        """
        tally, failures = self.tally, self._library.failures
        note, clock, right_bytes = tally.times_ns.append, perf_counter_ns, EXPECTED_BYTES
        get: Callable[[], Any] | None = None
        number = in_a_row = 0
        began_ns = clock()
        for number in numbers(requests):  # noqa: B007 - used after the loop
            try:
                get = get or self._take().get
                start_ns = clock()
                status, size_bytes = get()
                end_ns = clock()
            except failures as failed:
                self._fail(failed)
                self.drop()
                get, in_a_row = None, in_a_row + 1
                if in_a_row == GIVE_UP_AFTER:
                    break
                continue
            note(start_ns)
            note(end_ns)
            in_a_row = 0
            if status != 200 or size_bytes != right_bytes:
                tally.refuse(status)
                self.drop()
                get = None
            if end_ns >= until_ns:
                break
        tally.loop_ns = clock() - began_ns
        tally.sent = number + 1 if requests is None else requests
        self.run_queue_ns = thread_run_queue_ns()


class ThreadClient(HttpClient[ThreadWorker]):
    """A client whose workers are threads."""

    worker_type, kind = ThreadWorker, "thread"

    def _result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        result = super()._result(started_ns, finished_ns)
        return result | {"run_queue_ns": sum(worker.run_queue_ns for worker in self._workers)}


def _beast_client(module: str, *of_cell: Any) -> ThreadClient:
    """Return a client whose threads use beastclient.<module>. Each of these modules has its own
    exception class.
    """
    extension = import_module(f"beastclient.{module}")
    return ThreadClient(Library(extension.Connection, (extension.Failed,)), *of_cell)


# One client for each module of the extension package beastclient, which http_systems.py names. The
# first and third hold the GIL during I/O, the others release it. The last two do not declare that
# they support free threading, so importing them turns the GIL on.
held = partial(_beast_client, "held")
released = partial(_beast_client, "released")
undeclared = partial(_beast_client, "undeclared")
undeclared_released = partial(_beast_client, "undeclared_released")
