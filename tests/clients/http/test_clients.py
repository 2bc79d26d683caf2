"""Threads and tasks of an HTTP client against a scripted server: every answer is counted once, under the right name."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from clients.channel import CallFailed
from clients.http import workers as http_workers
from clients.http.stdlib import StdlibConnection
from clients.http.tasks import TaskClient
from clients.http.threads import BlockingConnection, ThreadClient, ThreadWorker
from clients.workers import NEVER_NS
from core.cell import Cell
from core.method import Method, Warmup
from tests.clients.scripted_http import (
    HALF,
    Script,
    ScriptedHttp,
    first_right_then,
    half_then_close,
    response,
    says,
)

READS = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_REQUESTS_PER_CLIENT", "NUM_CONNECTIONS_PER_CLIENT")
SHORT_S = 1.0  # a deadline that an answer that comes at once does not miss on a busy machine either


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


def cell(requests: int, connections: int = 1) -> Cell:
    values = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": connections}
    return Cell.build(system="http-stdlib", runtime="3.14", reads=READS, values=values)


def threads(address: str, of: Cell, method: Method) -> ThreadClient:
    return ThreadClient(StdlibConnection, of, 0, [[address]], method)


def tasks(address: str, of: Cell, method: Method) -> TaskClient:
    return TaskClient(StreamConnection, of, 0, [[address]], method)


Client = ThreadClient | TaskClient
Started = Callable[..., AbstractContextManager[Client]]


@pytest.fixture(params=[threads, tasks])
def client(request: pytest.FixtureRequest) -> Started:
    """Starts a client of either kind: client(server, cell)."""

    @contextmanager
    def started(server: ScriptedHttp, of: Cell, method: Method = Method()) -> Iterator[Client]:  # noqa: B008 - frozen
        made: Client = request.param(server.address, of, method)
        try:
            yield made
        finally:
            made.close()

    return started


def test_each_worker_opens_one_connection_before_it_is_timed_warms_it_up_and_keeps_it(client: Started) -> None:
    method = Method(warmup=Warmup(share=0.5))
    with ScriptedHttp(says(response())) as server, client(server, cell(8, connections=3), method) as workers:
        assert (server.connections, server.requests) == (3, 3)
        workers.warm_up()
        assert server.requests == 3 + 4
        counted = workers.run()
        assert (server.connections, server.requests) == (3, 3 + 4 + 8)
    assert (counted["requests"], counted["answered"], counted["wrong"], counted["errors"]) == (8, 8, 0, {})
    assert (counted["latency"]["count"], counted["connect"]["count"]) == (8, 3)
    assert [len(requests) for requests in counted["timeline"]] == [3, 3, 2]


def test_a_workers_loop_lies_within_the_bench_and_its_requests_within_the_loop(client: Started) -> None:
    with ScriptedHttp(says(response())) as server, client(server, cell(20, connections=2)) as workers:
        counted = workers.run()
    assert all(0 < loop_ns <= counted["bench_ns"] for loop_ns in counted["workers_ns"])
    for requests, loop_ns in zip(counted["timeline"], counted["workers_ns"], strict=True):
        flat = [offset for request in requests for offset in request]
        assert flat == sorted(flat)
        assert flat[0] >= 0
        assert flat[-1] - flat[0] <= loop_ns


def test_a_duration_ends_the_loops(client: Started) -> None:
    method = Method(duration_s=0.05)
    with ScriptedHttp(says(response())) as server, client(server, cell(10**6, connections=2), method) as workers:
        counted = workers.run()
    assert counted["requests"] == counted["answered"] >= 2
    assert 50_000_000 <= counted["bench_ns"] < 10_000_000_000


@pytest.mark.parametrize(
    ("script", "answered", "wrong", "errors"),
    [
        (says(response("500 Internal Server Error")), 2, 0, {"500": 2}),
        (says(response(body=b"Hello")), 2, 2, {}),
        (says(None), 0, 0, {"closed": 2}),
        (half_then_close, 0, 0, {"closed": 2}),
        (says(HALF), 0, 0, {"timeout": 2}),
        (says(b""), 0, 0, {"timeout": 2}),
    ],
    ids=["500", "short", "closes", "half-closes", "half-silent", "silent"],
)
def test_a_bad_answer_is_counted_by_its_cause_also_after_a_good_one(
    client: Started,
    script: Script,
    answered: int,
    wrong: int,
    errors: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "timeout" in errors:
        monkeypatch.setattr(http_workers, "REQUEST_DEADLINE_S", SHORT_S)
    for played in (script, first_right_then(script)):
        with ScriptedHttp(played) as server, client(server, cell(2, connections=2)) as workers:
            counted = workers.run()
        assert (counted["requests"], counted["answered"]) == (2, answered)
        assert (counted["wrong"], counted["errors"]) == (wrong, errors)


class Broken:
    """A connection with a mistake in it: its second request raises what no worker expects."""

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._requests = 0

    def get(self) -> tuple[int, int]:
        self._requests += 1
        if self._requests > 1:
            raise ZeroDivisionError("a mistake")
        return 200, 13

    def close(self) -> None:
        raise AssertionError("nobody closes it")


def test_a_worker_that_dies_ends_the_client_with_its_exception() -> None:
    threads = ThreadClient(Broken, cell(4, connections=2), 0, [["127.0.0.1:80"]], Method())
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        threads.run()


def test_what_a_dead_worker_was_to_send_is_missing_from_the_answers() -> None:
    worker = ThreadWorker(Broken, ("127.0.0.1", 80))
    with pytest.raises(ZeroDivisionError):
        worker.call(5, NEVER_NS)
    counted = http_workers.summary([worker.tally], 0, 1, "thread")
    assert (counted["requests"], counted["answered"]) == (5, 1)


def test_a_library_may_have_an_error_of_its_own_whose_first_argument_is_the_code() -> None:
    class Refused(Exception):
        pass

    def connect(host: str, port: int, deadline_s: float) -> BlockingConnection:
        raise Refused("connect", "nobody listens")

    threads = ThreadClient(connect, cell(3), 0, [["127.0.0.1:80"]], Method(), failure=Refused)
    counted = threads.run()
    assert (counted["requests"], counted["answered"], counted["errors"]) == (3, 0, {"connect": 3})
