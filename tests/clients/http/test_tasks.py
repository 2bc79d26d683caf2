"""Tasks of an HTTP client against a scripted server: they count as threads do, on one event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from clients.channel import CallFailed
from clients.http import workers as http_workers
from clients.http.tasks import TaskClient
from clients.workers import GIVE_UP_AFTER
from core.cell import Cell
from core.method import Method, Warmup
from tests.clients.scripted_http import Script, ScriptedHttp, barrier, first_right_then, response, says

READS = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_REQUESTS_PER_CLIENT", "NUM_CONNECTIONS_PER_CLIENT")


class StreamConnection:
    """The least HTTP client that there is, on asyncio's streams."""

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._place = (host, port)
        self._deadline_s = deadline_s
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self) -> tuple[int, int]:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._get()
        except TimeoutError as error:
            raise CallFailed("timeout") from error
        except asyncio.IncompleteReadError as error:
            raise CallFailed("closed") from error

    async def _get(self) -> tuple[int, int]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._place)
        reader, writer = self._streams
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size_bytes = int(head.partition("content-length: ")[2].split()[0])
        return int(head.split()[1]), len(await reader.readexactly(size_bytes))

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            await self._streams[1].wait_closed()


@pytest.fixture(autouse=True)
def short_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_workers, "REQUEST_DEADLINE_S", 0.3)


def cell(requests: int, connections: int = 1) -> Cell:
    values = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": connections}
    return Cell.build(system="http-aiohttp", runtime="3.14", reads=READS, values=values)


@contextmanager
def client(server: ScriptedHttp, of: Cell, method: Method = Method()) -> Iterator[TaskClient]:  # noqa: B008 - frozen
    made = TaskClient(StreamConnection, of, 0, [[server.address]], method)
    try:
        yield made
    finally:
        made.close()


def test_each_task_opens_one_connection_before_it_is_timed_and_keeps_it() -> None:
    method = Method(warmup=Warmup(share=0.5))
    with ScriptedHttp(says(response())) as server, client(server, cell(8, connections=3), method) as tasks:
        assert (server.connections, server.requests) == (3, 3)
        tasks.warm_up()
        assert server.requests == 3 + 4
        counted = tasks.run()
        assert (server.connections, server.requests) == (3, 3 + 4 + 8)
    assert (counted["requests"], counted["answered"], counted["wrong"], counted["errors"]) == (8, 8, 0, {})
    assert (counted["latency"]["count"], counted["connect"]["count"]) == (8, 3)
    assert [len(requests) for requests in counted["timeline"]] == [3, 3, 2]
    assert all(0 < loop_ns <= counted["bench_ns"] for loop_ns in counted["workers_ns"])


def test_a_duration_ends_the_loops() -> None:
    method = Method(duration_s=0.05)
    with ScriptedHttp(says(response())) as server, client(server, cell(10**6, connections=2), method) as tasks:
        counted = tasks.run()
    assert counted["requests"] == counted["answered"] > 2
    assert counted["bench_ns"] >= 50_000_000


@pytest.mark.parametrize(
    ("script", "answered", "wrong", "errors"),
    [
        (says(response("500 Internal Server Error")), 2, 0, {"500": 2}),
        (says(response(body=b"Hello")), 2, 2, {}),
        (says(None), 0, 0, {"closed": 2}),
        (says(b""), 0, 0, {"timeout": 2}),
    ],
    ids=["500", "short", "closes", "silent"],
)
def test_a_bad_answer_is_counted_by_its_cause_also_after_a_good_one(
    script: Script, answered: int, wrong: int, errors: dict[str, int]
) -> None:
    for played in (script, first_right_then(script)):
        with ScriptedHttp(played) as server, client(server, cell(2, connections=2)) as tasks:
            counted = tasks.run()
        assert (counted["requests"], counted["answered"]) == (2, answered)
        assert (counted["wrong"], counted["errors"]) == (wrong, errors)


def test_a_server_that_closes_every_connection_is_given_up() -> None:
    with ScriptedHttp(says(None)) as server, client(server, cell(50)) as tasks:
        counted = tasks.run()
    assert (counted["requests"], counted["errors"]) == (50, {"closed": GIVE_UP_AFTER})


def test_all_tasks_are_in_the_server_at_once() -> None:
    with ScriptedHttp(first_right_then(barrier(10))) as server, client(server, cell(10, connections=10)) as tasks:
        counted = tasks.run()
    assert (counted["answered"], counted["errors"]) == (10, {})
