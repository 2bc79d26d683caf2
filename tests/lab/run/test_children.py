"""Children and their lines: heard in any pieces, never waited for without a deadline, never left behind."""

import json
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

from core.errors import ChildFailed
from core.messages import message, verbatim
from lab.run.children import READY, RESULT, Child, Children
from lab.run.sandbox import Sandbox

DEADLINE_S = 20.0
BEFORE, AT_END = message("before it was ready", code="early"), message("at the end")
WAIT_FOR_END = "import sys; sys.stdin.read()"


@pytest.fixture
def children(sandbox: Sandbox, tmp_path: Path) -> Iterator[Children]:
    """All of them end with the test."""
    with Children(sandbox, str(tmp_path)) as children:
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


# ---- lines ---------------------------------------------------------------------------------------------------------


def test_one_line_of_each_is_heard_in_the_order_of_the_children(children: Children) -> None:
    slow = start(children, says({"ready": 1}, then=WAIT_FOR_END))
    fast = start(children, says({"ready": 2}))
    assert children.await_lines([fast, slow], READY, BEFORE, DEADLINE_S) == [{"ready": 2}, {"ready": 1}]


def test_lines_that_come_together_are_heard_one_after_the_other(children: Children) -> None:
    child = start(children, says('{"ready": true}\n{"result": 1}'))
    assert children.await_lines([child], READY, BEFORE, DEADLINE_S) == [{"ready": True}]
    start_s = monotonic()
    assert children.await_lines([child], RESULT, AT_END, 4.0) == [{"result": 1}]
    assert monotonic() - start_s < 3.0


def test_a_line_that_comes_in_pieces_is_heard_whole(children: Children) -> None:
    pieces = 'import sys\nfor c in \'{"ready": "a b"}\\n\': sys.stdout.write(c); sys.stdout.flush()\nsys.stdin.read()'
    child = start(children, pieces)
    assert children.await_lines([child], READY, BEFORE, DEADLINE_S) == [{"ready": "a b"}]


def test_a_long_line_is_heard_whole(children: Children) -> None:
    child = start(children, "print('{\"ready\": \"' + 'x' * 3_000_000 + '\"}', flush=True)\n" + WAIT_FOR_END)
    (line,) = children.await_lines([child], READY, BEFORE, DEADLINE_S)
    assert len(line["ready"]) == 3_000_000


def test_a_child_is_told_lines_of_json_and_words_of_any_length_and_the_end(children: Children) -> None:
    child = start(children, "import sys, json\nprint(json.dumps({'result': sys.stdin.read()}), flush=True)")
    for line in ({"cell": "一"}, "go", "x" * 1_000_000):
        child.tell(line)
    child.end_of_file()
    (line,) = children.await_lines([child], RESULT, AT_END, DEADLINE_S)
    first, *others = line["result"].split("\n")
    assert (json.loads(first), others) == ({"cell": "一"}, ["go", "x" * 1_000_000, ""])


@pytest.mark.parametrize("line", ["nonsense", "[1, 2]", "17", '"text"', "null", "{", "\udcff"])
def test_a_line_that_is_no_json_object_fails_the_child_and_is_shown(children: Children, line: str) -> None:
    program = f"import sys\nsys.stdout.buffer.write({line.encode(errors='surrogateescape')!r} + b'\\n')\n"
    child = start(children, program + "sys.stdout.flush(); sys.stdin.read()")
    assert failure(children, child).startswith(f"Service 1 of 1 (3.14, pid {child.process.pid}) wrote b")


def test_another_line_than_the_one_that_is_due_fails_the_child(children: Children) -> None:
    child = start(children, says({"result": {}}))
    assert re.search(r"wrote \{'result': \{\}\} .* requires 'ready'", failure(children, child))


# ---- ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("import sys; sys.exit('out of cheese')", "exited with status 1 before it was ready. Its last lines: out of c"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL before it was ready. It wrote nothing"),
        ("print('{\"ready\": 1}', end='')", "exited with status 0 before it was ready"),  # which is no line yet
    ],
)
def test_a_child_that_ends_too_early_fails_with_its_end_and_its_last_words(
    children: Children, program: str, end: str
) -> None:
    child = start(children, program)
    assert failure(children, child).startswith(f"Service 1 of 1 (3.14, pid {child.process.pid}) {end}")


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="needs real-time signals")
def test_a_signal_without_a_name_of_its_own_is_told_by_its_number(children: Children) -> None:
    child = start(children, "import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 3)")
    assert f"{int(signal.SIGRTMIN) + 3} before it was ready" in failure(children, child)


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
    assert children.await_lines([client], RESULT, message("while the clients were sending requests"), DEADLINE_S) == [
        {"result": 1}
    ]
    service.end_of_file()
    assert children.await_lines([service], RESULT, AT_END, DEADLINE_S) == [{"result": 2}]


def test_silence_fails_the_child_at_the_deadline(children: Children) -> None:
    noisy, silent, third = (start(children, says(*said)) for said in ([{"ready": 1}], [], []))
    children.await_lines([noisy], READY, BEFORE, DEADLINE_S)
    reason = failure(children, silent, third, deadline_s=0.3)
    assert re.match(r"Service 1 of 1 .* and 1 more sent no line for \S+ s before it was ready\.", reason)


def test_telling_a_child_that_has_gone_is_no_error(children: Children) -> None:
    child = start(children, "")
    child.process.wait(DEADLINE_S)
    child.tell("go")
    child.end_of_file()
    assert "exited with status 0" in failure(children, child)


def test_a_program_that_cannot_be_started_fails_with_its_name(children: Children) -> None:
    with pytest.raises(ChildFailed, match=r"Client 1 of 1 \(3\.14\) .* /no/such/python"):
        children.start(verbatim("Client 1 of 1"), "3.14", ["/no/such/python"])


DEAF = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_no_child_is_left_when_the_block_ends_also_with_an_error(
    sandbox: Sandbox, tmp_path: Path, error: type[BaseException] | None
) -> None:
    with suppress(RuntimeError, KeyboardInterrupt), Children(sandbox, str(tmp_path)) as children:
        deaf = [start(children, DEAF + says({"ready": 1}, then="signal.pause()")) for _ in range(3)]
        children.await_lines(deaf, READY, BEFORE, DEADLINE_S)
        if error:
            raise error
    assert [child.process.wait() for child in deaf] == [-signal.SIGKILL] * 3


# ---- what a child is given -----------------------------------------------------------------------------------------


def test_a_child_gets_no_variable_that_changes_how_python_runs(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYTHON_GIL", "PYTHONHASHSEED", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GILSCOPE_TEST", "kept")
    child = start(children, "import os, json; print(json.dumps({'result': dict(os.environ)}), flush=True)")
    (line,) = children.await_lines([child], RESULT, AT_END, DEADLINE_S)
    assert [name for name in line["result"] if name.startswith("PYTHON") or name == "VIRTUAL_ENV"] == []
    assert line["result"]["GILSCOPE_TEST"] == "kept"


def test_a_child_joins_the_sandbox_process_group_and_starts_where_it_is_told(
    children: Children, sandbox: Sandbox, tmp_path: Path
) -> None:
    child = start(children, "import os, json; print(json.dumps({'result': [os.getpgrp(), os.getcwd()]}), flush=True)")
    (line,) = children.await_lines([child], RESULT, AT_END, DEADLINE_S)
    assert line["result"] == [sandbox.process_group, str(tmp_path)]
