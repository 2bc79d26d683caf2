"""What every native server is told and says of itself: one default, one refusal in one wording, the same facts."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.speaking import Spoken
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
    "loadgen": (("--report", "child", "--path", "/a"), {"mio", "hdrhistogram"}),
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


def refused(command: list[str], cell: dict[str, Any] | None = None) -> str:
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
