"""What every native program is told and says of itself: the same facts, defaults, refusals, and the child contract."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from core.processtree import tree
from tests.clients.scripted_http import Script, ScriptedHttp, first_right_then, response
from tests.clients.scripted_http import says as plays
from tests.contract.peers import Peer
from tests.contract.speaking import DEADLINE_S, Spoken, check_it_ends_with_its_parent
from tests.native.loadgen_child import told
from tests.native.loadgen_peers import HELLO, read_http, says, scripted
from tests.native.programs import as_service, started, told_service

# Each server and the libraries that its ready line names.
PACKAGES = {
    "echo-tokio": {"tokio"},
    "echo-libuv": {"libuv"},
    "echo-asio": {"boost"},
    "echo-coroutine": {"boost"},
    "echo-netty.jar": {"netty"},
    "calc-service": {"serde_json"},
    "http-echo": {"httparse"},
    "axum-server": {"axum", "tokio"},
}
# Each client, its arguments, and the libraries.
CLIENTS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "loadgen": (("--report", "child", "--path", "/"), {"mio", "hdrhistogram"}),
    "http-reqwest": ((), {"reqwest", "hyper", "tokio"}),
    "http-beast": ((), {"boost"}),
}
OVER_HTTP = ("http-echo", "axum-server")
ECHO = tuple(name for name in PACKAGES if name.startswith("echo-"))
WHOLE = "a whole number from 1 to 1000"


def ready(program: str, folder: Path, params: dict[str, Any]) -> dict[str, Any]:
    """What it says when it is told this cell."""
    with Spoken(as_service(program)) as child:
        child.tell(told_service(folder, params))
        line: dict[str, Any] = child.line()
        assert child.end()[0] == 0
    return line


def refused(command: list[str], cell: dict[str, Any] | str | None = None) -> str:
    """What it complains of before it exits with status 2."""
    with Spoken(command) as child:
        if cell is not None:
            child.tell(cell)
        status, said, complaints = child.end()
    assert (status, said) == (2, b"")
    return complaints


@pytest.mark.parametrize("program", PACKAGES)
def test_the_ready_line_says_what_the_program_is(program: str, short_folder: Path) -> None:
    check_runtime(ready(program, short_folder, {})["runtime"], program.removesuffix(".jar"), PACKAGES[program])


@pytest.mark.parametrize("program", CLIENTS)
def test_the_ready_line_of_a_client_says_what_the_program_is(program: str) -> None:
    arguments, packages = CLIENTS[program]
    with scripted(says(HELLO), read_http) as server, Spoken(started(program, *arguments)) as client:
        client.tell(told([[server.address]]))
        check_runtime(client.line()["runtime"], program, packages)


def check_runtime(runtime: dict[str, Any], program: str, packages: set[str]) -> None:
    """Program, version, compiler, and a version for each of *packages*."""
    assert (runtime["program"], runtime["version"], runtime["gil_enabled"]) == (program, "0.1.0", False)
    assert re.match(r"(rustc|gcc|clang|javac) [0-9]+[0-9.]*", runtime["compiler"])
    assert set(runtime["packages"]) == packages
    assert all(re.match(r"[0-9]+\.[0-9]+", version) for version in runtime["packages"].values())


@pytest.mark.parametrize("program", PACKAGES)
def test_a_cell_without_a_transport_means_unix_but_over_http_tcp(program: str, short_folder: Path) -> None:
    (address,) = ready(program, short_folder, {})["addresses"]
    assert address.startswith("127.0.0.1:" if program in OVER_HTTP else f"{short_folder}/0.0")


@pytest.mark.parametrize("program", PACKAGES)
def test_no_threads_are_refused_everywhere_in_the_same_words(program: str, short_folder: Path) -> None:
    complaint = refused(started(program, "--threads", "0"))
    assert "--threads" in complaint
    assert f"it must be {WHOLE}" in complaint
    cell = told_service(short_folder, {"NUM_SERVER_THREADS": 0})
    assert f"NUM_SERVER_THREADS is 0; it must be {WHOLE}" in refused(as_service(program), cell)


@pytest.mark.parametrize("program", ECHO)
def test_what_is_no_truth_is_refused(program: str, short_folder: Path) -> None:
    cell = told_service(short_folder, {"NODELAY": 1})
    assert "NODELAY is 1; it must be true or false" in refused(as_service(program), cell)


@pytest.mark.parametrize("program", ECHO)
def test_by_hand_no_echo_server_knows_messages(program: str) -> None:
    assert "--message-bytes" in refused(started(program, "--message-bytes", "5"))


# ---- the child contract, of servers and of clients ------------------------------------------------------------------


@pytest.mark.parametrize("line", ["this is no JSON", "[1, 2]", '{"params": {"TRANSPORT": "pigeon"}, "folder": "/"}'])
@pytest.mark.parametrize("program", PACKAGES)
def test_a_cell_that_a_server_cannot_read_is_named(program: str, line: str) -> None:
    assert re.search("it must be|not a JSON object", refused(as_service(program), line))


@pytest.mark.parametrize("line", ["this is no JSON", "[1, 2]"])
@pytest.mark.parametrize("program", CLIENTS)
def test_a_cell_that_a_client_cannot_read_is_named(program: str, line: str) -> None:
    with Spoken(started(program, *CLIENTS[program][0])) as client:
        client.tell(line)
        status, said, complaints = client.end()
    assert (status, said) == (1 if program == "loadgen" else 2, b"")
    assert re.search("must be a cell, a JSON object|not a cell for a client", complaints)


def cpus_of(pid: int) -> set[int]:
    """The CPUs on which the threads of a process may run."""
    threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return {cpu for thread in threads for cpu in os.sched_getaffinity(thread)}


@pytest.mark.parametrize("program", PACKAGES)
def test_a_server_stays_on_the_cpus_that_it_is_told(program: str, short_folder: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    with Spoken(as_service(program)) as service:
        service.tell(told_service(short_folder, {"NUM_SERVER_THREADS": 2}, cpus=[cpu]))
        Peer(service.line()["addresses"][0]).close()
        assert cpus_of(tree(service.process.pid)[-1]) == {cpu}


@pytest.mark.parametrize("program", PACKAGES)
def test_a_server_ends_when_its_parent_is_killed(program: str, short_folder: Path) -> None:
    check_it_ends_with_its_parent(as_service(program), json.dumps(told_service(short_folder, {"TRANSPORT": "unix"})))
    assert list(short_folder.iterdir()) == []


@pytest.mark.parametrize("program", OVER_HTTP)
def test_a_server_over_http_counts_from_its_last_reset(program: str, short_folder: Path) -> None:
    with Spoken(as_service(program)) as service:
        service.tell(told_service(short_folder, {"TRANSPORT": "unix"}))
        (address,) = service.line()["addresses"]
        for requests in (3, 1):
            service.tell("reset")
            assert service.line() == {"reset": True}
            with Peer(address) as peer:
                for _ in range(requests):
                    peer.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    assert read_bytes(peer, b"Hello, World!").startswith(b"HTTP/1.1 200 OK\r\n")
        status, said, complaints = service.end()
    result = json.loads(said)["result"]
    assert (status, complaints, result["requests"]) == (0, "", 1)
    assert result["max_rss_bytes"] > 500_000
    assert list(short_folder.iterdir()) == []


def read_bytes(peer: Peer, end: bytes) -> bytes:
    """What comes up to *end*."""
    heard = b""
    while not heard.endswith(end):
        data = peer.sock.recv(65536)
        assert data, heard
        heard += data
    return heard


@contextmanager
def called(program: str, script: Script, **more: Any) -> Iterator[tuple[Spoken, ScriptedHttp]]:
    """A client that is ready to call a server that plays *script*."""
    with ScriptedHttp(script) as server, Spoken(started(program, *CLIENTS[program][0])) as client:
        client.tell({**told([[server.address]]), **more})
        assert client.line()["ready"] is True
        yield client, server


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_stays_on_its_cpus_and_keeps_its_connections_until_the_end_of_its_input(program: str) -> None:
    cpu = max(os.sched_getaffinity(0))
    with called(program, plays(response()), cpus=[cpu]) as (client, server):
        assert cpus_of(client.process.pid) == {cpu}
        client.tell("go")
        assert client.line()["result"]["answered"] == 20
        assert len(server.peers) == server.connections > 0
        assert client.end() == (0, b"", "")


@pytest.mark.parametrize("program", CLIENTS)
def test_end_of_file_before_go_ends_a_client_without_a_result(program: str) -> None:
    with called(program, plays(response())) as (client, _):
        assert client.end() == (3, b"", "")


@pytest.mark.parametrize("program", CLIENTS)
def test_end_of_file_ends_a_client_that_waits_for_an_answer(program: str) -> None:
    came = Event()

    def silent(server: ScriptedHttp, peer: object) -> bytes:
        came.set()
        return b""

    with called(program, first_right_then(silent)) as (client, _):
        client.tell("go")
        assert came.wait(DEADLINE_S)
        assert client.end() == (3, b"", "")


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_ends_when_its_parent_is_killed(program: str) -> None:
    with ScriptedHttp(plays(response())) as server:
        command = started(program, *CLIENTS[program][0])
        check_it_ends_with_its_parent(command, json.dumps(told([[server.address]])))
