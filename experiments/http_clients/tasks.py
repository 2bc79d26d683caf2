"""An HTTP client whose workers are tasks of one asyncio event loop, each with its own
connection.

The modules of libraries give TaskClient a Library (workers.py). TaskClient replaces hooks of
WorkerClient (clients/quotas.py), so that workers run in the event loop of one thread. call() is the
measured loop, and does the same as ThreadWorker.call() in threads.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from time import perf_counter_ns
from typing import Any

from clients.quotas import GIVE_UP_AFTER, Quota, numbers
from experiments.http_clients.workers import EXPECTED_BYTES, HttpClient, HttpWorker


class TaskWorker(HttpWorker):
    """A worker that runs as an asyncio task. Only get() awaits, and the first call of get() also
    connects.
    """

    __slots__ = ()

    async def open(self) -> None:
        """Open the connection and send one request. Ignore a failure, because the first counted
        request reports it.
        """
        start = perf_counter_ns()
        try:
            await self._take().get()
        except self._library.failures:
            await self.drop()
        else:
            self.tally.connect.record(perf_counter_ns() - start)

    async def drop(self) -> None:
        """Close the connection. The next request opens a new connection."""
        if self._connection is not None:
            with suppress(*self._library.failures):
                await self._connection.close()
            self._connection = None

    async def call(self, requests: int | None, until_ns: int) -> None:
        """Send and time *requests* requests one after the other; if *requests* is None, send
        requests until *until_ns*, a time that is infinite otherwise.

        After GIVE_UP_AFTER failures in a row, the remaining requests are not sent. They still count
        as sent, so that they are failures. The loop is timed: keep lookups out of it.
        """
        tally, failures = self.tally, self._library.failures
        note, clock, right_bytes = tally.times_ns.append, perf_counter_ns, EXPECTED_BYTES
        get: Callable[[], Awaitable[Any]] | None = None
        number = in_a_row = 0
        began_ns = clock()
        for number in numbers(requests):  # noqa: B007 - used after the loop
            try:
                get = get or self._take().get
                start_ns = clock()
                status, size_bytes = await get()
                end_ns = clock()
            except failures as failed:
                self._fail(failed)
                await self.drop()
                get, in_a_row = None, in_a_row + 1
                if in_a_row == GIVE_UP_AFTER:
                    break
                continue
            note(start_ns)
            note(end_ns)
            in_a_row = 0
            if status != 200 or size_bytes != right_bytes:
                tally.refuse(status)
                await self.drop()
                get = None
            if end_ns >= until_ns:
                break
        tally.loop_ns = clock() - began_ns
        tally.sent = number + 1 if requests is None else requests


class TaskClient(HttpClient[TaskWorker]):
    """A client whose workers are tasks of one event loop."""

    worker_type, kind = TaskWorker, "task"

    def _open(self) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(_gathered([worker.open for worker in self._workers]))

    def _race(self, quota: Quota) -> tuple[int, int]:
        return self._runner.run(self._raced(quota))

    async def _raced(self, quota: Quota) -> tuple[int, int]:
        started_ns = perf_counter_ns()
        await _gathered(self._calls(quota, started_ns))
        return started_ns, perf_counter_ns()


async def _gathered(calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    await asyncio.gather(*(call() for call in calls))
