"""Hosts that are broken or hostile: whatever they send, the error is about that host."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import runner
from core.errors import ChildFailed
from core.layout import Host
from lab.folders import Sandbox
from lab.hosts import host_tasks as tasks
from lab.hosts.connection import HostConnection
from tests.lab.python.fake_pythons import script

BOOTED = {"folder": "/tmp", "python": sys.executable, "cpus": [0, 1], "pid": 7}
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
STARTED = '{"child": %s, "pid": 8}'
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
        say(json.dumps({"clock": order["number"], "at_ns": 5}))
    answers = {"start": lines[1:2], "write": lines[2:], "kill": ['{"child": %s, "status": -9}']}
    for line in answers.get(order["do"], []):
        say(line.replace("%s", str(order["child"])))
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
    with pytest.raises(ChildFailed, match=r"^Host x cannot be used: "):
        HostConnection(HOST, sandbox).close()


VALUES = ['{"other": 1}', "1e999", "NaN", "-1" + "0" * 400, '{"a": {"b": 1e999}}', FLAT]
VALUES += [line for line in JSON if line != "[]"]


def output(text: str) -> str:
    """The message that a child wrote *text* and the end of the line."""
    return json.dumps({"child": 0, "out": text + "\n"}).replace("0", "%s", 1)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:30])
def test_a_wrong_answer_fails_the_call_and_names_the_host(value: str, fake: FakeHost, sandbox: Sandbox) -> None:
    fake.writes(json.dumps(BOOTED), STARTED, output('{"answer": ' + value + "}"))
    with closing(HostConnection(HOST, sandbox)) as host:
        with pytest.raises(ChildFailed, match="ost x"):
            host.call(list[dict[str, bool]], tasks.facts, deadline_s=10.0)
        assert not host.lost


@pytest.mark.parametrize("line", [*JSON[:-2], FLAT, DEEP, '{"error": 5}'], ids=lambda line: line[:30])
def test_any_line_instead_of_an_answer_fails_the_call_and_names_the_host(
    line: str, fake: FakeHost, sandbox: Sandbox
) -> None:
    fake.writes(json.dumps(BOOTED), STARTED, output(line))
    with closing(HostConnection(HOST, sandbox)) as host, pytest.raises(ChildFailed, match="ost x"):
        host.call(list[int], tasks.facts, deadline_s=10.0)


@pytest.mark.parametrize("line", [*JSON, DEEP, '{"child": "a"}', '{"child": %s, "status": 1e999}',
                                  '{"child": [1], "out": 5}', '{"child": %s, "out": 5}', '{"child": %s}',
                                  '{"child": %s, "text": "x"}', '{"child": %s, "pid": []}', '{"clock": [1]}',
                                  '{"clock": 7}'],
                         ids=lambda line: line[:30])  # fmt: skip
def test_a_wrong_message_loses_the_host(line: str, fake: FakeHost, sandbox: Sandbox) -> None:
    fake.writes(json.dumps(BOOTED), line, STARTED)
    lost = "host x was lost: the host sent bytes that are not a valid message"
    with closing(HostConnection(HOST, sandbox)) as host, pytest.raises(ChildFailed, match=lost):
        host.start(["true"], {})


@pytest.mark.parametrize(
    "facts", [{"quiet": {"window": {"others": {"share": 1}}}}, {"quiet": {"cores": []}}, {"quiet": {}, "cpu": 5}]
)
def test_the_command_hosts_says_what_is_wrong_with_a_host(
    facts: Any, fake: FakeHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hosts.yaml").write_text("x: {ssh: 127.0.0.1, address: 127.0.0.1}\n")
    fake.writes(json.dumps(BOOTED), STARTED, output(json.dumps({"answer": facts})))
    assert runner.main(["hosts", "--hosts", str(tmp_path / "hosts.yaml")]) in (1, 2)
    said = capsys.readouterr()
    assert "bug in gilscope" not in said.err
    assert "ost x" in said.out + said.err
