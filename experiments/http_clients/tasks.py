"""An HTTP client whose workers are tasks of one asyncio event loop, each with a connection of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, Protocol

from clients.channel import CallFailed
from clients.workers import GIVE_UP_AFTER, Quota, WorkerClient, numbers
from core.cell import Cell
from core.method import Method
from experiments.http_clients.workers import EXPECTED_BYTES, HttpWorker, places, summary


class AsyncConnection(Protocol):
    """One keep-alive connection. Errors are clients.channel.CallFailed, whose code may also be timeout."""

    async def get(self) -> tuple[int, int]:
        """GET /, the whole body read: status and length of the body in bytes."""

    async def close(self) -> None:
        """Close the connection."""


AsyncConnect = Callable[[str, int, float], AsyncConnection]


class TaskWorker(HttpWorker[AsyncConnection]):
    """experiments.http_clients.threads.ThreadWorker for asyncio. connect() does not wait; the first get() may."""

    __slots__ = ()

    async def open(self) -> None:
        """Open the connection and use it once; a failure shows in the first request that is counted."""
        start = perf_counter_ns()
        try:
            await self._take().get()
        except CallFailed:
            await self.drop()
        else:
            self.tally.connect.record(perf_counter_ns() - start)

    async def drop(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            with suppress(CallFailed):
                await self._connection.close()
            self._connection = None

    async def call(self, requests: int | None, until_ns: int) -> None:
        """Send *requests* requests one after the other (None: any number, until *until_ns*), count and time each.

        Gives up after GIVE_UP_AFTER failures in a row; what was not sent is missing from answered.
        """
        tally = self.tally
        tally.sent = requests or 0
        began_ns = perf_counter_ns()
        sent = await self._send(numbers(requests), until_ns)
        tally.loop_ns = perf_counter_ns() - began_ns
        tally.sent = sent if requests is None else requests

    async def _send(self, numbers: Iterable[int], until_ns: int) -> int:
        """ThreadWorker's loop with await; how many requests were sent."""
        note, clock, right_bytes = self.tally.times_ns.append, perf_counter_ns, EXPECTED_BYTES
        get: Callable[[], Awaitable[tuple[int, int]]] | None = None
        number = failures = 0
        for number in numbers:  # noqa: B007 - how far it came
            try:
                get = get or self._take().get
                start_ns = clock()
                status, size_bytes = await get()
                end_ns = clock()
            except CallFailed as failed:
                await self._fail(failed)
                get, failures = None, failures + 1
                if failures == GIVE_UP_AFTER:
                    break
                continue
            note(start_ns)
            note(end_ns)
            failures = 0
            if status != 200 or size_bytes != right_bytes:
                await self._refuse(status)
                get = None
            if end_ns >= until_ns:
                break
        return number + 1

    async def _fail(self, failed: CallFailed) -> None:
        self.tally.errors[failed.code] += 1
        await self.drop()

    async def _refuse(self, status: int) -> None:
        self.tally.refuse(status)
        await self.drop()


class TaskClient(WorkerClient[TaskWorker]):
    """WorkerClient with tasks of one event loop in place of threads. addresses: of every service, its sockets."""

    def __init__(
        self, connect: AsyncConnect, cell: Cell, client_id: int, addresses: Sequence[Sequence[str]], method: Method
    ) -> None:
        self._runner = asyncio.Runner()
        workers = [TaskWorker(connect, place) for place in places(cell, client_id, addresses)]
        super().__init__(workers, cell, len(addresses), method)

    def close(self) -> None:
        """Close the connections and the event loop; a process that ends need not."""
        self._runner.run(_gathered([worker.drop for worker in self._workers]))
        self._runner.close()

    def _open(self) -> None:
        self._runner.run(_gathered([worker.open for worker in self._workers]))

    def _race(self, quota: Quota) -> tuple[int, int]:
        return self._runner.run(self._raced(quota))

    async def _raced(self, quota: Quota) -> tuple[int, int]:
        started_ns = perf_counter_ns()
        await _gathered(self._calls(quota, started_ns))
        return started_ns, perf_counter_ns()

    def _result(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        return summary([worker.tally for worker in self._workers], started_ns, finished_ns, "task")


async def _gathered(calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    await asyncio.gather(*(call() for call in calls))
