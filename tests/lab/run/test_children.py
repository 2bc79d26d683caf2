"""Children and their lines: heard in any pieces, never waited for without a deadline, never left behind."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from core.errors import ChildFailed
from lab.python.interpreters import scrubbed_environment
from lab.run.children import READY, RESULT, Child, Crew
from lab.run.sandbox import Sandbox

DEADLINE_S = 20.0
WAIT_FOR_END = "import sys; sys.stdin.read()"


@pytest.fixture
def crew(sandbox: Sandbox, tmp_path: Path) -> Iterator[Crew]:
    """A crew whose children all end with the test."""
    with Crew(sandbox, str(tmp_path)) as crew:
        yield crew


def start(crew: Crew, program: str, label: str = "Service 1 of 1") -> Child:
    """A child that runs *program*, in this test's own Python."""
    return crew.start(label, "3.14", [sys.executable, "-c", program])


def says(*lines: object, then: str = WAIT_FOR_END) -> str:
    """A program that prints these lines, JSON or text, and goes on with *then*."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return f"for line in {texts!r}: print(line, flush=True)\n{then}"


def failure(crew: Crew, *children: Child, key: str = READY, deadline_s: float = DEADLINE_S) -> str:
    """Why hear_all failed."""
    with pytest.raises(ChildFailed) as caught:
        crew.hear_all(children, key, "before it was ready", deadline_s)
    return str(caught.value)


# ---- lines ---------------------------------------------------------------------------------------------------------


def test_one_line_of_each_is_heard_in_the_order_of_the_children(crew: Crew) -> None:
    slow = start(crew, says({"ready": 1}, then=WAIT_FOR_END))
    fast = start(crew, says({"ready": 2}))
    assert crew.hear_all([fast, slow], READY, "before it was ready", DEADLINE_S) == [{"ready": 2}, {"ready": 1}]


def test_lines_that_come_together_are_heard_one_after_the_other(crew: Crew) -> None:
    child = start(crew, says('{"ready": true}\n{"result": 1}'))
    assert crew.hear_all([child], READY, "before it was ready", DEADLINE_S) == [{"ready": True}]
    start_s = monotonic()
    assert crew.hear_all([child], RESULT, "at the end", 4.0) == [{"result": 1}]
    assert monotonic() - start_s < 3.0


def test_a_line_that_comes_in_pieces_is_heard_whole(crew: Crew) -> None:
    pieces = 'import sys\nfor c in \'{"ready": "a b"}\\n\': sys.stdout.write(c); sys.stdout.flush()\nsys.stdin.read()'
    child = start(crew, pieces)
    assert crew.hear_all([child], READY, "before it was ready", DEADLINE_S) == [{"ready": "a b"}]


def test_a_long_line_is_heard_whole(crew: Crew) -> None:
    child = start(crew, "print('{\"ready\": \"' + 'x' * 3_000_000 + '\"}', flush=True)\n" + WAIT_FOR_END)
    (line,) = crew.hear_all([child], READY, "before it was ready", DEADLINE_S)
    assert len(line["ready"]) == 3_000_000


def test_a_child_is_told_lines_of_json_and_words_and_the_end(crew: Crew) -> None:
    child = start(crew, "import sys, json\nprint(json.dumps({'result': sys.stdin.read()}), flush=True)")
    child.tell({"cell": "一"})
    child.tell("go")
    child.end_of_file()
    (line,) = crew.hear_all([child], RESULT, "at the end", DEADLINE_S)
    first, second, rest = line["result"].split("\n")
    assert (json.loads(first), second, rest) == ({"cell": "一"}, "go", "")


def test_a_long_line_is_told_whole(crew: Crew) -> None:
    child = start(crew, "import sys, json\nprint(json.dumps({'result': len(sys.stdin.readline())}), flush=True)")
    child.tell("x" * 1_000_000)
    assert crew.hear_all([child], RESULT, "at the end", DEADLINE_S) == [{"result": 1_000_001}]


@pytest.mark.parametrize("line", ["nonsense", "[1, 2]", "17", '"text"', "null", "{", "\udcff"])
def test_a_line_that_is_no_json_object_fails_the_child_and_is_shown(crew: Crew, line: str) -> None:
    program = f"import sys\nsys.stdout.buffer.write({line.encode(errors='surrogateescape')!r} + b'\\n')\n"
    child = start(crew, program + "sys.stdout.flush(); sys.stdin.read()")
    reason = failure(crew, child)
    assert reason.startswith(f"Service 1 of 1 (3.14, pid {child.process.pid}) said b")
    assert "the child contract wants one JSON object a line" in reason


def test_another_line_than_the_one_that_is_due_fails_the_child(crew: Crew) -> None:
    child = start(crew, says({"result": {}}))
    assert re.search(r"said \{'result': \{\}\} before it was ready; .* wants 'ready' there", failure(crew, child))


# ---- ends ----------------------------------------------------------------------------------------------------------


def test_a_child_that_exits_too_early_fails_with_its_status_and_its_last_words(crew: Crew) -> None:
    child = start(crew, "import sys; sys.exit('out of cheese')")
    assert failure(crew, child) == (
        f"Service 1 of 1 (3.14, pid {child.process.pid}) exited with status 1 before it was ready. "
        "Its last lines: out of cheese"
    )


def test_a_child_that_was_killed_fails_with_the_name_of_the_signal(crew: Crew) -> None:
    child = start(crew, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert failure(crew, child) == (
        f"Service 1 of 1 (3.14, pid {child.process.pid}) was killed by SIGKILL before it was ready. "
        "It said nothing on stderr."
    )


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="needs real-time signals")
def test_a_signal_without_a_name_of_its_own_is_told_by_its_number(crew: Crew) -> None:
    child = start(crew, "import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 3)")
    assert re.search(rf"was killed by \S*{int(signal.SIGRTMIN) + 3}\S* before it was ready", failure(crew, child))


def test_only_the_tail_of_a_long_stderr_is_kept(crew: Crew) -> None:
    child = start(crew, "import sys\nfor n in range(9999): print('line', n, file=sys.stderr)\nsys.exit(2)")
    reason = failure(crew, child)
    assert reason.endswith("line 9998")
    assert 1000 < len(reason) < 3000


def test_a_child_that_ends_while_another_is_awaited_fails_at_once(crew: Crew) -> None:
    start(crew, "raise SystemExit(7)", label="Service 1 of 1")
    client = start(crew, WAIT_FOR_END, label="Client 1 of 1")
    assert re.match(r"Service 1 of 1 \(3\.14, pid \d+\) exited with status 7", failure(crew, client))


def test_a_line_that_was_said_before_the_end_still_counts(crew: Crew) -> None:
    child = start(crew, says({"result": 1}, then=""))
    assert crew.hear_all([child], RESULT, "at the end", DEADLINE_S) == [{"result": 1}]


def test_a_child_that_has_said_its_result_may_end(crew: Crew) -> None:
    client = start(crew, says({"result": 1}, then=""), label="Client 1 of 1")
    service = start(crew, "import sys; sys.stdin.read(); print('{\"result\": 2}')")
    assert crew.hear_all([client], RESULT, "while the clients were calling", DEADLINE_S) == [{"result": 1}]
    service.end_of_file()
    assert crew.hear_all([service], RESULT, "at the end", DEADLINE_S) == [{"result": 2}]


def test_a_last_line_without_its_end_is_no_line(crew: Crew) -> None:
    child = start(crew, "print('{\"ready\": 1}', end='')")
    assert "exited with status 0 before it was ready" in failure(crew, child)


def test_silence_fails_the_child_at_the_deadline(crew: Crew) -> None:
    noisy = start(crew, says({"ready": 1}))
    silent = start(
        crew, "import sys; print('busy', file=sys.stderr, flush=True); sys.stdin.read()", label="Client 2 of 3"
    )
    third = start(crew, WAIT_FOR_END)
    crew.hear_all([noisy], READY, "before it was ready", DEADLINE_S)
    reason = failure(crew, silent, third, deadline_s=0.3)
    assert re.match(r"Client 2 of 3 \(3\.14, pid \d+\) and 1 more said nothing for \S+ s before it was ready\.", reason)


def test_telling_a_child_that_has_gone_is_no_error(crew: Crew) -> None:
    child = start(crew, "")
    child.process.wait(DEADLINE_S)
    child.tell({"cell": 1})
    child.tell("go")
    child.end_of_file()
    assert "exited with status 0" in failure(crew, child)


def test_a_program_that_cannot_be_started_fails_with_its_name(crew: Crew) -> None:
    with pytest.raises(ChildFailed, match=r"Client 1 of 1 \(3\.14\) could not be started: /no/such/python: No such"):
        crew.start("Client 1 of 1", "3.14", ["/no/such/python"])


DEAF = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"


def deaf_children(crew: Crew) -> list[Child]:
    """Children that only SIGKILL ends."""
    children = [start(crew, DEAF + says({"ready": 1}, then="signal.pause()")) for _ in range(3)]
    crew.hear_all(children, READY, "before it was ready", DEADLINE_S)
    return children


def test_no_child_is_left_when_the_block_ends(sandbox: Sandbox, tmp_path: Path) -> None:
    with Crew(sandbox, str(tmp_path)) as crew:
        children = deaf_children(crew)
    assert [child.process.returncode for child in children] == [-signal.SIGKILL] * 3


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_no_child_is_left_when_the_block_ends_with_an_error(
    sandbox: Sandbox, tmp_path: Path, error: type[BaseException]
) -> None:
    children: list[Child] = []

    def fail() -> None:
        with Crew(sandbox, str(tmp_path)) as crew:
            children.extend(deaf_children(crew))
            raise error

    with pytest.raises(error):
        fail()
    assert [child.process.returncode for child in children] == [-signal.SIGKILL] * 3


# ---- what a child is given -----------------------------------------------------------------------------------------


def test_a_child_gets_no_variable_that_changes_how_python_runs(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHON_GIL", "PYTHONHASHSEED", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GILSCOPE_TEST", "kept")
    child = start(crew, "import os, json; print(json.dumps({'result': dict(os.environ)}), flush=True)")
    (line,) = crew.hear_all([child], RESULT, "at the end", DEADLINE_S)
    assert [name for name in line["result"] if name.startswith("PYTHON") or name == "VIRTUAL_ENV"] == []
    assert line["result"]["GILSCOPE_TEST"] == "kept"
    assert scrubbed_environment()["GILSCOPE_TEST"] == "kept"


def test_a_child_joins_the_sandbox_process_group_and_starts_where_it_is_told(
    crew: Crew, sandbox: Sandbox, tmp_path: Path
) -> None:
    child = start(crew, "import os, json; print(json.dumps({'result': [os.getpgrp(), os.getcwd()]}), flush=True)")
    (line,) = crew.hear_all([child], RESULT, "at the end", DEADLINE_S)
    assert line["result"] == [sandbox.process_group, str(tmp_path)]


# ---- serving until the input ends ----------------------------------------------------------------------------------


def test_watching_ends_with_the_input(crew: Crew, tmp_path: Path) -> None:
    start(crew, WAIT_FOR_END)
    reader, writer = os.pipe()
    with open(reader) as source:
        os.write(writer, b"a line\n" * 1000)
        os.close(writer)
        crew.watch_until_end_of(source)
    (tmp_path / "input").write_text("a line\n" * 1000)
    for path in (tmp_path / "input", Path(os.devnull)):
        with open(path) as source:
            crew.watch_until_end_of(source)


def test_a_child_that_ends_while_its_crew_watches_fails(crew: Crew) -> None:
    start(crew, "raise SystemExit(3)")
    reader, writer = os.pipe()
    status = pytest.raises(ChildFailed, match="exited with status 3 while it was serving")
    with open(reader) as source, open(writer, "w"), status:
        crew.watch_until_end_of(source)
