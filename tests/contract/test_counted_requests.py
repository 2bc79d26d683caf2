"""Which requests of a slice count: one table, played to the Python client and to the native client.

A request counts if it starts in the counted part of the slice (at a rate: if it is due then). It is awaited, and its
latency lasts until its answer. Requests that start in the lead are `uncounted`. No request starts after the slice.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import pytest

from clients.user_service.client import STRIDE
from core.child import Slice, wait_until
from core.method import Method
from core.request_plan import Request, order
from lab.run.runtimes import AnyRuntime, Native, orchestrator
from systems import find
from tests.contract.own_services import planned
from tests.contract.serving import small_cell
from tests.contract.speaking import spoken
from tests.native.loadgen_peers import HELLO, Scripted, counted, read_frame, read_http, scripted
from tests.native.programs import program_or_skip

pytestmark = pytest.mark.alone

MS = 1_000_000
LEAD_MS, LENGTH_MS, IN_MS = 200, 400, 300  # the slice begins IN_MS after it is announced
LATE_MS = 30  # how much later than planned an answer may be seen


@dataclass(frozen=True, kw_only=True)
class Case:
    """When the requests are answered, in the order in which they arrive, in ms after the start of the slice.

    latencies_ms: of the requests that count
    uncounted:    how many requests do not count
    own_ms:       how long no request was under way in the counted time
    held_ms:      how long requests of the lead were under way in the counted time
    beyond_ms:    how long counted requests lasted after it
    """

    answered_ms: Sequence[int]
    latencies_ms: Sequence[int]
    uncounted: int
    connections: int = 1
    think_ms: int = 0
    own_ms: int = 0
    held_ms: int = 0
    beyond_ms: int = 0
    rate: int = 0


CASES = {
    # started at             0, 90 |  250, 330, 450, 550 |
    "across both edges": Case(
        answered_ms=[90, 250, 330, 450, 550, 650],
        latencies_ms=[80, 120, 100, 100],
        uncounted=2,
        held_ms=50,
        beyond_ms=50,
    ),
    # started at             0, 100 | 300 |
    "longer than the slice": Case(
        answered_ms=[100, 300, 1000], latencies_ms=[700], uncounted=2, held_ms=100, beyond_ms=400
    ),
    # started at             0 | |
    "from the lead beyond the end": Case(answered_ms=[900], latencies_ms=[], uncounted=1, held_ms=400),
    # started at             0, 0, 150 | 250, 350, 550 |
    "two connections": Case(
        answered_ms=[150, 250, 550, 350, 700, 620],
        latencies_ms=[100, 350, 70],
        uncounted=3,
        connections=2,
        held_ms=400,
        beyond_ms=120,
    ),
    # started at             0, 150 | 320, 500 |
    "thinking": Case(
        answered_ms=[50, 220, 400, 640],
        latencies_ms=[80, 140],
        uncounted=2,
        think_ms=100,
        own_ms=200,
        held_ms=20,
        beyond_ms=40,
    ),
    # due at                 0, 100 | 200, 300, 400, 500 |
    "at a rate": Case(
        answered_ms=[50, 250, 450, 350, 480, 700], latencies_ms=[250, 50, 80, 200], uncounted=2, connections=4, rate=10
    ),
}
FRAMED = ("longer than the slice", "from the lead beyond the end")


def told(case: Case, address: str, runtime: AnyRuntime, folder: Path, *, framed: bool) -> tuple[list[str], Any]:
    """The command of a client, and what it is told."""
    if framed:
        system = find("2")
        cell = small_cell(system, runtime, NUM_THREADS_PER_CLIENT=1, TRANSPORT="tcp")
    else:
        given = {"targets": {"peer": f"http://{address}/"}, "requests": ["GET /"], "think_time": f"{case.think_ms}ms"}
        cell, system = planned(folder, "native", given, NUM_CONNECTIONS_PER_CLIENT=case.connections, RATE=case.rate)
    method = Method(duration_s=1.0, slices=True).to_json()
    own = {"client_id": 0, "addresses": [[address]], "method": method, "cpus": []}
    return runtime.command(system, "client"), {**cell.to_json(), **own, **runtime.child_config(system)}


def played(case: Case, runtime: AnyRuntime, folder: Path, *, framed: bool) -> tuple[dict[str, Any], int]:
    """The result of a client for one slice, and how many requests arrived."""
    numbers, at_ns = count(), 0

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        due_ns = at_ns + case.answered_ms[min(next(numbers), len(case.answered_ms) - 1)] * MS
        server.stall(max(0, due_ns - perf_counter_ns()) / 1e9)
        connection.sendall(counted(200, "50") if framed else HELLO)
        return True

    with scripted(script, read_frame if framed else read_http) as server:
        command, cell = told(case, server.address, runtime, folder, framed=framed)
        with spoken(command, cell) as (client, _):
            at_ns = perf_counter_ns() + IN_MS * MS
            client.tell(str(Slice(at_ns=at_ns, lead_ns=LEAD_MS * MS, length_ns=LENGTH_MS * MS)))
            result: dict[str, Any] = client.line()["result"]
            assert client.end() == (0, b"", "")
        return result, server.requests


@pytest.mark.parametrize("runtime", [orchestrator(), Native()], ids=["python", "native"])
@pytest.mark.parametrize(
    ("name", "framed"), [*((name, False) for name in CASES), *((name, True) for name in FRAMED)], ids=str
)
def test_a_request_counts_if_it_starts_in_the_counted_time(
    name: str, framed: bool, runtime: AnyRuntime, tmp_path: Path
) -> None:
    if isinstance(runtime, Native):
        program_or_skip("loadgen")
    case = CASES[name]
    result, arrived = played(case, runtime, tmp_path, framed=framed)
    expected = len(case.latencies_ms)
    found = [result[key] for key in ("requests", "answered", "uncounted")]
    assert (found, result["latency"]["count"]) == ([expected, expected, case.uncounted], expected)
    assert arrived == expected + case.uncounted
    for key, expected_ms in (("own_ns", case.own_ms), ("held_ns", case.held_ms), ("beyond_ns", case.beyond_ms)):
        assert (key in result) is not bool(case.rate)
        assert abs(result.get(key, 0) / MS - expected_ms) < LATE_MS * case.connections
    if expected:
        total_ms = result["latency"]["histogram"]["total_ns"] / MS
        assert abs(total_ms - sum(case.latencies_ms)) < LATE_MS * expected
        assert abs(result["latency"]["max_ns"] / MS - max(case.latencies_ms)) < LATE_MS


@pytest.mark.parametrize("runtime", [orchestrator(), Native()], ids=["python", "native"])
def test_of_a_request_that_waits_for_a_connection_the_wait_is_time_between_requests(
    runtime: AnyRuntime, tmp_path: Path
) -> None:
    """The queue of the listener is full, so the client's SYN is dropped, and sent again 1 s later (RFC 6298, 2.1)."""
    if isinstance(runtime, Native):
        program_or_skip("loadgen")
    closing = HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        command, cell = told(
            CASES["across both edges"], "127.0.0.1:" + str(listener.getsockname()[1]), runtime, tmp_path, framed=False
        )
        with spoken(command, cell) as (client, _):
            at_ns = perf_counter_ns() + IN_MS * MS
            client.tell(str(Slice(at_ns=at_ns, lead_ns=LEAD_MS * MS, length_ns=LENGTH_MS * MS)))
            with listener.accept()[0] as first, socket.create_connection(listener.getsockname()):
                read_http(first)
                wait_until(at_ns + 250 * MS)
                first.sendall(closing)
            wait_until(at_ns + 700 * MS)
            listener.accept()[0].close()  # of the connection that filled the queue
            with listener.accept()[0] as second:
                read_http(second)
                arrived_ms = (perf_counter_ns() - at_ns) / MS
                second.sendall(closing)
            result = client.line()["result"]
            assert client.end() == (0, b"", "")
    assert arrived_ms > 1000
    assert [result[key] for key in ("answered", "uncounted", "errors")] == [1, 1, {}]
    expected_ms = {"own_ns": arrived_ms - 250, "held_ns": 50, "beyond_ns": arrived_ms - LEAD_MS - LENGTH_MS}
    assert {key: result[key] / MS for key in expected_ms} == pytest.approx(expected_ms, abs=LATE_MS)
    assert result["latency"]["max_ns"] < LATE_MS * MS


@pytest.mark.parametrize("runtime", [orchestrator(), Native()], ids=["python", "native"])
def test_all_of_the_counted_time_is_accounted_for_if_the_client_begins_late(
    runtime: AnyRuntime, tmp_path: Path
) -> None:
    if isinstance(runtime, Native):
        program_or_skip("loadgen")

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        server.stall(0.02)
        connection.sendall(HELLO)
        return True

    late_ms = 100
    with scripted(script, read_http) as server:
        command, cell = told(CASES["two connections"], server.address, runtime, tmp_path, framed=False)
        with spoken(command, cell) as (client, _):
            at_ns = perf_counter_ns() - (LEAD_MS + late_ms) * MS
            client.tell(str(Slice(at_ns=at_ns, lead_ns=LEAD_MS * MS, length_ns=LENGTH_MS * MS)))
            result = client.line()["result"]
            assert client.end() == (0, b"", "")
    assert result["answered"] > 2
    assert result["own_ns"] / MS >= 2 * late_ms
    spent_ns = result["latency"]["histogram"]["total_ns"] + result["own_ns"] + result["held_ns"] - result["beyond_ns"]
    assert spent_ns / MS == pytest.approx(2 * LENGTH_MS, abs=10)


@pytest.mark.parametrize("runtime", [orchestrator(), Native()], ids=["python", "native"])
def test_the_order_of_weighted_requests_goes_on_from_slice_to_slice_and_differs_by_block(
    runtime: AnyRuntime, tmp_path: Path
) -> None:
    if isinstance(runtime, Native):
        program_or_skip("loadgen")
    weighted = [{"request": "GET /often", "weight": 3}, {"request": "GET /rarely", "weight": 1}]
    found = [asked_for(weighted, block, runtime, tmp_path) for block in (1, 2)]
    for block, paths in enumerate(found, 1):
        picks = order([Request(path="/often", weight=3), Request(path="/rarely", weight=1)], block + 1, 4096)
        begin = STRIDE % len(picks)  # of the first user
        expected = [("/often", "/rarely")[picks[(begin + place) % len(picks)]] for place in range(len(paths))]
        assert paths == expected
    fewest = min(map(len, found))
    assert fewest > 12
    assert found[0][:fewest] != found[1][:fewest]


def asked_for(requests: list[dict[str, Any]], block: int, runtime: AnyRuntime, folder: Path) -> list[str]:
    """The paths that a client with one connection asks for in two slices."""
    paths: list[str] = []

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        paths.append(request.split(b" ")[1].decode())
        server.stall(0.01)
        connection.sendall(HELLO)
        return True

    with scripted(script, read_http) as server:
        given = {"targets": {"peer": f"http://{server.address}/"}, "requests": requests}
        cell, system = planned(folder, "native", given, NUM_CONNECTIONS_PER_CLIENT=1)
        own = {"client_id": 0, "addresses": [[server.address]], "method": Method(duration_s=1.0).to_json(), "cpus": []}
        line = {**cell.to_json(), **own, **runtime.child_config(system), "block": block}
        with spoken(runtime.command(system, "client"), line) as (client, _):
            for _ in range(2):
                at_ns = perf_counter_ns() + IN_MS * MS
                client.tell(str(Slice(at_ns=at_ns, lead_ns=20 * MS, length_ns=80 * MS)))
                assert client.line()["result"]["errors"] == {}
            assert client.end() == (0, b"", "")
    return paths
