"""loadgen as a child ends when its stdin does, stays where it is told, and refuses a cell that cannot be."""

import socket
from time import perf_counter_ns

import pytest

from core.method import Method, Warmup
from tests.contract.speaking import DEADLINE_S, Spoken
from tests.native.loadgen_child import FRAMED, RIGHT, a_client, told
from tests.native.loadgen_peers import Scripted, read_frame, scripted, silent
from tests.native.programs import program_or_skip


@pytest.mark.parametrize("word", ["warm", "go"])
def test_end_of_file_ends_it_while_it_waits_for_an_answer(word: str) -> None:
    came = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        came.append(request)
        return silent(server, connection, request)

    method = Method(warmup=Warmup(seconds=DEADLINE_S))
    with (
        scripted(noting, read_frame) as server,
        a_client(told([[server.address]], method=method), *FRAMED) as client,
    ):
        client.tell(word)
        while not came:
            server.stall(0.001)
        assert client.end() == (3, b"", "")


def test_it_begins_when_it_is_to_and_its_connections_stay_open_until_the_end_of_stdin() -> None:
    ended: list[str] = []

    def read(connection: socket.socket) -> bytes:
        try:
            return read_frame(connection)
        except EOFError:
            ended.append("closed")
            raise

    with scripted(RIGHT, read) as server, a_client(told([[server.address]]), *FRAMED) as client:
        at_ns = perf_counter_ns() + 20_000_000
        client.tell(f"go {at_ns}")
        result = client.line()["result"]
        assert result["answered"] == 20
        assert result["started_ns"] >= at_ns
        server.stall(0.05)
        assert ended == []
        assert client.end() == (0, b"", "")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"addresses": []}', "addresses is empty"),
        ('{"addresses": [["/nowhere/0.0"]]}', "cannot connect to /nowhere/0.0"),
        ('{"addresses": [["/x"]], "params": {"RATE": "fast"}}', "RATE is"),
    ],
)
def test_a_cell_that_cannot_be_is_refused(line: str, complaint: str) -> None:
    with Spoken([program_or_skip("loadgen"), "--report", "child", *FRAMED]) as client:
        client.tell(line)
        client.process.wait(DEADLINE_S)
        status, said, complaints = client.end()
    assert (status, said) == (1, b"")
    assert complaint in complaints
