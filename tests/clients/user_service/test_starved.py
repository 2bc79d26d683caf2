"""Connections that get no answer because the service has too few threads: both clients say how many, and wait once."""

import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import pytest

from core.method import Method, Warmup
from core.request_plan import Request, RequestPlan
from tests.clients.user_service.both import SLICE_NS, start_native, start_python
from tests.clients.user_service.sessions import told
from tests.native.loadgen_peers import HELLO, Scripted, on_each_connection, read_http, says, scripted, silent
from tests.tables import each_row

pytestmark = pytest.mark.alone  # how long a slice takes is part of the promise

LIMIT_S = 0.5
answering = says(HELLO)
WARM = Method(duration_s=0.5, warmup=Warmup(seconds=0.1))
NUMBERED = Method(warmup=Warmup(share=0.5))


@pytest.fixture(params=[start_python, start_native])
def starting(request: pytest.FixtureRequest) -> Any:
    """Both clients, each with a short limit for answers."""

    def start(address: str, *, method: Method = WARM, think_time_s: float = 0.0, **params: Any) -> Any:
        plan = RequestPlan(requests=(Request(),), think_time_s=think_time_s)
        few = {"NUM_CONNECTIONS_PER_CLIENT": 6, **params}
        return request.param({**told(plan), "answer_deadline_s": LIMIT_S}, address, method=method, **few)

    return start


@contextmanager
def threads(number: int, pause_s: float = 0.0) -> Iterator[Scripted]:
    """A service of so many threads, each of which stays with its connection, and needs *pause_s* for an answer."""
    free = threading.BoundedSemaphore(number)
    served: set[socket.socket] = set()

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        while connection not in served and not server.stopped.is_set():
            if free.acquire(timeout=0.05):
                served.add(connection)
        server.stall(pause_s)
        return answering(server, connection, request)

    with scripted(script, read_http) as server:
        yield server


def spent_s(start: Any, served: AbstractContextManager[Any], *words: str, **how: Any) -> tuple[float, list[Any]]:
    """How long a client needed for commands, and what it said to each."""
    with served as server, start(server.address, **how) as say:
        start_ns = perf_counter_ns()
        said = [say(word) for word in words]
        return (perf_counter_ns() - start_ns) / 1e9, said


@each_row
def test_a_connection_that_starves_in_the_warm_up_is_waited_for_once_and_counts(
    starting: Any, how: dict[str, Any]
) -> None:
    pause_s = 0.03 if "RATE" in how else 0.0  # so that the native client needs all connections
    took_s, (_, trial, again) = spent_s(starting, threads(4, pause_s), "warm", "slice", "slice", **how)
    for result in (trial, again):
        assert (result["errors"], result["starved"]) == ({"timeout": 2}, 2)
        assert result["answered"] == result["latency"]["count"] > 0
        assert result.get("overdue", 0) >= 0
        assert result.get("own_ns", 0) <= 6 * SLICE_NS
    assert LIMIT_S < took_s < 2 * LIMIT_S + 0.7


def test_if_all_starve_the_time_that_it_took_is_still_a_time(starting: Any) -> None:
    took_s, (_, first, second) = spent_s(starting, scripted(silent, read_http), "warm", "slice", "slice")
    for result in (first, second):
        assert (result["errors"], result["starved"], result["answered"]) == ({"timeout": 6}, 6, 0)
        assert 0 < result["completion_ns"] < 10**9
    assert took_s < LIMIT_S + 1.0


def test_with_a_number_of_requests_the_cell_is_failed_after_one_limit(starting: Any) -> None:
    how = {"method": NUMBERED, "NUM_REQUESTS_PER_CLIENT": 60}
    took_s, (_, result) = spent_s(starting, threads(4), "warm", "go", **how)
    assert (result["requests"], result["answered"], result["errors"]) == (60, 40, {"timeout": 2})
    assert result["starved"] == 2
    assert took_s < LIMIT_S + 1.0


def test_a_connection_that_had_answers_before_its_time_out_has_not_starved(starting: Any) -> None:
    served = scripted(on_each_connection(2, silent), read_http)
    took_s, (result,) = spent_s(starting, served, "go", method=NUMBERED)
    assert (result["answered"], result["errors"]) == (12, {"timeout": 6})
    assert "starved" not in result
    assert took_s < LIMIT_S + 1.0


def test_a_listener_that_accepts_nothing_costs_one_limit(starting: Any) -> None:
    """Its backlog is full, so that the kernel drops what asks for a connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as stack:
        for _ in range(4):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            filling.connect_ex(listener.getsockname())
        full = SimpleNamespace(address="{}:{}".format(*listener.getsockname()))
        took_s, (result,) = spent_s(starting, nullcontext(full), "slice", RATE=100)
    assert set(result["errors"]) == {"timeout"}
    assert took_s < 2 * LIMIT_S + 1.0


def test_a_service_that_stalls_at_a_rate_has_a_result_that_adds_up(starting: Any) -> None:
    """Answers that come after the slice count, and none of the service's time is the client's own lag."""

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if server.requests % 7 == 0:
            server.stall(0.3)
        return answering(server, connection, request)

    how = {"NUM_CONNECTIONS_PER_CLIENT": 3, "RATE": 100}
    _, (first, second) = spent_s(starting, scripted(script, read_http), "slice", "slice", **how)
    for result in (first, second):
        assert (result["errors"], result["latency"]["count"]) == ({}, result["answered"])
        if "lag" in result:
            assert result["lag"]["p50_ns"] < 10_000_000
