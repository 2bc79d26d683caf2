"""The client of a user's service, against services that a test plays: counts, first wrong answers, pace, patience."""

import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns
from typing import Any

from clients.prepared_requests import BURST, Bursts
from clients.user_service import UserServiceClient
from core.cell import Cell
from core.method import Method
from core.request_plan import Request, RequestPlan
from core.system import SIZES
from tests.native.loadgen_peers import read_http, response, says, scripted

READS = (*SIZES, "NUM_CONNECTIONS_PER_CLIENT", "RATE")
ITEM_3 = says(response(200, b'{"id": 3}'))


def client(
    address: str, *, method: Method | None = None, own: dict[str, Any] | None = None, **values: Any
) -> UserServiceClient:
    """A client of 20 requests on 2 connections, but for *values*."""
    plan = RequestPlan(requests=(Request(path="/3", expect_json={"id": 3}),))
    told = {"protocol": "http", "prefix": "", "requests": plan.to_json(), **(own or {})}
    params = {"NUM_API_SERVICES": 1, "NUM_REQUESTS_PER_CLIENT": 20, "NUM_CONNECTIONS_PER_CLIENT": 2, **values}
    cell = Cell.build(system="own", runtime="3.14", reads=READS, values=params)
    return UserServiceClient(told, cell, 0, [[address]], method or Method())


def test_connections_of_bursts_wait_for_each_other_before_every_burst_as_long_as_the_window_is() -> None:
    assert Bursts(threading.Barrier(2), perf_counter_ns()).wait(0) == 0
    barrier = threading.Barrier(2)
    bursts = Bursts(barrier, perf_counter_ns() + 5_000_000_000)
    with ThreadPoolExecutor() as pool:
        other = pool.submit(bursts.wait, 0)
        assert bursts.wait(1) == 0  # within a burst nobody is waited for
        assert not other.done()
        assert bursts.wait(BURST) == other.result(5.0) == 0
    assert not barrier.broken


def test_bursts_send_for_as_long_as_the_window_is_and_count_every_answer() -> None:
    with scripted(ITEM_3, read_http) as server:
        result = client(server.address, method=Method(duration_s=0.5), own={"bursts": True}).run()
    assert result["answered"] == result["requests"] == server.requests > 2 * BURST
    assert result["completion_ns"] >= 0.5e9
    assert result["errors"] == {}
