"""loadgen as a child ends when its stdin does, stays where it is told, and refuses a cell that cannot be."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.method import Method, Warmup
from tests.contract.speaking import DEADLINE_S, REPOSITORY, Spoken, read_to_end, wait_readable
from tests.native.loadgen_child import FRAMED, RIGHT, a_client, released, told
from tests.native.loadgen_peers import Scripted, read_frame, scripted, silent
from tests.native.programs import program_or_skip


def test_end_of_file_before_go_ends_it_without_a_result() -> None:
    with scripted(RIGHT, read_frame) as server, a_client(told([[server.address]]), *FRAMED) as client:
        assert client.end() == (3, b"", "")


@pytest.mark.parametrize("word", ["warm", "go"])
def test_end_of_file_ends_it_while_it_waits_for_an_answer(word: str) -> None:
    came = []

    def noting(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        came.append(request)
        return silent(server, connection, request)

    method = Method(warmup=Warmup(seconds=1.0))
    with (
        scripted(noting, read_frame) as server,
        a_client(told([[server.address]], method=method), *FRAMED) as client,
    ):
        client.tell(word)
        while not came:
            server.stall(0.001)
        assert client.end() == (3, b"", "")


PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(sys.argv[1].encode() + b"\\n")
child.stdin.flush()
sys.stdout.buffer.write(child.stdout.readline())
sys.stdout.flush()
child.wait()
"""


def test_it_ends_with_its_parent() -> None:
    command = [program_or_skip("loadgen"), "--report", "child", *FRAMED]
    pipe = subprocess.PIPE
    with scripted(RIGHT, read_frame) as server:
        words = [sys.executable, "-c", PARENT, json.dumps(told([[server.address]])), *command]
        with subprocess.Popen(words, stdout=pipe, stderr=pipe, cwd=REPOSITORY, bufsize=0) as parent:
            assert parent.stdout is not None
            assert parent.stderr is not None
            try:
                wait_readable(parent.stdout.fileno())
                assert json.loads(parent.stdout.readline())["ready"] is True
            finally:
                os.kill(parent.pid, signal.SIGKILL)
            assert read_to_end(parent.stderr.fileno()) == b""


def test_its_connections_stay_open_until_the_end_of_stdin() -> None:
    ended: list[str] = []

    def read(connection: socket.socket) -> bytes:
        try:
            return read_frame(connection)
        except EOFError:
            ended.append("closed")
            raise

    with scripted(RIGHT, read) as server, a_client(told([[server.address]]), *FRAMED) as client:
        client.tell("go")
        assert client.line()["result"]["answered"] == 20
        server.stall(0.05)
        assert ended == []
        assert client.end() == (0, b"", "")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this platform does not pin processes")
def test_it_stays_on_the_cpus_that_it_is_told() -> None:
    cpu = max(os.sched_getaffinity(0))
    with scripted(RIGHT, read_frame) as server, a_client(told([[server.address]]) | {"cpus": [cpu]}, *FRAMED) as client:
        tasks = Path(f"/proc/{client.process.pid}/task")
        assert {frozenset(os.sched_getaffinity(int(task.name))) for task in tasks.iterdir()} == {frozenset({cpu})}
        assert released(client)["answered"] == 20


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("this is no JSON", "must be a cell, a JSON object"),
        ("[1, 2]", "must be a cell, a JSON object"),
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
