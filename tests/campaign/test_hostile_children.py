"""Children that write without end, to stdout or to stderr: the orchestrator's memory, disk and time are bounded."""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from core.messages import ChildFailed, message, verbatim
from core.wire import OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES
from lab.folders import Sandbox
from lab.processes import run
from lab.run.children import READY, RESULT, Child, Children
from tests.campaign.hostile import sample

MORE_BYTES = 256 * 2**20
DEADLINE_S = 20.0
WHILE = message("while it was serving requests")
READY_LINE = "import sys; print('{\"ready\": true}', flush=True)\n"
STDOUT_WITHOUT_END = {
    "600 MB without a line end": "for _ in range(600): sys.stdout.write('x' * 10**6)",
    "lines without end": "while True: sys.stdout.write('{\"a\": 1}\\n' * 10**5)",
    "empty lines without end": "while True: sys.stdout.write('\\n' * 10**6)",
    "bytes that are no text": "while True: sys.stdout.buffer.write(b'\\xff\\0' * 10**6)",
}


@pytest.fixture
def children(sandbox: Sandbox) -> Iterator[Children]:
    """All of them end with the test."""
    with Children(sandbox) as children:
        yield children


def start(children: Children, program: str) -> Child:
    """A child that runs *program*, in this test's own Python."""
    return children.start(verbatim("Client 1 of 1"), "3.14", [sys.executable, "-c", program])


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize(
    ("mode", "before"),
    sample([(mode, before) for mode in STDOUT_WITHOUT_END for before in ("", READY_LINE)], 3),
    ids=str,
)
def test_a_child_that_writes_without_end_is_a_failed_cell(children: Children, mode: str, before: str) -> None:
    silent = start(children, READY_LINE + "sys.stdin.read()")
    loud = start(children, "import sys\n" + before + STDOUT_WITHOUT_END[mode])
    base, began = _resident_bytes(), monotonic()

    def hear() -> None:
        children.await_lines([silent, *([loud] if before else [])], READY, WHILE, DEADLINE_S)
        children.await_lines([silent], RESULT, WHILE, DEADLINE_S)

    with pytest.raises(ChildFailed) as caught:
        hear()
    assert monotonic() - began < DEADLINE_S
    assert _resident_bytes() - base < MORE_BYTES
    assert len(str(caught.value)) < 2_000


def test_a_child_that_fills_its_stderr_fills_no_disk_and_ends(children: Children, sandbox: Sandbox) -> None:
    flood = "import sys\nfor number in range(300): sys.stderr.write('y' * 10**6)\nsys.stderr.write('the end\\n')\n"
    base = _resident_bytes()
    child = start(children, flood + READY_LINE + "sys.stdin.read()")
    children.await_lines([child], READY, WHILE, DEADLINE_S)
    assert child.stderr_tail().endswith("the end")
    assert _resident_bytes() - base < MORE_BYTES
    assert sum(path.stat().st_size for path in Path(sandbox.folder).rglob("*") if path.is_file()) < 2**20


def test_of_a_command_that_writes_much_the_beginning_and_the_newest_mebibyte_are_kept() -> None:
    text = "import sys\nfor stream in (sys.stdout, sys.stderr):\n print('first', file=stream)\n"
    text += " for _ in range(64): stream.write('x' * 2**20)\n print('the end', file=stream)\nsys.exit(3)\n"
    done = run([sys.executable, "-c", text], DEADLINE_S)
    assert done.returncode == 3
    for output in (done.stdout, done.stderr):
        assert output.startswith("first\n")
        assert output.endswith("xthe end\n")
        assert OUTPUT_TAIL_BYTES <= len(output) <= OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES + 2**17
