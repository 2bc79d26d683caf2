"""The child contract (DESIGN section 6), spoken by hand to every system under every runtime, native ones too."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import pytest

from core.method import Method, Warmup
from core.runtime import NATIVE
from lab.run.runtimes import AnyRuntime, Native, Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.conftest import RUNTIMES, runtime_or_skip
from tests.contract.peers import CALC, Peer, framed
from tests.contract.serving import command_or_skip, serving, small_cell
from tests.contract.speaking import DEADLINE_S, Spoken, check_it_ends_with_its_parent, wait_readable

SERVICES = [("1", "unix"), ("2", "unix"), ("2", "tcp"), ("3", "tcp"), ("4", "unix")]
USAGE = {"cpu_user_ns", "cpu_system_ns", "voluntary_switches", "involuntary_switches", "max_rss_bytes"}
GIL = {"gil_enabled_ready", "gil_enabled_end"}
HTTP_CALC = b'POST /calc HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{"target": 7}'


@pytest.fixture(scope="session", params=[*RUNTIMES, NATIVE])
def runtime(request: pytest.FixtureRequest) -> AnyRuntime:
    """Every runtime in turn; under the last, programs of machine code take both parts."""
    return Native() if request.param == NATIVE else runtime_or_skip(request.param)


def cell(runtime: AnyRuntime, number: str, **params: Any) -> dict[str, Any]:
    """A cell as a child is told it."""
    return small_cell(find(number), runtime, **params).to_json()


@contextmanager
def a_service(runtime: AnyRuntime, number: str, transport: str, folder: Path) -> Iterator[tuple[Spoken, Any]]:
    """A service that has been told its cell, and its first line."""
    with Spoken(command_or_skip(runtime, find(number), "service"), runtime.variables) as service:
        service.tell({**cell(runtime, number, TRANSPORT=transport), "service_id": 0, "folder": str(folder)})
        yield service, service.line()


@contextmanager
def a_client(runtime: AnyRuntime, listener: socket.socket, folder: Path) -> Iterator[tuple[Spoken, Any]]:
    """A client of system 2 that asks thrice of a service that the test plays; and its first line."""
    address = str(folder / "0.0")
    listener.bind(address)
    listener.listen()
    listener.settimeout(DEADLINE_S)
    with Spoken(command_or_skip(runtime, find("2"), "client"), runtime.variables) as client:
        told = cell(runtime, "2", NUM_REQUESTS_PER_CLIENT=3, CALC_TARGET=1000)
        client.tell({**told, "client_id": 0, "addresses": [[address]]})
        yield client, client.line()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A Unix socket for the service that the test plays."""
    with socket.socket(socket.AF_UNIX) as sock:
        yield sock


@pytest.mark.parametrize(("number", "transport"), SERVICES)
def test_a_services_first_line_says_where_it_listens_and_what_it_runs_under(
    runtime: AnyRuntime, number: str, transport: str, short_folder: Path
) -> None:
    with a_service(runtime, number, transport, short_folder) as (service, ready):
        assert set(ready) == {"ready", "pid", "addresses", "runtime"}
        assert (ready["ready"], ready["pid"]) == (True, service.process.pid)
        assert len(ready["addresses"]) == (2 if number == "4" else 1)
        for address in ready["addresses"]:
            assert address.startswith("127.0.0.1:" if transport == "tcp" else str(short_folder) + "/")
            Peer(address).close()
        facts = ready["runtime"]
        if not isinstance(runtime, Runtime):
            assert facts["program"] == "calc-service"
            assert facts["version"]
            assert facts["compiler"]
            return
        assert facts["gil_enabled"] is runtime.name.gil_enabled
        assert facts["gil_disabled_build"] is runtime.name.free_threaded
        assert facts["version"] == runtime.interpreter.facts["version"]
        assert facts["build"] == runtime.interpreter.facts["build"]
        assert facts["compiler"]
        assert {"pgo", "lto", "shared"} <= set(facts["flags"])


@pytest.mark.parametrize(("number", "transport"), SERVICES)
def test_end_of_file_ends_a_service_with_its_result_and_no_socket_file_left(
    runtime: AnyRuntime, number: str, transport: str, short_folder: Path
) -> None:
    with a_service(runtime, number, transport, short_folder) as (service, ready):
        with Peer(ready["addresses"][-1]) as peer:
            if number == "3":
                peer.send(HTTP_CALC)
                assert peer.response()[0] == 200
            else:
                assert peer.ask(CALC)["msg"] == "7"
            status, said, complaints = service.end()
        assert (status, complaints) == (0, "")
        (line,) = said.splitlines()
        result = json.loads(line)["result"]
        assert result["requests"] == 1
        assert {name for name in USAGE if type(result[name]) is not int or result[name] < 0} == set()
        assert result["max_rss_bytes"] > (1_000_000 if isinstance(runtime, Runtime) else 500_000)
        assert {result[name] for name in GIL} == {runtime.name.gil_enabled}
        assert list(short_folder.iterdir()) == []


@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_a_service_that_is_reset_counts_from_nought(runtime: AnyRuntime, number: str, short_folder: Path) -> None:
    with a_service(runtime, number, "tcp" if number == "3" else "unix", short_folder) as (service, ready):

        def ask() -> None:
            with Peer(ready["addresses"][0]) as peer:
                if number == "3":
                    peer.send(HTTP_CALC)
                    assert peer.response()[0] == 200
                else:
                    assert peer.ask(CALC)["msg"] == "7"

        for _ in range(3):
            ask()
        service.tell("reset")
        assert service.line() == {"reset": True}
        ask()
        ask()
        status, said, complaints = service.end()
    assert (status, complaints) == (0, "")
    assert json.loads(said)["result"]["requests"] == 2


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this platform does not pin processes")
def test_a_service_stays_on_the_cpus_that_it_is_told(any_runtime: Runtime, short_folder: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    with Spoken(command_or_skip(any_runtime, find("2"), "service")) as service:
        service.tell({**cell(any_runtime, "2"), "service_id": 0, "folder": str(short_folder), "cpus": [cpu]})
        assert os.sched_getaffinity(service.line()["pid"]) == {cpu}
        assert service.end()[0] == 0


def test_a_silent_connection_does_not_keep_a_service_from_ending(runtime: AnyRuntime, short_folder: Path) -> None:
    with a_service(runtime, "1", "unix", short_folder) as (service, ready), Peer(ready["addresses"][0]):
        assert service.end()[0] == 0


def test_a_client_says_ready_with_its_connections_open_and_sends_nothing_before_go(
    runtime: AnyRuntime, listener: socket.socket, short_folder: Path
) -> None:
    with a_client(runtime, listener, short_folder) as (client, ready):
        assert set(ready) == {"ready", "pid", "addresses", "runtime"}
        assert (ready["ready"], ready["pid"], ready["addresses"]) == (True, client.process.pid, [])
        assert ready["runtime"].get("gil_enabled", False) is runtime.name.gil_enabled
        listener.setblocking(False)
        connection, _ = listener.accept()
        with connection, pytest.raises(TimeoutError):
            wait_readable(connection.fileno(), 0.2)


def test_a_client_sends_its_frames_after_go_and_its_result_at_the_end(
    runtime: AnyRuntime, listener: socket.socket, short_folder: Path
) -> None:
    expected = framed(b'{"method": "POST", "url": "/calc", "params": {"target": 1000}}')
    assert expected[:4] == bytes.fromhex("0000003e")
    with a_client(runtime, listener, short_folder) as (client, _):
        client.tell("go")
        with listener.accept()[0] as connection:
            connection.settimeout(DEADLINE_S)
            for number in range(3):
                received = connection.recv(4096)
                assert received == expected if number else framed(json.dumps(_asked(received)).encode()) == received
                connection.sendall(framed(b'{"code": 200, "msg": "1000", "err": "", "calc_ns": 24123}'))
            result = client.line()["result"]
            assert client.end() == (0, b"", "")
            assert connection.recv(1) == b""
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (3, 3, 0, {})
    assert result["calc_ns"] == 3 * 24123
    assert result["latency"]["count"] == 3
    assert result["finished_ns"] - result["started_ns"] == result["completion_ns"] > 0
    assert "connect" not in result
    assert set(result) >= USAGE | GIL
    assert {result[name] for name in GIL} == {runtime.name.gil_enabled}


def _asked(received: bytes) -> Any:
    """The request in a frame: the first of some may ask for begun_ns too."""
    asked = json.loads(received[4:])
    assert (asked["method"], asked["url"], asked["params"]["target"]) == ("POST", "/calc", 1000)
    return asked


def test_a_client_that_is_told_to_warm_up_says_when_it_has_does_not_count_it_and_begins_when_it_is_to(
    runtime: AnyRuntime, sandbox: Sandbox
) -> None:
    method = Method(warmup=Warmup(share=1.0)).to_json()
    with (
        serving("2", runtime, sandbox) as service,
        Spoken(command_or_skip(runtime, find("2"), "client"), runtime.variables) as client,
    ):
        client.tell({**cell(runtime, "2"), "client_id": 0, "addresses": [service.addresses], "method": method})
        assert client.line()["ready"] is True
        client.tell("warm")
        assert client.line() == {"warm": True}
        at_ns = perf_counter_ns() + 20_000_000
        client.tell(f"go {at_ns}")
        result = client.line()["result"]
        assert result["started_ns"] >= at_ns
        assert client.end() == (0, b"", "")
        assert (result["requests"], result["answered"], result["latency"]["count"]) == (20, 20, 20)
        assert service.end()["requests"] == 40  # nobody told the service to count from nought


def test_end_of_file_instead_of_go_ends_a_client_without_a_result(
    runtime: AnyRuntime, listener: socket.socket, short_folder: Path
) -> None:
    with a_client(runtime, listener, short_folder) as (client, _):
        status, said, complaints = client.end()
    assert status != 0
    assert (said, complaints) == (b"", "")


def test_end_of_file_ends_a_client_that_waits_for_an_answer(
    runtime: AnyRuntime, listener: socket.socket, short_folder: Path
) -> None:
    with a_client(runtime, listener, short_folder) as (client, _):
        client.tell("go")
        with listener.accept()[0] as connection:
            connection.settimeout(DEADLINE_S)
            assert connection.recv(4096)
            status, said, _ = client.end()
    assert (status != 0, said) == (True, b"")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("number", ["1", "2", "3", "4"])
def test_a_service_ends_when_its_parent_is_killed(runtime: AnyRuntime, number: str, short_folder: Path) -> None:
    command = command_or_skip(runtime, find(number), "service")
    told = json.dumps({**cell(runtime, number), "service_id": 0, "folder": str(short_folder)})
    check_it_ends_with_its_parent(command, told)
    assert list(short_folder.iterdir()) == []


def test_a_client_that_waits_for_go_ends_when_its_parent_is_killed(
    runtime: AnyRuntime, listener: socket.socket, short_folder: Path
) -> None:
    address = str(short_folder / "0.0")
    listener.bind(address)
    listener.listen()
    told = json.dumps({**cell(runtime, "2"), "client_id": 0, "addresses": [[address]]})
    check_it_ends_with_its_parent(command_or_skip(runtime, find("2"), "client"), told)


@pytest.mark.parametrize("role", ["service", "client"])
@pytest.mark.parametrize("line", ["this is no JSON", "[1, 2]"])
def test_a_child_that_is_told_no_cell_says_so_and_fails(any_runtime: Runtime, role: str, line: str) -> None:
    with Spoken(command_or_skip(any_runtime, find("1"), role)) as child:
        child.tell(line)
        status, said, complaints = child.end()
    assert (status, said) == (1, b"")
    assert "ValueError" in complaints or "JSONDecodeError" in complaints


def test_a_role_that_is_none_is_refused_with_those_there_are(any_runtime: Runtime) -> None:
    with Spoken([*command_or_skip(any_runtime, find("1"), "service")[:-1], "server"]) as child:
        status, said, complaints = child.end()
    assert (status, said) == (1, b"")
    assert "service|client" in complaints


def test_a_child_that_answers_alone_ends_when_its_parent_is_killed() -> None:
    runtime = runtime_or_skip("3.14t")
    told = json.dumps(cell(runtime, "4"))
    check_it_ends_with_its_parent(command_or_skip(runtime, find("4"), "alone"), told)
