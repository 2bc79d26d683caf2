"""http-beast, the native client row: bad servers are counted and hang nobody, workers overlap; the child contract."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from threading import Event
from typing import Any

import pytest

from core.histogram import Histogram, bucket_of
from tests.clients.scripted_http import (
    HALF,
    Peer,
    Script,
    ScriptedHttp,
    barrier,
    drip,
    first_right_then,
    half_then_close,
    response,
    says,
)
from tests.contract.speaking import Spoken
from tests.native.programs import program_or_skip

WORKERS = 10
USAGE = {
    "cpu_user_ns",
    "cpu_system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "run_queue_ns",
    "max_rss_bytes",
    "pss_bytes",
}


def told_client(servers: Sequence[ScriptedHttp], requests: int, workers: int, **more: Any) -> dict[str, Any]:
    """What the client is told: to send so many requests to each of *servers* with so many workers."""
    params = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": workers}
    named = {"cell_id": "a-test", "system": "http-beast", "runtime": "native", "params": params}
    return {**named, "client_id": 0, "addresses": [[server.address] for server in servers], "cpus": [], **more}


@contextmanager
def client(told: dict[str, Any], *flags: str) -> Iterator[Spoken]:
    """A client that has been told its cell."""
    with Spoken([program_or_skip("http-beast"), "--child", *flags]) as child:
        child.tell(told)
        yield child


def result_of(told: dict[str, Any], *flags: str) -> dict[str, Any]:
    """Run a client from its cell to its end; its result."""
    with client(told, *flags) as child:
        assert child.line()["ready"] is True
        child.tell("go")
        result: dict[str, Any] = child.line()["result"]
        assert child.end() == (0, b"", "")
    return result


def counts(result: dict[str, Any]) -> tuple[int, int, int, dict[str, int]]:
    """Sent, answered, wrong, and errors by code."""
    return result["requests"], result["answered"], result["wrong"], result["errors"]


BAD_SERVERS: dict[str, tuple[Script, tuple[int, int, int, dict[str, int]]]] = {
    "right": (says(response()), (3, 3, 0, {})),
    "answers 500": (says(response("500 Internal Server Error")), (3, 3, 0, {"500": 3})),
    "answers too little": (says(response(body=b"Hello")), (3, 3, 3, {})),
    "closes": (says(None), (3, 0, 0, {"closed": 3})),
    "sends half a body and closes": (half_then_close, (3, 0, 0, {"closed": 3})),
    "sends half a body and waits": (says(HALF), (3, 0, 0, {"timeout": 3})),
    "never answers": (says(b""), (3, 0, 0, {"timeout": 3})),
    "answers twice": (says(response() * 2), (3, 0, 0, {"extra": 3})),
    "is no HTTP server": (says(b"220 mail.example ESMTP\r\n"), (3, 0, 0, {"garbled": 3})),
}


@pytest.mark.parametrize("name", BAD_SERVERS)
def test_every_request_to_a_bad_server_is_counted_by_its_cause(name: str) -> None:
    script, expected = BAD_SERVERS[name]
    with ScriptedHttp(script) as server:
        result = result_of(told_client([server], 3, 1), "--timeout-ms", "300")
    assert counts(result) == expected
    assert result["latency"]["count"] == expected[1]


def test_a_server_that_drips_its_answer_is_a_timeout_too() -> None:
    ended = Event()
    with ScriptedHttp(drip(0.05, ended)) as server:
        try:
            result = result_of(told_client([server], 1, 1), "--timeout-ms", "300")
        finally:
            ended.set()
    assert counts(result) == (1, 0, 0, {"timeout": 1})


def test_a_server_that_is_gone_is_given_up_after_ten_requests() -> None:
    with ScriptedHttp(says(response())) as server:
        server.stop()
        result = result_of(told_client([server], 50, 1))
    assert counts(result) == (50, 0, 0, {"connect": 10})


def test_each_worker_keeps_its_connection_and_the_remainder_goes_to_the_first_ones() -> None:
    with ScriptedHttp(says(response())) as server:
        result = result_of(told_client([server], 23, 5))
        assert (server.connections, server.requests) == (5, 23 + 5)  # each opens its connection with a request
    assert counts(result) == (23, 23, 0, {})
    assert [len(requests) for requests in result["timeline"]] == [5, 5, 5, 4, 4]
    assert result["connect"]["count"] == 5


def test_a_connection_after_an_error_is_counted_by_no_connect() -> None:
    with ScriptedHttp(lambda server, peer: None if server.requests == 2 else response()) as server:
        result = result_of(told_client([server], 3, 1))
        assert server.connections == 2
    assert counts(result) == (3, 2, 0, {"closed": 1})
    assert result["connect"]["count"] == 1


def test_all_requests_are_in_the_server_at_once() -> None:
    with ScriptedHttp(first_right_then(barrier(WORKERS))) as server:
        result = result_of(told_client([server], WORKERS, WORKERS))
    assert counts(result) == (WORKERS, WORKERS, 0, {})


def test_workers_are_divided_among_several_servers() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(ScriptedHttp(says(response()))) for _ in range(3)]
        result = result_of(told_client(servers, 4, 6))
        assert [server.connections for server in servers] == [2, 2, 2]
        assert [server.requests for server in servers] == [2 + 4] * 3
    assert counts(result) == (12, 12, 0, {})


def test_the_second_client_goes_on_where_the_first_one_ended() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(ScriptedHttp(says(response()))) for _ in range(4)]
        result_of({**told_client(servers, 1, 2), "client_id": 1})
        assert [server.connections for server in servers] == [0, 0, 1, 1]


def test_the_length_that_is_expected_is_a_flag() -> None:
    with ScriptedHttp(says(response(body=b"x" * 100_000))) as server:
        result = result_of(told_client([server], 2, 1), "--expect-length", "100000")
    assert counts(result) == (2, 2, 0, {})


def test_a_warm_up_is_answered_and_not_counted() -> None:
    method = {"warmup": {"share": 0.5, "seconds": 0.0}, "duration_s": 0.0}
    with ScriptedHttp(says(response())) as server, client(told_client([server], 20, 2, method=method)) as child:
        child.line()
        child.tell("warm")
        assert child.line() == {"warm": True}
        assert server.requests == 2 + 10
        child.tell("go")
        result = child.line()["result"]
        assert server.requests == 2 + 10 + 20
    assert counts(result) == (20, 20, 0, {})
    assert result["latency"]["count"] == 20


def test_with_a_duration_it_asks_until_the_time_is_over() -> None:
    method = {"warmup": {"share": 0.0, "seconds": 0.0}, "duration_s": 0.2}
    with ScriptedHttp(says(response())) as server:
        result = result_of(told_client([server], 1, 2, method=method))
        assert server.requests == 2 + result["requests"]
    assert result["answered"] == result["requests"] > 2
    assert result["completion_ns"] >= 200_000_000


def test_its_result_is_consistent_in_itself() -> None:
    with ScriptedHttp(says(response())) as server:
        result = result_of(told_client([server], 1000, 4))
    latency, loops, timeline = result["latency"], result["workers_ns"], result["timeline"]
    assert set(result) >= USAGE
    assert (result["gil_enabled_ready"], result["gil_enabled_end"]) == (False, False)
    assert result["completion_ns"] == result["bench_ns"] == result["finished_ns"] - result["started_ns"]
    assert len(loops) == 4
    assert max(loops) <= result["bench_ns"]
    assert [len(requests) for requests in timeline] == [100] * 4
    for requests in timeline:
        assert all(0 <= start < end <= result["bench_ns"] for start, end in requests)
        assert all(first[1] <= second[0] for first, second in pairwise(requests))
    assert latency["count"] == sum(latency["histogram"]["counts"].values()) == 1000
    assert latency["min_ns"] <= min(end - start for requests in timeline for start, end in requests)
    filled = sorted(int(bucket) for bucket in latency["histogram"]["counts"])
    assert (filled[0], filled[-1]) == (bucket_of(latency["min_ns"]), bucket_of(latency["max_ns"]))
    assert Histogram.from_json(latency).quantile(1.0) == latency["max_ns"]


def test_end_of_file_instead_of_go_ends_it_without_a_result() -> None:
    with ScriptedHttp(says(response())) as server, client(told_client([server], 5, 1)) as child:
        child.line()
        assert child.end() == (3, b"", "")


def test_end_of_file_ends_it_while_it_waits_for_an_answer() -> None:
    asked = Event()

    def silent(server: ScriptedHttp, peer: Peer) -> bytes:
        asked.set()
        return b""

    with ScriptedHttp(first_right_then(silent)) as server, client(told_client([server], 5, 1)) as child:
        child.line()
        child.tell("go")
        assert asked.wait(5)
        assert child.end() == (3, b"", "")


def test_it_keeps_its_connections_open_after_its_result() -> None:
    with ScriptedHttp(says(response())) as server, client(told_client([server], 5, 2)) as child:
        child.line()
        child.tell("go")
        child.line()
        assert len(server.peers) == 2
        assert child.end()[0] == 0


def test_it_stays_on_the_cpus_that_it_is_told() -> None:
    (cpu, *_) = sorted(os.sched_getaffinity(0))
    with ScriptedHttp(says(response())) as server, client(told_client([server], 5, 2, cpus=[cpu])) as child:
        child.line()
        assert os.sched_getaffinity(child.process.pid) == {cpu}


@pytest.mark.parametrize("line", ["this is no JSON", "[1, 2]", json.dumps({"params": {}, "addresses": [["/a/path"]]})])
def test_a_cell_that_cannot_be_read_is_named_and_fails(line: str) -> None:
    with Spoken([program_or_skip("http-beast"), "--child"]) as child:
        child.tell(line)
        status, said, complaints = child.end()
    assert (status, said) == (2, b"")
    assert "not a cell for a client" in complaints


def test_a_unix_address_is_refused() -> None:
    told = {"params": {"NUM_REQUESTS_PER_CLIENT": 1}, "addresses": [["/a/path"]]}
    with Spoken([program_or_skip("http-beast"), "--child"]) as child:
        child.tell(told)
        status, said, complaints = child.end()
    assert (status, said) == (2, b"")
    assert "it must be host:port" in complaints
