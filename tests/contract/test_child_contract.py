"""The child contract (docs/child-contract.md), spoken by hand to every part in Python and in machine code."""

import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from core.method import Method, Warmup
from core.processtree import tree
from core.runtime import NATIVE
from lab.run.measured_runtimes import Runtime
from systems import find
from tests.contract.kinds import NATIVE_ECHO, Kind, more_kinds
from tests.contract.peers import Peer, framed
from tests.contract.serving import command_or_skip, small_cell
from tests.contract.speaking import DEADLINE_S, Spoken, check_it_ends_with_its_parent, spoken
from tests.contract.test_systems import runtime_of
from tests.native.loadgen_peers import (
    Script,
    Scripted,
    on_each_connection,
    read_frame,
    read_http,
    response,
    says,
    scripted,
)
from tests.native.programs import USAGE, as_service, started, told_client, told_service

READERS = ("echo-tokio", "echo-libuv", "calc-service", "http-echo", "axum-server")  # libuv's host reads also for C++
SERVICES = (*NATIVE_ECHO, "calc-service", "http-echo", "axum-server")
FRAMED = ("3.11", "3.14t", NATIVE)  # runtimes of the client of system 2, with a GIL and without, and in machine code
# Each native client of HTTP with its arguments.
CLIENTS: dict[str, tuple[str, ...]] = {
    "loadgen": ("--report", "child", "--path", "/"),
    "http-reqwest": (),
    "http-beast": (),
}
OPENING = ("http-reqwest", "http-beast")  # each connection is opened by a request, before go
NO_CELLS = ("this is no JSON", "[1, 2]")
GIL = {"gil_enabled_ready", "gil_enabled_end"}


# ---- services -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", more_kinds("children"), ids="-".join, indirect=True)
def test_a_service_stays_on_its_cpus_says_where_it_listens_counts_from_its_reset_and_ends_with_its_result(
    kind: Kind, short_folder: Path
) -> None:
    cpu = max(os.sched_getaffinity(0))
    with kind.spoken(short_folder, [cpu]) as service:
        ready = service.line()
        assert set(ready) == {"ready", "pid", "addresses", "runtime"}
        assert (ready["ready"], ready["pid"]) == (True, service.process.pid)
        assert len(ready["addresses"]) == (2 if kind.key == "4" else 1)
        is_tcp = kind.key == "3" or "tcp" in kind.name or "two threads" in kind.name
        assert all(one.startswith("127.0.0.1:" if is_tcp else f"{short_folder}/") for one in ready["addresses"])
        if kind.runtime == NATIVE:
            check_program(ready["runtime"], kind.entry["program"].removesuffix(".jar"))
        Peer(ready["addresses"][0]).close()
        assert cpus_of(tree(service.process.pid)[-1]) == {cpu}
        for count in (3, 2):
            service.tell("reset")
            assert service.line() == {"reset": True}
            for _ in range(count):
                with Peer(ready["addresses"][-1]) as peer:
                    assert kind.dialect.ask(peer, kind.dialect.calc) == (200, kind.dialect.msg)
        with Peer(ready["addresses"][0]):  # a silent one, which holds nobody up
            status, said, complaints = service.end()
    assert (status, complaints) == (0, "")
    result = json.loads(said)["result"]
    assert result["requests"] == (
        0 if kind.name.startswith("echo") else 2
    )  # echo servers count what MESSAGE_BYTES makes
    assert {name for name in USAGE if type(result[name]) is not int or result[name] < 0} == set()
    assert result["max_rss_bytes"] > 500_000
    assert {result[name] for name in GIL} == {ready["runtime"]["gil_enabled"]}
    assert list(short_folder.iterdir()) == []


def check_program(facts: dict[str, Any], program: str) -> None:
    """Program, version, compiler, and a version for each package that is in it."""
    assert (facts["program"], facts["version"], facts["gil_enabled"]) == (program, "0.1.0", False)
    assert re.match(r"(rustc|gcc|clang|javac) [0-9]+[0-9.]*", facts["compiler"])
    assert facts["packages"]
    assert all(re.match(r"[0-9]+\.[0-9]+", version) for version in facts["packages"].values())


@pytest.mark.parametrize("kind", more_kinds("orphaned"), ids="-".join, indirect=True)
def test_a_service_ends_when_its_parent_is_killed(kind: Kind, short_folder: Path) -> None:
    check_it_ends_with_its_parent(kind.command(), json.dumps(kind.told(short_folder)))
    assert list(short_folder.iterdir()) == []


def cpus_of(pid: int) -> set[int]:
    """The CPUs on which the threads of a process may run."""
    threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return {cpu for thread in threads for cpu in os.sched_getaffinity(thread)}


@pytest.mark.parametrize("program", SERVICES)
def test_a_program_refuses_what_cannot_be_a_flag_or_a_cell(program: str, short_folder: Path) -> None:
    for flag, value in {"--threads": "0", "--thread-count": "2"}.items():
        assert flag in check_refused(started(program, flag, value), None, status=2)
    if program not in READERS:
        return
    lines: list[Any] = [*NO_CELLS, '{"params": {"TRANSPORT": "pigeon"}, "folder": "/"}']
    wrong = [{"NUM_SERVER_THREADS": 0}, *([{"NODELAY": 1}] if program in NATIVE_ECHO else [])]
    status = 1 if program == "echo-libuv" else 2  # its host is in Python
    for line in (*lines, *(told_service(short_folder, params) for params in wrong)):
        check_refused(as_service(program), line, status=status)


def check_refused(command: list[str], line: Any, status: int) -> str:
    """It says nothing on stdout and exits with *status*; what it complains of."""
    with Spoken(command) as child:
        if line is not None:
            child.tell(line)
        child.process.wait(DEADLINE_S)
        ended, said, complaints = child.end()
    assert (ended, said) == (status, b"")
    assert complaints
    return complaints


@pytest.mark.parametrize("role", ["service", "client"])
def test_a_child_in_python_that_is_told_no_cell_says_so_and_fails(any_runtime: Runtime, role: str) -> None:
    command = command_or_skip(any_runtime, find("1"), role)
    for line in NO_CELLS:
        check_refused(command, line, status=1)
    assert "service|client" in check_refused([*command[:-1], "server"], None, status=1)


# ---- clients ---------------------------------------------------------------------------------------------------------


def client_of(caller: str, address: str) -> tuple[list[str], dict[str, Any], Mapping[str, str]]:
    """The command of a client, what it is told to call a service at *address*, and its variables. May skip the test."""
    if caller in CLIENTS:
        return started(caller, *CLIENTS[caller]), told_client([[address]]), {}
    runtime = runtime_of(caller)
    cell = small_cell(find("2"), runtime, NUM_REQUESTS_PER_CLIENT=3, CALC_TARGET=1000, TRANSPORT="tcp").to_json()
    told = {**cell, "client_id": 0, "addresses": [[address]]}
    return command_or_skip(runtime, find("2"), "client"), told, runtime.variables


def serving(caller: str, script: Script) -> AbstractContextManager[Scripted]:
    """A server that speaks the protocol of that client, and plays *script*."""
    return scripted(script, read_http if caller in CLIENTS else read_frame)


@contextmanager
def calling(caller: str, script: Script, **more: Any) -> Iterator[tuple[Spoken, Any, Scripted]]:
    """A client that is ready to call a server that plays *script*, its first line, and the server."""
    with serving(caller, script) as server:
        command, told, variables = client_of(caller, server.address)
        with spoken(command, {**told, **more}, variables) as (client, ready):
            assert ready["ready"] is True
            yield client, ready, server


@pytest.mark.parametrize("caller", [*FRAMED, *CLIENTS])
def test_a_client_is_ready_with_its_connections_asks_after_go_and_keeps_them_until_the_end_of_its_input(
    caller: str,
) -> None:
    cpu = max(os.sched_getaffinity(0))
    answer = framed(b'{"code": 200, "msg": "1000", "err": "", "calc_ns": 24123}')
    assert answer[:4] == bytes.fromhex("00000039")
    count, has_gil = (20, False) if caller in CLIENTS else (3, runtime_of(caller).name.gil_enabled)
    with calling(caller, says(response() if caller in CLIENTS else answer), cpus=[cpu]) as (client, ready, server):
        assert set(ready) == {"ready", "pid", "addresses", "runtime"}
        assert (ready["pid"], ready["addresses"]) == (client.process.pid, [])
        assert ready["runtime"].get("gil_enabled", False) is has_gil
        if caller in CLIENTS:
            check_program(ready["runtime"], caller)
        assert cpus_of(client.process.pid) == {cpu}
        server.stall(0.2)
        assert caller in OPENING or server.asked == []
        client.tell("go")
        result = client.line()["result"]
        server.stall(0.05)
        assert server.still_open == server.connections > 0
        assert client.end() == (0, b"", "")
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (count, count, 0, {})
    assert set(result) >= USAGE | GIL
    assert {result[name] for name in GIL} == {has_gil}
    if caller not in CLIENTS:
        for request in server.asked:
            asked = json.loads(request)  # the first of some may ask for begun_ns too
            assert (asked["method"], asked["url"], asked["params"]["target"]) == ("POST", "/calc", 1000)
        assert server.asked[2:] == [b'{"method": "POST", "url": "/calc", "params": {"target": 1000}}']
        assert result["calc_ns"] == 3 * 24123
        assert result["latency"]["count"] == 3
        assert result["finished_ns"] - result["started_ns"] == result["completion_ns"] > 0
        assert "connect" not in result


@pytest.mark.parametrize(
    ("caller", "word"),
    [*product(FRAMED, ("", "go")), ("loadgen", "warm"), *product(OPENING, ("go",))],
)
def test_end_of_file_ends_a_client_without_a_result(caller: str, word: str) -> None:
    came = Event()

    def silent(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        came.set()
        return True

    script = on_each_connection(1, silent) if caller in OPENING else silent
    method = Method(warmup=Warmup(seconds=DEADLINE_S)).to_json()
    with calling(caller, script, method=method) as (client, _, _):
        if word:
            client.tell(word)
            assert came.wait(DEADLINE_S)
        status, said, complaints = client.end()
    assert (status != 0, said) == (True, b"")
    assert word or not complaints
    assert caller not in CLIENTS or (status, complaints) == (3, "")


@pytest.mark.parametrize("caller", [*FRAMED, *CLIENTS])
def test_a_client_that_waits_for_go_ends_when_its_parent_is_killed(caller: str) -> None:
    with serving(caller, says(response())) as server:
        command, told, _ = client_of(caller, server.address)
        check_it_ends_with_its_parent(command, json.dumps(told))


@pytest.mark.parametrize("program", CLIENTS)
def test_a_native_client_refuses_what_is_no_cell(program: str) -> None:
    nowhere: dict[str, list[Any]] = {
        "loadgen": [{"addresses": []}],
        "http-reqwest": [told_client([[]])],
        "http-beast": [told_client([["/a/path"]])],
    }
    for line in (*NO_CELLS, *nowhere[program]):
        check_refused(started(program, *CLIENTS[program]), line, status=1 if program == "loadgen" else 2)
