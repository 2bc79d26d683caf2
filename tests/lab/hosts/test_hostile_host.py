"""Hosts that are broken or hostile: whatever they send, the error is about that host."""

import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import runner
from core.layout import Host
from core.messages import ChildFailed
from lab.folders import Sandbox
from lab.hosts import worker
from lab.hosts.connection import HostConnection
from lab.hosts.protocol import MOST_BYTES
from tests.lab.python.fake_pythons import script
from tests.tables import each_row, table

BOOTED = {"folder": "/tmp", "python": sys.executable, "cpus": [0, 1], "pid": 7}
DEEP, FLAT = '{"a":' * 100_000, "[" * 500 + "]" * 500
TEXTS = table(__file__)
JSON = ("1" + "0" * 4000, *TEXTS["values"], FLAT)
LONG = '{"number": %s, "out": "' + 2 * MOST_BYTES * "x" + '"}'
STARTED = '{"number": %s, "answer": 8}'
# A program that plays ssh and the agent. It writes the first line of a file; when a child is to be started, it writes
# the next; when a child is written to, the others.
FAKE = r"""
import json, sys
lines = open(sys.argv[0] + ".lines").read().split("\n")
say = lambda line: print("gilscope " + line, flush=True)
source = sys.stdin.buffer
while source.readline().rstrip() != b"}":
    pass
say('{"machine": "x"}')
source.read(int(source.readline()))
say(lines[0])
for asked in source:
    order = json.loads(asked.removeprefix(b"gilscope "))
    if order["do"] == "clock":
        say(json.dumps({"number": order["number"], "answer": 5}))
    answers = {"start": lines[1:2], "write": lines[2:], "kill": ['{"number": %s, "status": -9}']}
    for line in answers.get(order["do"], []):
        say(line.replace("%s", str(order["number"])))
"""


Write: TypeAlias = Callable[..., object]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Lets the agent of a host write lines: its first message, and those after each call."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    script(tmp_path / "ssh", f'exec {sys.executable} -I -S {tmp_path}/fake.py "$@"')
    (tmp_path / "fake.py").write_text(FAKE)
    return lambda *lines: (tmp_path / "fake.py.lines").write_text("\n".join(lines))


HOST = Host(name="x", address="127.0.0.1", ssh="127.0.0.1")
FIRST = [*JSON, DEEP, '{"folder": "/"}', *(json.dumps({**BOOTED, **wrong}) for wrong in TEXTS["facts"])]


@pytest.mark.parametrize("line", FIRST, ids=lambda line: line[:30])
def test_an_agent_with_a_wrong_first_message_cannot_be_used(line: str, write: Write, sandbox: Sandbox) -> None:
    write(line)
    with pytest.raises(ChildFailed, match=r"^Host x cannot be used: "):
        HostConnection(HOST, sandbox).close()


VALUES = [*TEXTS["answers"], "-1" + "0" * 400, FLAT]


def output(text: str) -> str:
    """The message that a child wrote *text* and the end of the line."""
    return json.dumps({"number": 0, "out": text + "\n"}).replace("0", "%s", 1)


ANSWERS = [f'{{"answer": {value}}}' for value in (*VALUES, *JSON)]


@pytest.mark.parametrize("line", [*ANSWERS, *JSON[:-2], FLAT, DEEP, '{"error": 5}'], ids=lambda line: line[:40])
def test_a_wrong_answer_fails_the_call_and_names_the_host(line: str, write: Write, sandbox: Sandbox) -> None:
    write(json.dumps(BOOTED), STARTED, output(line))
    with closing(HostConnection(HOST, sandbox)) as host:
        with pytest.raises(ChildFailed, match="ost x"):
            host.call(tuple[dict[str, bool]], worker.facts, deadline_s=10.0)
        assert not host.lost


@pytest.mark.parametrize("line", [*JSON, DEEP, *TEXTS["messages"], LONG], ids=lambda line: line[:30])
def test_a_wrong_message_loses_the_host(line: str, write: Write, sandbox: Sandbox) -> None:
    write(json.dumps(BOOTED), line, STARTED)
    lost = "host x was lost: the host sent bytes that are not a valid message"
    with closing(HostConnection(HOST, sandbox)) as host, pytest.raises(ChildFailed, match=lost):
        host.start(["true"], {})


@each_row
def test_the_command_hosts_says_what_is_wrong_with_a_host(
    facts: Any, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hosts.yaml").write_text("x: {ssh: 127.0.0.1, address: 127.0.0.1}\n")
    write(json.dumps(BOOTED), STARTED, output(json.dumps({"answer": facts})))
    assert runner.main(["hosts", "--hosts", str(tmp_path / "hosts.yaml")]) in (1, 2)
    said = capsys.readouterr()
    assert "bug in gilscope" not in said.err
    assert "ost x" in said.out + said.err
