"""The HTTP clients as real processes: what they count and time, and whose threads really overlap.

Bad servers are counted, and hang nobody.
"""

import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from core.method import Method, Warmup
from core.runtime import NATIVE
from experiments.http_clients.http_systems import SYSTEMS
from lab.run.children import WARM
from systems import find
from tests.clients.driving import counts
from tests.contract.peers import DEADLINE_S
from tests.contract.serving import command_or_skip, small_cell
from tests.contract.speaking import Spoken
from tests.contract.test_systems import runtime_of
from tests.native.loadgen_peers import (
    Script,
    Scripted,
    barrier,
    drips,
    nobody_listens,
    on_each_connection,
    read_http,
    reset,
    response,
    says,
    scripted,
)

ROWS = [system.name for system in SYSTEMS if system.client and not system.turns_gil_on]
NATIVE_ROWS = {"http-beast-native": ("--timeout-ms", 1000), "http-reqwest-native": ("--timeout", 1)}
UNDECLARED = ("http-beast-undeclared", "http-beast-undeclared-released")
HOLDING = ("http-beast-held", "http-beast-undeclared")
# Of a bad server: what holds the GIL has the code of what releases it, and would make the others late.
CALLERS = [*(("3.14t", row) for row in ROWS if row not in HOLDING), *((NATIVE, row) for row in NATIVE_ROWS)]
OVERLAPPING = [
    *CALLERS,
    *(("3.14t", row) for row in ("http-beast-held", *UNDECLARED)),
    ("3.11", "http-stdlib"),
    ("3.14", "http-beast-released"),
    ("3.14t+gil", "http-beast-held"),
]
BARRIER_DEADLINE_S = 1.0  # of rows that must miss it once their connections are open; the others have DEADLINE_S
BAD_SERVER_DEADLINE_S = 2.5  # all clients begin at once, on a machine that may be busy; waited for twice
DRIP_S = 0.08  # a byte: an answer takes longer than any of these deadlines
HALF = response()[:-6]
Counts = tuple[int, int, dict[str, int]]
BAD_SERVERS: dict[str, tuple[Script, Counts]] = {
    "answers 500": (says(response(500)), (1, 0, {"500": 1})),
    "answers too little": (says(response(body=b"Hello")), (1, 1, {})),
    "closes": (says(b"", keep=False), (0, 0, {"closed": 1})),
    "sends half a body and closes": (says(HALF, keep=False), (0, 0, {"closed": 1})),
    "sends half a body and waits": (says(HALF), (0, 0, {"timeout": 1})),
    "never answers": (says(b""), (0, 0, {"timeout": 1})),
    "resets": (reset, (0, 0, {"reset": 1})),
    "is no HTTP server": (says(b"220 mail.example ESMTP\r\n\r\n"), (0, 0, {"garbled": 1})),
    "drips": (drips(DRIP_S), (0, 0, {"timeout": 1})),
}


def start(
    name: str,
    row: str,
    servers: Sequence[str],
    requests: int,
    workers: int,
    deadline_s: float = DEADLINE_S,
    **more: Any,
) -> Spoken:
    """The row's client, which sends so many requests to each of *servers* by so many workers.

    deadline_s: no request takes longer. more: what else the client is told
    """
    system, runtime = find(row), runtime_of(name)
    sizes = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": workers}
    cell = small_cell(system, runtime, NUM_API_SERVICES=len(servers), **sizes)
    if row in NATIVE_ROWS:
        flag, per_s = NATIVE_ROWS[row]
        command = [*command_or_skip(runtime, system, "client"), flag, f"{deadline_s * per_s:g}"]
    else:
        first = f"from experiments.http_clients import workers; workers.REQUEST_DEADLINE_S = {deadline_s}"
        command = command_or_skip(runtime, system, "client", first)
    client = Spoken(command, runtime.variables)
    client.tell({**cell.to_json(), "client_id": 0, "addresses": [[address] for address in servers], **more})
    return client


def result_of(client: Spoken, word: str = "") -> dict[str, Any]:
    """The result of a client when it is ready. word: what it is told before it is to go"""
    assert client.line()["ready"] is True
    if word:
        client.tell(word)
        assert client.line() == {word: True}
    client.tell("go")
    result: dict[str, Any] = client.line()["result"]
    return result


def test_every_request_to_a_bad_server_is_counted_by_its_cause(subtests: pytest.Subtests) -> None:
    """A worker and a request for each bad server, and one for a server that has gone.

    All clients at once, as they do little but wait.
    """
    number = len(BAD_SERVERS) + 1
    errors = Counter({"connect": 1})
    for _, (_, _, codes) in BAD_SERVERS.values():
        errors.update(codes)
    clients = {}
    with nobody_listens() as gone, ExitStack() as stack:
        for name, row in CALLERS:
            with subtests.test(name, row=row):
                servers = [stack.enter_context(scripted(script, read_http)) for script, _ in BAD_SERVERS.values()]
                addresses = [gone, *(server.address for server in servers)]
                client = start(name, row, addresses, 1, number, BAD_SERVER_DEADLINE_S)
                clients[name, row] = stack.enter_context(client)
        for client in clients.values():
            assert client.line()["ready"] is True
            client.tell("go")
        for (name, row), client in clients.items():
            with subtests.test(name, row=row):
                result = client.line()["result"]
                assert counts(result) == (2, 1, dict(errors))
                assert result["requests"] == number


@pytest.mark.parametrize(("name", "row"), OVERLAPPING)
def test_each_worker_keeps_its_connection_and_all_requests_are_out_at_once_unless_an_extension_holds_the_gil(
    name: str, row: str
) -> None:
    has_gil = runtime_of(name).name.gil_enabled
    turns_gil_on = row in UNDECLARED and not has_gil
    is_serial = row in HOLDING and (has_gil or turns_gil_on)
    workers, requests = (2, 2) if is_serial else (4, 20)
    deadline_s = BARRIER_DEADLINE_S if is_serial else DEADLINE_S
    with (
        scripted(on_each_connection(1, barrier(workers)), read_http) as server,
        start(name, row, [server.address], requests, workers, deadline_s) as client,
    ):
        result = result_of(client)
        if is_serial:
            # The server may read the second worker's request before it sees that the first has given up.
            assert counts(result) in ((0, 0, {"timeout": 2}), (1, 0, {"timeout": 1}))
        else:
            assert (server.connections, server.requests) == (workers, workers + requests)
            assert counts(result) == (requests, 0, {})
        _, _, complaints = client.end()
    assert result["gil_enabled_ready"] is result["gil_enabled_end"] is (has_gil or turns_gil_on)
    module = row.removeprefix("http-beast-").replace("-", "_")
    assert (f"GIL) has been enabled to load module 'beastclient.{module}'" in complaints) is turns_gil_on
    assert turns_gil_on or is_serial or complaints == ""


# ---- what is counted and timed --------------------------------------------------------------------------------------

COUNTING = [*((NATIVE, row) for row in NATIVE_ROWS), ("3.14", "http-stdlib"), ("3.14", "http-aiohttp")]


@pytest.mark.parametrize(("name", "row"), COUNTING)
def test_a_server_that_is_gone_is_given_up_after_ten_requests_of_each_worker(name: str, row: str) -> None:
    with nobody_listens() as address, start(name, row, [address], 100, 2) as client:
        result = result_of(client)
    assert (result["requests"], counts(result)) == (100, (0, 0, {"connect": 2 * 10}))


@pytest.mark.parametrize(("name", "row"), [*COUNTING, ("3.14", "http-beast-held")])  # whose extension holds the GIL
def test_workers_and_requests_are_divided_a_second_client_goes_on_where_the_first_one_ended_and_no_warm_up_is_counted(
    name: str, row: str
) -> None:
    method = Method(warmup=Warmup(share=0.5)).to_json()
    with ExitStack() as stack:
        servers = [stack.enter_context(scripted(says(response()), read_http)) for _ in range(4)]
        addresses = [server.address for server in servers]
        client = stack.enter_context(start(name, row, addresses, 6, 5, client_id=1, method=method))
        result = result_of(client, WARM)
        assert [server.connections for server in servers] == [1, 2, 1, 1]
        # each worker opens its connection with a request
        assert sum(server.requests for server in servers) == 5 + 12 + 24
    assert (counts(result), result["latency"]["count"]) == ((24, 0, {}), 24)
    assert [len(requests) for requests in result["timeline"]] == [5, 5, 5, 5, 4]
    assert result["connect"]["count"] == 5


@pytest.mark.parametrize(("name", "row"), COUNTING[:-1])  # aiohttp asks again by itself
def test_a_connection_after_an_error_is_counted_by_no_connect(name: str, row: str) -> None:
    def script(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        return server.requests != 2 and says(response())(server, connection, request)

    with scripted(script, read_http) as server, start(name, row, [server.address], 3, 1) as client:
        result = result_of(client)
        assert server.connections == 2
    assert (counts(result), result["connect"]["count"]) == ((2, 0, {"closed": 1}), 1)
