"""Children and their lines: heard in any pieces, never waited for without a deadline, never left behind."""

import json
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from core.messages import ChildFailed, message, verbatim
from lab.folders import Sandbox
from lab.places import REPOSITORY
from lab.run.children import READY, RESULT, Child, Children
from tests.tables import each_row

DEADLINE_S = 20.0
BEFORE, AT_END = message("before it was ready", code="early"), message("at the end")
WAIT_FOR_END = "import sys; sys.stdin.read()"
REALTIME = getattr(signal, "SIGRTMIN", 0) + 3  # a signal without a name
NAMELESS = [f"import os; os.kill(os.getpid(), {REALTIME}) -> was killed by SIG{REALTIME} before"] * (REALTIME > 3)


@pytest.fixture
def children(sandbox: Sandbox) -> Iterator[Children]:
    """All of them end with the test."""
    with Children(sandbox) as children:
        yield children


def start(children: Children, program: str, name: str = "Service 1 of 1") -> Child:
    """A child that runs *program*, in this test's own Python."""
    return children.start(verbatim(name), "3.14", [sys.executable, "-c", program])


def says(*lines: object, then: str = WAIT_FOR_END) -> str:
    """A program that prints these lines, JSON or text, and goes on with *then*."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return f"for line in {texts!r}: print(line, flush=True)\n{then}"


def failure(children: Children, *speakers: Child, key: str = READY, deadline_s: float = DEADLINE_S) -> str:
    """Why await_lines failed."""
    with pytest.raises(ChildFailed) as caught:
        children.await_lines(speakers, key, BEFORE, deadline_s)
    return str(caught.value)


def heard(children: Children, *speakers: Child, key: str = RESULT) -> list[Any]:
    """What the children say under *key*, in their order."""
    lines = children.await_lines(speakers, key, AT_END, DEADLINE_S)
    assert [*lines] == [*speakers]
    return [line[key] for line in lines.values()]


# ---- lines ---------------------------------------------------------------------------------------------------------


def test_one_line_of_each_is_heard_in_the_order_of_the_children_and_lines_that_come_together_one_by_one(
    children: Children,
) -> None:
    first, second = start(children, says('{"ready": 1}\n{"result": 1}')), start(children, says({"ready": 2}))
    assert heard(children, second, first, key=READY) == [2, 1]
    assert heard(children, first) == [1]


def test_a_child_is_told_lines_of_json_and_words_of_any_length_and_the_end_and_a_long_line_of_its_is_heard_whole(
    children: Children,
) -> None:
    child = start(children, "import sys, json\nprint(json.dumps({'result': sys.stdin.read()}), flush=True)")
    for line in ({"cell": "一"}, "go", "x" * 1_000_000):
        child.tell(line)
    child.process.close_stdin()
    first, *others = heard(children, child)[0].split("\n")
    assert (json.loads(first), others) == ({"cell": "一"}, ["go", "x" * 1_000_000, ""])


@each_row
def test_a_line_that_is_no_json_object_or_not_the_one_that_is_due_fails_the_child_and_is_shown(
    children: Children, line: str
) -> None:
    program = f"import sys\nsys.stdout.buffer.write({line.encode(errors='surrogateescape')!r} + b'\\n')\n"
    child = start(children, program + "sys.stdout.flush(); sys.stdin.read()")
    said = failure(children, child)
    assert said.startswith(f"Service 1 of 1 (3.14, pid {child.process.pid}) wrote ")
    assert ("requires the key 'ready'" in said) is (line == '{"result": {}}')


def test_a_reason_that_would_fill_the_memory_fails_the_child(children: Children) -> None:
    reason: dict[str, Any] = {"msgid": "x" * 50}
    for _ in range(12):
        reason = {"msgid": "{a}" * 100, "args": {"a": reason}}
    assert 'wrote b\'{"failed": {"msgid": "{a}{a}' in failure(children, start(children, says({"failed": reason})))


# ---- ends ----------------------------------------------------------------------------------------------------------


ENDS = """\
import sys; sys.exit('cheese') -> exited with status 1 before it was ready. The last lines that the child process \
wrote to stderr: cheese
import os; os.kill(os.getpid(), 9) -> was killed by SIGKILL before it was ready. The child process wrote nothing
print('{"ready": 1}', end='') -> exited with status 0 before it was ready"""  # which is no line yet


@pytest.mark.parametrize("line", [*ENDS.splitlines(), *NAMELESS])
def test_a_child_that_ends_too_early_fails_with_its_end_and_its_last_words(children: Children, line: str) -> None:
    program, end = line.split(" -> ")
    child = start(children, program)
    assert failure(children, child).startswith(f"Service 1 of 1 (3.14, pid {child.process.pid}) {end}")


def test_a_child_that_has_closed_its_stdout_and_lives_on_is_killed(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.run.children.END_DEADLINE_S", 0.2)
    child = start(children, f"import os; os.close(1); os.write(2, b'bye'); {WAIT_FOR_END}")
    assert "was killed by SIGKILL before it was ready. The last lines" in failure(children, child)


def test_only_the_tail_of_a_long_stderr_is_kept(children: Children) -> None:
    child = start(children, "import sys\nfor n in range(9999): print('line', n, file=sys.stderr)\nsys.exit(2)")
    reason = failure(children, child)
    assert reason.endswith("line 9998")
    assert 1000 < len(reason) < 3000


def test_a_child_that_says_why_it_gives_up_is_quoted_and_the_failure_has_the_code_of_its_phase(
    children: Children,
) -> None:
    why = message("{port} is taken.", port=80)
    child = start(children, says({"failed": why.to_json()}, then="raise SystemExit(1)"))
    with pytest.raises(ChildFailed, match=r"exited with status 1 before it was ready\. 80 is taken\.$") as caught:
        children.await_lines([child], READY, BEFORE, DEADLINE_S)
    assert (caught.value.message.code, caught.value.message.args["end"]) == (BEFORE.code, why)


def test_a_child_that_ends_while_another_is_awaited_fails_at_once(children: Children) -> None:
    start(children, "raise SystemExit(7)", name="Service 1 of 1")
    client = start(children, WAIT_FOR_END, name="Client 1 of 1")
    assert re.match(r"Service 1 of 1 \(3\.14, pid \d+\) exited with status 7", failure(children, client))


def test_a_child_that_has_said_its_result_may_end(children: Children) -> None:
    client = start(children, says({"result": 1}, then=""), name="Client 1 of 1")
    service = start(children, "import sys; sys.stdin.read(); print('{\"result\": 2}')")
    assert heard(children, client) == [1]
    service.process.close_stdin()
    assert heard(children, service) == [2]


def test_telling_a_child_that_has_gone_is_no_error_and_one_that_cannot_be_started_fails_with_its_name(
    children: Children,
) -> None:
    child = start(children, "")
    child.process.wait(DEADLINE_S)
    child.tell("go")
    child.process.close_stdin()
    with pytest.raises(ChildFailed, match=r"Client 1 of 1 \(3\.14\) .* /no/such/python"):
        children.start(verbatim("Client 1 of 1"), "3.14", ["/no/such/python"])


DEAF = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"


def test_no_child_is_left_when_the_block_ends_with_an_error(sandbox: Sandbox) -> None:
    with suppress(KeyboardInterrupt), Children(sandbox) as children:
        deaf = [start(children, DEAF + says({"ready": 1}, then="signal.pause()")) for _ in range(2)]
        heard(children, *deaf, key=READY)
        raise KeyboardInterrupt
    assert [child.process.wait() for child in deaf] == [-signal.SIGKILL] * 2


# ---- what a child is given -----------------------------------------------------------------------------------------


def test_a_child_has_the_process_group_of_the_sandbox_its_folder_and_no_variable_that_changes_how_python_runs(
    children: Children, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYTHON_GIL", "PYTHONHASHSEED", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GILSCOPE_TEST", "kept")
    said = "{'result': [os.getpgrp(), os.getcwd(), dict(os.environ)]}"
    child = start(children, f"import os, json; print(json.dumps({said}), flush=True)")
    ((group, folder, variables),) = heard(children, child)
    assert (group, folder, variables["GILSCOPE_TEST"]) == (sandbox.process_group, str(REPOSITORY), "kept")
    assert [name for name in variables if name.startswith("PYTHON") or name == "VIRTUAL_ENV"] == []
