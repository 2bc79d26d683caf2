"""Hosts that are broken or hostile: whatever they send, the error is about that host."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import runner
from core.errors import ChildFailed
from core.hosts import Host
from lab.folders import Sandbox
from lab.hosts.agent_stream import HostLost
from lab.hosts.connection import ANSWERS, HostConnection
from tests.lab.python.fake_pythons import script

BOOTED = {"folder": "/tmp", "python": sys.executable, "cpus": [0, 1]}
DEEP, FLAT = '{"a":' * 100_000, "[" * 500 + "]" * 500
JSON = (
    "null",
    "true",
    "-1",
    "1e999",
    "NaN",
    "Infinity",
    "1" + "0" * 4000,
    '""',
    '"\\ud800"',
    '"x\\u0000"',
    "[]",
    "{}",
    FLAT,
)
WRONG = ('{"reply": %s, "answer": {"cpus": "x"}}', '{"reply": %s}', '{"reply": %s, "error": 5}')
# A program that plays ssh and the agent. It writes the first line of a file, and the others after each call.
FAKE = r"""
import json, sys
lines = open(sys.argv[0] + ".lines").read().split("\n")
say = lambda line: print("gilscope " + line, flush=True)
say('{"machine": "x"}')
source = sys.stdin.buffer
source.read(int(source.readline()))
say(lines[0])
for asked in source:
    number = json.loads(asked.removeprefix(b"gilscope "))["call"]
    for line in lines[1:]:
        say(line.replace("%s", str(number)))
"""


class FakeHost:
    """A host whose agent writes given lines."""

    def __init__(self, folder: Path) -> None:
        self._program = script(folder / "ssh", f'exec {sys.executable} -I -S {folder}/fake.py "$@"')
        self._lines = folder / "fake.py.lines"
        (folder / "fake.py").write_text(FAKE)

    def writes(self, *lines: str) -> None:
        """Let the agent write *lines*: its first message, and those after each call."""
        self._lines.write_text("\n".join(lines))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return FakeHost(tmp_path)


HOST = Host(name="x", address="127.0.0.1", ssh="127.0.0.1")
FIRST = [*JSON, DEEP, json.dumps({**BOOTED, "cpus": ["a"]}), json.dumps({**BOOTED, "cpus": []}), '{"folder": "/"}']
FIRST += [json.dumps({**BOOTED, "cpus": [10**9]}), json.dumps({**BOOTED, "python": 5}), '{"error": [1]}']


@pytest.mark.parametrize("line", FIRST, ids=lambda line: line[:30])
def test_an_agent_with_a_wrong_first_message_cannot_be_used(line: str, fake: FakeHost, sandbox: Sandbox) -> None:
    fake.writes(line)
    with pytest.raises(HostLost, match=r"^Host x cannot be used: "):
        HostConnection(HOST, sandbox.process_group).close()


VALUES = ("[[1]]", '{"other": 1}', "1e999", "NaN", "-1" + "0" * 400, '{"a": {"b": 1e999}}', FLAT)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:30])
def test_a_wrong_answer_fails_each_call_and_names_the_host(value: str, fake: FakeHost, sandbox: Sandbox) -> None:
    fake.writes(json.dumps(BOOTED), '{"reply": %s, "answer": ' + value + "}")
    with closing(HostConnection(HOST, sandbox.process_group)) as host:
        for what in {*ANSWERS, "mark"} - {"watched"}:  # place.RemoteWatcher checks that answer
            with pytest.raises(ChildFailed, match="ost x"):
                host.call(what, 10.0)
            assert not host.lost


@pytest.mark.parametrize("line", [*JSON, DEEP, *WRONG, '{"child": "a"}', '{"child": 1, "status": 1e999}',
                                  '{"child": [1], "text": 5}', '{"reply": [1]}', '{"reply": {"a": 1}}'],
                         ids=lambda line: line[:30])  # fmt: skip
def test_any_line_instead_of_an_answer_fails_the_call_and_names_the_host(
    line: str, fake: FakeHost, sandbox: Sandbox
) -> None:
    fake.writes(json.dumps(BOOTED), line)
    with closing(HostConnection(HOST, sandbox.process_group)) as host, pytest.raises(ChildFailed, match="ost x"):
        host.call("facts", 10.0)


@pytest.mark.parametrize("line", ['{"child": %d, "status": 1e999}', '{"child": %d, "text": 5, "stream": "out"}',
                                  '{"child": %d, "text": "x"}', '{"child": %d}', DEEP])  # fmt: skip
def test_a_wrong_message_about_a_child_loses_the_host(line: str, fake: FakeHost, sandbox: Sandbox) -> None:
    fake.writes(json.dumps(BOOTED), line.replace("%d", "1"), '{"reply": %s, "answer": 5}')
    lost = "host x was lost: the host sent bytes that are not a valid message"
    with closing(HostConnection(HOST, sandbox.process_group)) as host, pytest.raises(ChildFailed, match=lost):
        host.start(["true"], {})


@pytest.mark.parametrize("facts", [{}, {"quiet": {"window": {"others": {"share": 1}}}}, {"quiet": {"cores": []}},
                                   {"quiet": {}}, {"quiet": {}, "cpu": 5}])  # fmt: skip
def test_the_command_hosts_says_what_is_wrong_with_a_host(
    facts: Any, fake: FakeHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hosts.yaml").write_text("x: {ssh: 127.0.0.1, address: 127.0.0.1}\n")
    fake.writes(json.dumps(BOOTED), json.dumps({"reply": 0, "answer": facts}).replace("0", "%s", 1))
    assert runner.main(["hosts", "--hosts", str(tmp_path / "hosts.yaml")]) in (1, 2)
    said = capsys.readouterr()
    assert "bug in gilscope" not in said.err
    assert "ost x" in said.out + said.err
