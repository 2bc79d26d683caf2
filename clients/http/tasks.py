"""An HTTP client whose workers are tasks of one asyncio event loop, each with a connection of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from itertools import count
from time import perf_counter_ns
from typing import Any, Protocol

from clients.channel import CallFailed
from clients.http import workers as http_workers
from clients.http.workers import EXPECTED_BYTES, GIVE_UP_AFTER, Quota, Tally
from core.cell import Cell
from core.method import Method


class AsyncConnection(Protocol):
    """One keep-alive connection. Errors are clients.channel.CallFailed, whose code may also be timeout."""

    async def get(self) -> tuple[int, int]:
        """GET /, the whole body read: status and length of the body in bytes."""

    async def close(self) -> None:
        """Close the connection."""


AsyncConnect = Callable[[str, int, float], AsyncConnection]
AsyncGet = Callable[[], Awaitable[tuple[int, int]]]


class TaskWorker:
    """clients.http.threads.Worker for asyncio: one connection, and what its requests came to.

    connect(host, port, deadline_s): called inside the event loop; it does not wait, the first get() may.
    """

    __slots__ = ("_connect", "_connection", "_place", "tally")

    def __init__(self, connect: AsyncConnect, place: tuple[str, int]) -> None:
        self._connect = connect
        self._place = place
        self._connection: AsyncConnection | None = None
        self.tally = Tally()

    async def open(self) -> None:
        """Open the connection and use it once; if that fails, the first request that is counted will say so."""
        start = perf_counter_ns()
        try:
            await self._take()()
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
        tried = await self._ask(count(1) if requests is None else range(1, requests + 1), until_ns)
        tally.loop_ns = perf_counter_ns() - began_ns
        tally.sent = tried if requests is None else requests

    async def _ask(self, numbers: Iterable[int], until_ns: int) -> int:
        """clients.http.threads.Worker's loop with await; how many requests were tried."""
        note, clock, right_bytes = self.tally.times_ns.append, perf_counter_ns, EXPECTED_BYTES
        get: AsyncGet | None = None
        number = failures = 0
        for number in numbers:  # noqa: B007 - how far it came
            try:
                get = get or self._take()
                start_ns = clock()
                status, size_bytes = await get()
                end_ns = clock()
            except CallFailed as failed:
                await self._lose(failed)
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
        return number

    def _take(self) -> AsyncGet:
        if self._connection is None:
            self._connection = self._connect(*self._place, http_workers.REQUEST_DEADLINE_S)
        return self._connection.get

    async def _lose(self, failed: CallFailed) -> None:
        self.tally.errors[failed.code] += 1
        await self.drop()

    async def _refuse(self, status: int) -> None:
        self.tally.refuse(status)
        await self.drop()


class TaskClient:
    """NUM_CONNECTIONS_PER_CLIENT workers on one event loop; their connections are open once this is built.

    addresses: of every service, its sockets. The tasks are made inside the timed region, as in seeds 000 and 001.
    """

    def __init__(
        self, connect: AsyncConnect, cell: Cell, client_id: int, addresses: Sequence[Sequence[str]], method: Method
    ) -> None:
        self._workers = [TaskWorker(connect, place) for place in http_workers.places(cell, client_id, addresses)]
        self._warmup = http_workers.warmup(cell, len(addresses), method)
        self._timed = http_workers.timed(cell, len(addresses), method)
        self._runner = asyncio.Runner()
        self._runner.run(_together([worker.open() for worker in self._workers]))

    def __repr__(self) -> str:
        return f"TaskClient({len(self._workers)} workers)"

    def warm_up(self) -> None:
        """Ask as in the timed window, as much as the method says, and forget it."""
        self._runner.run(self._race(self._warmup))
        for worker in self._workers:
            worker.tally.clear()

    def run(self) -> dict[str, Any]:
        """Make the tasks, wait for all of them, and sum up: docs/child-contract.md and http_workers.summary."""
        started_ns, finished_ns = self._runner.run(self._race(self._timed))
        return http_workers.summary([worker.tally for worker in self._workers], started_ns, finished_ns, "task")

    def close(self) -> None:
        """Close the connections and the event loop; a process that ends need not."""
        self._runner.run(_together([worker.drop() for worker in self._workers]))
        self._runner.close()

    async def _race(self, quota: Quota) -> tuple[int, int]:
        started_ns = perf_counter_ns()
        until_ns = quota.until_ns(started_ns)
        pairs = zip(self._workers, quota.requests, strict=True)
        await _together([worker.call(requests, until_ns) for worker, requests in pairs])
        return started_ns, perf_counter_ns()


async def _together(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*works)
