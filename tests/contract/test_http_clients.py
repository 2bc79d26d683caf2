"""The HTTP clients as real processes: what they count and time, and whose threads really overlap.

Bad servers are counted, and hang nobody.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event
from typing import Any

import pytest

from core.messages import verbatim
from core.method import Method, Warmup
from core.runtime import NATIVE
from core.system import System
from experiments.http_clients.http_systems import SYSTEMS
from lab.folders import Sandbox
from lab.run.children import READY, RESULT, WARM, Child, Children
from lab.run.runtimes import AnyRuntime, Native
from systems import find
from tests.clients.scripted_http import (
    HALF,
    Script,
    ScriptedHttp,
    barrier,
    drip,
    first_right_then,
    half_then_close,
    resetting,
    response,
    says,
)
from tests.conftest import runtime_or_skip
from tests.contract.peers import DEADLINE_S
from tests.contract.serving import command_or_skip, small_cell
from tests.native.loadgen_peers import nobody_listens

ROWS = [system.name for system in SYSTEMS if system.client and not system.turns_gil_on]
NATIVE_ROWS = {"http-beast-native": ("--timeout-ms", 1000), "http-reqwest-native": ("--timeout", 1)}
UNDECLARED = ("http-beast-undeclared", "http-beast-undeclared-released")
HOLDING = ("http-beast-held", "http-beast-undeclared")
FEW_ROWS = ("http-stdlib", "http-aiohttp", "http-beast-held")
CALLERS = [
    *(("3.14t", row) for row in ROWS),
    *(("3.11", row) for row in FEW_ROWS if row not in HOLDING),
    *((NATIVE, row) for row in NATIVE_ROWS),
]
OVERLAPPING = [
    *(("3.14t", row) for row in (*ROWS, *UNDECLARED)),
    *(("3.11", row) for row in FEW_ROWS),
    *(("3.14", row) for row in ("http-httpx-async", "http-beast-released")),
    *(("3.14t+gil", row) for row in ("http-requests", "http-pyreqwest", "http-beast-held")),
    *((NATIVE, row) for row in NATIVE_ROWS),
]
BARRIER_DEADLINE_S = 1.0  # of rows that must miss it once their connections are open; the others have DEADLINE_S
BAD_SERVER_DEADLINE_S = 2.5  # all clients begin at once, on a machine that may be busy; waited for twice
SLOW_SERVER_DEADLINE_S = 0.5  # of rows that wait for one server after the other, where none is to be in time
DRIP_S = 0.08  # a byte: an answer takes longer than any of these deadlines
Counts = tuple[int, int, dict[str, int]]
BAD_SERVERS: dict[str, tuple[Script, Counts]] = {
    "answers 500": (says(response("500 Internal Server Error")), (1, 0, {"500": 1})),
    "answers too little": (says(response(body=b"Hello")), (1, 1, {})),
    "closes": (says(None), (0, 0, {"closed": 1})),
    "sends half a body and closes": (half_then_close, (0, 0, {"closed": 1})),
    "sends half a body and waits": (says(HALF), (0, 0, {"timeout": 1})),
    "never answers": (says(b""), (0, 0, {"timeout": 1})),
    "resets": (resetting, (0, 0, {"reset": 1})),
    "is no HTTP server": (says(b"220 mail.example ESMTP\r\n\r\n"), (0, 0, {"garbled": 1})),
    "drips": (drip(DRIP_S, Event()), (0, 0, {"timeout": 1})),
}


@pytest.fixture
def children(sandbox: Sandbox) -> Iterator[Children]:
    """Child processes, ended with the test."""
    with Children(sandbox) as children:
        yield children


@dataclass(frozen=True)
class Asked:
    """What became of one client process: its result, and what it said on stderr."""

    result: dict[str, Any]
    complaints: str

    @property
    def counts(self) -> Counts:
        """Answered, wrong, and errors by code."""
        return self.result["answered"], self.result["wrong"], self.result["errors"]


def start(
    children: Children,
    runtime: AnyRuntime,
    row: str,
    servers: Sequence[str],
    deadline_s: float = DEADLINE_S,
    **more: Any,
) -> Child:
    """The row's client, which connects to *servers*; none of its requests takes longer than *deadline_s*.

    more: parameters, and what else the client is told
    """
    system = find(row)
    child = children.start(verbatim(row), str(runtime.name), _command(system, runtime, deadline_s), runtime.variables)
    params = {name: more.pop(name) for name in list(more) if name.isupper()}
    cell = small_cell(system, runtime, NUM_API_SERVICES=len(servers), **params)
    child.tell({**cell.to_json(), "client_id": 0, "addresses": [[address] for address in servers], **more})
    return child


def ask(children: Children, clients: list[Child], word: str = "") -> list[Asked]:
    """Let all of these clients call at once when all are ready; what became of each. word: what they are told before"""
    children.await_lines(clients, READY, verbatim("before it was ready"), 2 * DEADLINE_S)
    for child in clients:
        if word:
            child.tell(word)
            children.await_lines([child], word, verbatim("before it was warm"), DEADLINE_S)
        child.tell("go")
    lines = children.await_lines(clients, RESULT, verbatim("before its result"), 2 * DEADLINE_S)
    return [Asked(line[RESULT], child.stderr_tail()) for child, line in lines.items()]


def _command(system: System, runtime: AnyRuntime, deadline_s: float) -> list[str]:
    if system.name in NATIVE_ROWS:
        flag, per_s = NATIVE_ROWS[system.name]
        return [*command_or_skip(runtime, system, "client"), flag, f"{deadline_s * per_s:g}"]
    first = f"from experiments.http_clients import workers; workers.REQUEST_DEADLINE_S = {deadline_s}"
    return command_or_skip(runtime, system, "client", first)


def together(row: str) -> list[list[str]]:
    """The bad servers that a row's workers call at the same time.

    Who holds the GIL until a deadline may do so between another worker's start and its answer, which is then late, too:
    such rows call servers that let them wait apart from the others.
    """
    slow = [name for name, (_, (_, _, codes)) in BAD_SERVERS.items() if "timeout" in codes]
    quick = [name for name in BAD_SERVERS if name not in slow]
    return [quick, slow] if row in HOLDING else [list(BAD_SERVERS)]


def patience_s(names: list[str]) -> float:
    """How long a row's client waits for an answer of these bad servers."""
    in_time = [name for name in names if "timeout" not in BAD_SERVERS[name][1][2]]
    return BAD_SERVER_DEADLINE_S if in_time else SLOW_SERVER_DEADLINE_S


def check_counts(asked: Asked, names: list[str]) -> None:
    """Of one request to each of the bad servers of these names, and one to a server that has gone."""
    answered = wrong = 0
    errors = Counter({"connect": 1})
    for _, (answers, wrong_ones, codes) in map(BAD_SERVERS.__getitem__, names):
        answered, wrong = answered + answers, wrong + wrong_ones
        errors.update(codes)
    assert asked.counts == (answered, wrong, dict(errors))
    assert asked.result["requests"] == len(names) + 1


def runtime_of(name: str) -> AnyRuntime:
    """That runtime, which may be `native`. May skip the test."""
    return Native() if name == NATIVE else runtime_or_skip(name)


def test_every_request_to_a_bad_server_is_counted_by_its_cause(children: Children, subtests: pytest.Subtests) -> None:
    """A worker and a request for each bad server. All clients at once, as they do little but wait."""
    calls = []
    for name, row in CALLERS:
        with subtests.test(name, row=row):
            command_or_skip(runtime_of(name), find(row), "client")
            calls += [(name, row, bad) for bad in together(row)]
    with ScriptedHttp(says(response())) as gone, ExitStack() as stack:
        servers = [
            [gone, *(stack.enter_context(ScriptedHttp(BAD_SERVERS[bad][0])) for bad in bads)] for *_, bads in calls
        ]
        gone.stop()
        clients = []
        for (name, row, bads), mine in zip(calls, servers, strict=True):
            sizes = {"NUM_REQUESTS_PER_CLIENT": 1, "NUM_CONNECTIONS_PER_CLIENT": len(mine)}
            addresses = [server.address for server in mine]
            clients.append(start(children, runtime_of(name), row, addresses, patience_s(bads), **sizes))
        results = ask(children, clients)
    for (name, row, bads), asked in zip(calls, results, strict=True):
        with subtests.test(name, row=row):
            check_counts(asked, bads)


@pytest.mark.parametrize(("name", "row"), OVERLAPPING)
def test_each_worker_keeps_its_connection_and_all_requests_are_out_at_once_unless_an_extension_holds_the_gil(
    name: str, row: str, children: Children
) -> None:
    runtime = runtime_of(name)
    has_gil = runtime.name.gil_enabled or row in UNDECLARED
    is_serial = has_gil and row in HOLDING
    workers, requests = (2, 2) if is_serial else (4, 20)
    with ScriptedHttp(first_right_then(barrier(workers))) as server:
        sizes = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": workers}
        deadline_s = BARRIER_DEADLINE_S if is_serial else DEADLINE_S
        (asked,) = ask(children, [start(children, runtime, row, [server.address], deadline_s, **sizes)])
        if not is_serial:
            assert (server.connections, server.requests) == (workers, workers + requests)
    if is_serial:
        # The server may read the second worker's request before it sees that the first has given up.
        assert asked.counts in ((0, 0, {"timeout": 2}), (1, 0, {"timeout": 1}))
    else:
        assert asked.counts == (requests, 0, {})
    assert asked.result["gil_enabled_ready"] is asked.result["gil_enabled_end"] is has_gil
    if not runtime.name.gil_enabled and row in UNDECLARED:
        module = row.removeprefix("http-beast-").replace("-", "_")
        assert f"GIL) has been enabled to load module 'beastclient.{module}'" in asked.complaints
    elif not is_serial:
        assert asked.complaints == ""


# ---- what is counted and timed --------------------------------------------------------------------------------------

COUNTING = [*((NATIVE, row) for row in NATIVE_ROWS), ("3.14", "http-stdlib"), ("3.14", "http-aiohttp")]
counting = pytest.mark.parametrize(("name", "row"), COUNTING)


def asked_of(
    children: Children,
    name: str,
    row: str,
    servers: Sequence[str],
    requests: int,
    workers: int,
    *,
    word: str = "",
    **more: Any,
) -> Asked:
    """What becomes of so many requests to each server by so many workers."""
    sizes = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": workers}
    (asked,) = ask(children, [start(children, runtime_of(name), row, servers, **sizes, **more)], word)
    return asked


@counting
def test_a_server_that_is_gone_is_given_up_after_ten_requests_of_each_worker(
    name: str, row: str, children: Children
) -> None:
    with nobody_listens() as address:
        asked = asked_of(children, name, row, [address], 100, 2)
    assert (asked.result["requests"], asked.counts) == (100, (0, 0, {"connect": 2 * 10}))


@pytest.mark.parametrize(("name", "row"), [*COUNTING, ("3.14", "http-beast-held")])  # whose extension holds the GIL
def test_the_remainder_of_the_requests_goes_to_the_first_workers(name: str, row: str, children: Children) -> None:
    with ScriptedHttp(says(response())) as server:
        asked = asked_of(children, name, row, [server.address], 23, 5)
        assert (server.connections, server.requests) == (5, 23 + 5)  # each opens its connection with a request
    assert asked.counts == (23, 0, {})
    assert [len(requests) for requests in asked.result["timeline"]] == [5, 5, 5, 4, 4]
    assert asked.result["connect"]["count"] == 5


@pytest.mark.parametrize(("name", "row"), COUNTING[:-1])  # aiohttp asks again by itself
def test_a_connection_after_an_error_is_counted_by_no_connect(name: str, row: str, children: Children) -> None:
    with ScriptedHttp(lambda server, peer: None if server.requests == 2 else response()) as server:
        asked = asked_of(children, name, row, [server.address], 3, 1)
        assert server.connections == 2
    assert (asked.counts, asked.result["connect"]["count"]) == ((2, 0, {"closed": 1}), 1)


@counting
def test_workers_are_divided_among_the_services_and_a_second_client_goes_on_where_the_first_one_ended(
    name: str, row: str, children: Children
) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(ScriptedHttp(says(response()))) for _ in range(4)]
        asked = asked_of(children, name, row, [server.address for server in servers], 4, 2, client_id=1)
        assert [server.connections for server in servers] == [0, 0, 1, 1]
        assert sum(server.requests for server in servers) == 2 + 16
    assert asked.counts == (16, 0, {})


@counting
def test_a_warm_up_is_answered_by_each_worker_and_not_counted(name: str, row: str, children: Children) -> None:
    method = Method(warmup=Warmup(share=0.5)).to_json()
    with ScriptedHttp(says(response())) as server:
        asked = asked_of(children, name, row, [server.address], 20, 2, method=method, word=WARM)
        assert server.requests == 12 + 20
    assert (asked.counts, asked.result["latency"]["count"]) == ((20, 0, {}), 20)
