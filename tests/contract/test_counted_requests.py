"""Which requests of a slice count: one table, played to the Python client and to the native client.

A request counts if it starts in the counted part of the slice (at a rate: if it is due then). It is awaited, and its
latency lasts until its answer. Requests that start in the lead are `uncounted`. No request starts after the slice.
"""

import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

import pytest

from clients.user_service import STRIDE
from core.child import Slice, wait_until
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S, Request, order
from lab.run.contract import take_client_result
from lab.run.measured_runtimes import AnyRuntime, Native, orchestrator
from systems import find
from tests.contract.own_services import planned
from tests.contract.serving import small_cell
from tests.contract.speaking import Spoken, spoken
from tests.lab.run.test_contract import CHILD
from tests.native.loadgen_peers import HELLO, Script, Scripted, counted, read_frame, read_http, scripted
from tests.native.programs import program_or_skip
from tests.tables import table

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


TABLE = table(__file__, "counted_requests.yaml")
CASES = {name: Case(**row) for name, row in TABLE.items()}
Play = tuple[str, bool]  # the name of a case, and whether the client is that of system 2


class Played(NamedTuple):
    """The client's result, how many requests arrived, and how long the server took for each, by arrival."""

    result: dict[str, Any]
    arrived: int
    taken_ms: list[float]


FRAMED = ("longer than the slice", "from the lead beyond the end")
PLAYS: list[Play] = [*((name, False) for name in CASES), *((name, True) for name in FRAMED)]


@pytest.fixture(scope="module", params=["python", "native"])
def runtime(request: pytest.FixtureRequest) -> AnyRuntime:
    """The runtime of the client."""
    if request.param == "python":
        return orchestrator()
    program_or_skip("loadgen")
    return Native()


@contextmanager
def a_client(
    case: Case,
    address: str,
    runtime: AnyRuntime,
    *,
    framed: bool = False,
    requests: Sequence[object] = ("GET /",),
    block: int = 1,
    limit_s: float = ANSWER_DEADLINE_S,
) -> Iterator[Spoken]:
    """A client that is ready to send the requests of a user's service, or those of system 2."""
    if framed:
        system = find("2")
        cell = small_cell(system, runtime, NUM_THREADS_PER_CLIENT=1, TRANSPORT="tcp")
    else:
        given: dict[str, Any] = {"targets": {"peer": f"http://{address}/"}, "requests": [*requests]}
        given["think_time"] = f"{case.think_ms}ms"
        sizes = {"NUM_CONNECTIONS_PER_CLIENT": case.connections, "RATE": case.rate}
        cell, system = planned(Path(), "native", given, **sizes)
    method = Method(duration_s=1.0, slices=True).to_json()
    own = {"client_id": 0, "addresses": [[address]], "method": method, "cpus": [], "block": block}
    told = {**cell.to_json(), **own, **runtime.child_config(system)}
    if "own" in told:
        told["own"] = {**told["own"], "answer_deadline_s": limit_s}
    with spoken(runtime.command(system, "client"), told) as (client, _):
        yield client


@contextmanager
def calling(
    script: Script, runtime: AnyRuntime, case: str = "across both edges", **how: Any
) -> Iterator[tuple[Spoken, Scripted]]:
    """A client that is ready to call a server that plays *script*, and the server. how: of a_client()"""
    with scripted(script, read_http) as server, a_client(CASES[case], server.address, runtime, **how) as client:
        yield client, server


def begin_slice(client: Spoken, at_ns: int, lead_ms: int = LEAD_MS, length_ms: int = LENGTH_MS) -> None:
    """Announce a slice that begins at *at_ns*."""
    client.tell(str(Slice(at_ns=at_ns, lead_ns=lead_ms * MS, length_ns=length_ms * MS)))


def result_of(client: Spoken) -> dict[str, Any]:
    """The result of the slice, after which the client ends."""
    result: dict[str, Any] = client.line()["result"]
    assert client.end() == (0, b"", "")
    return result


def answers_late(wait_s: float) -> Script:
    """A script that answers each request after that time."""

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        server.stall(wait_s)
        connection.sendall(HELLO)
        return True

    return script


@pytest.fixture(scope="module")
def results(runtime: AnyRuntime) -> dict[Play, Played]:
    """What came of each play. All play at once, because they do little but wait."""
    begin_ns: list[int] = []

    def answers_as_planned(answered_ms: Sequence[int], answer: bytes, taken_ms: list[tuple[float, float]]) -> Script:
        numbers = count()

        def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
            arrived_ns = perf_counter_ns()
            due_ns = begin_ns[0] + answered_ms[min(next(numbers), len(answered_ms) - 1)] * MS
            server.stall(max(0, due_ns - arrived_ns) / 1e9)
            taken_ms.append((arrived_ns / MS, (perf_counter_ns() - arrived_ns) / MS))
            connection.sendall(answer)
            return True

        return script

    with ExitStack() as stack:
        playing = {}
        for name, framed in PLAYS:
            case = CASES[name]
            answer, read = (counted(200, "50"), read_frame) if framed else (HELLO, read_http)
            taken_ms: list[tuple[float, float]] = []
            server = stack.enter_context(scripted(answers_as_planned(case.answered_ms, answer, taken_ms), read))
            client = stack.enter_context(a_client(case, server.address, runtime, framed=framed))
            playing[name, framed] = client, server, taken_ms
        begin_ns.append(perf_counter_ns() + IN_MS * MS)
        for client, *_ in playing.values():
            begin_slice(client, begin_ns[0])
        return {
            play: Played(result_of(client), server.requests, [taken for _, taken in sorted(taken_ms)])
            for play, (client, server, taken_ms) in playing.items()
        }


@pytest.mark.parametrize("play", PLAYS, ids=str)
def test_a_request_counts_if_it_starts_in_the_counted_time(play: Play, results: dict[Play, Played]) -> None:
    case, (result, arrived, taken_ms) = CASES[play[0]], results[play]
    expected = len(case.latencies_ms)
    found = [result[key] for key in ("requests", "answered", "uncounted")]
    assert (found, result["latency"]["count"]) == ([expected, expected, case.uncounted], expected)
    assert arrived == expected + case.uncounted
    for key, expected_ms in (("own_ns", case.own_ms), ("held_ns", case.held_ms), ("beyond_ns", case.beyond_ms)):
        assert (key in result) is not bool(case.rate)
        assert abs(result.get(key, 0) / MS - expected_ms) < LATE_MS * case.connections
    if expected:
        # At a rate, latency begins when a request is due; else when it is sent, which a late answer before it delays.
        latencies_ms = case.latencies_ms if case.rate else taken_ms[case.uncounted :]
        total_ms = result["latency"]["histogram"]["total_ns"] / MS
        assert abs(total_ms - sum(latencies_ms)) < LATE_MS * expected
        assert abs(result["latency"]["max_ns"] / MS - max(latencies_ms)) < LATE_MS


def test_of_a_request_that_waits_for_a_connection_the_wait_is_time_between_requests(runtime: AnyRuntime) -> None:
    """The queue of the listener is full, so the client's SYN is dropped, and sent again 1 s later (RFC 6298, 2.1)."""
    closing = HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = "{}:{}".format(*listener.getsockname())
        with a_client(CASES["across both edges"], address, runtime) as client:
            at_ns = perf_counter_ns() + IN_MS * MS
            begin_slice(client, at_ns)
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
            result = result_of(client)
    assert arrived_ms > 1000
    assert [result[key] for key in ("answered", "uncounted", "errors")] == [1, 1, {}]
    expected_ms = {"own_ns": arrived_ms - 250, "held_ns": 50, "beyond_ns": arrived_ms - LEAD_MS - LENGTH_MS}
    assert {key: result[key] / MS for key in expected_ms} == pytest.approx(expected_ms, abs=LATE_MS)
    assert result["latency"]["max_ns"] < LATE_MS * MS


def test_all_of_the_counted_time_is_accounted_for_if_the_client_begins_late(runtime: AnyRuntime) -> None:
    late_ms = 100
    with calling(answers_late(0.02), runtime, "two connections") as (client, _):
        begin_slice(client, perf_counter_ns() - (LEAD_MS + late_ms) * MS)
        result = result_of(client)
    assert result["answered"] > 2
    assert result["own_ns"] / MS >= 2 * late_ms
    spent_ns = result["latency"]["histogram"]["total_ns"] + result["own_ns"] + result["held_ns"] - result["beyond_ns"]
    assert spent_ns / MS == pytest.approx(2 * LENGTH_MS, abs=10)


def test_the_order_of_weighted_requests_goes_on_from_slice_to_slice_and_differs_by_block(runtime: AnyRuntime) -> None:
    found = [paths_asked_for(block, runtime) for block in (1, 2)]
    for block, paths in enumerate(found, 1):
        picks = order([Request(path="/often", weight=3), Request(path="/rarely", weight=1)], block + 1, 4096)
        begin = STRIDE % len(picks)  # of the first user
        expected = [("/often", "/rarely")[picks[(begin + place) % len(picks)]] for place in range(len(paths))]
        assert paths == expected
    fewest = min(map(len, found))
    assert fewest > 12
    assert found[0][:fewest] != found[1][:fewest]


def test_requests_are_counted_by_name_and_failures_belong_to_their_request(runtime: AnyRuntime) -> None:
    """Two requests share a name. /slow takes 20 ms, and the service closes the connection at a request of /gone."""
    requests = [
        {"request": "GET /a", "name": "both"},
        {"request": "GET /slow", "weight": 2},
        {"request": "GET /b", "name": "both"},
        "POST /gone",
    ]

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        server.stall(0.02 if b"/slow" in request else 0.001)
        if b"/gone" in request:
            return False
        connection.sendall(HELLO)
        return True

    with calling(script, runtime, requests=requests) as (client, server):
        begin_slice(client, perf_counter_ns() + 20 * MS, 0, 400)
        result = result_of(client)
    both, slow, gone = result["routes"]
    asked = Counter(request.split(b" ")[1].decode() for request in server.asked)
    assert [both["answered"], slow["answered"], gone["requests"]] == [
        asked["/a"] + asked["/b"],
        asked["/slow"],
        asked["/gone"],
    ]
    assert [both["errors"], slow["errors"], gone["errors"]] == [{}, {}, {"closed": asked["/gone"]}]
    assert both["latency"]["p50_ns"] < 20 * MS <= slow["latency"]["min_ns"]
    assert (gone["answered"], gone["latency"]["count"], asked["/gone"] > 1) == (0, 0, True)
    take_client_result(CHILD, {"result": result}, 3)


@pytest.mark.parametrize("place", [0, 1])
def test_a_timeout_is_counted_again_for_the_request_that_timed_out(runtime: AnyRuntime, place: int) -> None:
    stalls = (b"/a", b"/b")[place]

    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        if stalls in request:
            server.stall(10)
        connection.sendall(HELLO)
        return True

    with calling(script, runtime, requests=["GET /a", "GET /b"], limit_s=0.3) as (client, _):
        for _ in range(2):
            begin_slice(client, perf_counter_ns() + 20 * MS, 0, 100)
            result = client.line()["result"]
            assert [route["errors"] for route in result["routes"]][place] == result["errors"] == {"timeout": 1}
            take_client_result(CHILD, {"result": result}, 2)
        assert client.end() == (0, b"", "")


def paths_asked_for(block: int, runtime: AnyRuntime) -> list[str]:
    """The paths that a client with one connection asks for in two slices."""
    weighted = [{"request": "GET /often", "weight": 3}, {"request": "GET /rarely", "weight": 1}]
    with calling(answers_late(0.01), runtime, requests=weighted, block=block) as (client, server):
        for _ in range(2):
            begin_slice(client, perf_counter_ns() + 20 * MS, 20, 80)
            assert client.line()["result"]["errors"] == {}
        assert client.end() == (0, b"", "")
    return [request.split(b" ")[1].decode() for request in server.asked]
