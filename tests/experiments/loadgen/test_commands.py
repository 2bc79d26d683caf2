"""A command that is run to its end: what it printed, and the CPU time that was its own."""

import sys

import pytest

from experiments.loadgen.peers import run

DIES = "import os, signal; from core.parent import die_with_parent; die_with_parent({}, signal.SIGTERM); print(1)"


def test_what_a_command_prints_and_how_it_ends() -> None:
    ended = run(["sh", "-c", "echo out; echo no >&2; printf '\\351'; exit 4"])
    assert (ended.stdout, ended.stderr, ended.returncode) == ("out\n\N{REPLACEMENT CHARACTER}", "no\n", 4)


@pytest.mark.parametrize(("parent", "status"), [("os.getppid()", 0), ("os.getpid()", -15)])
def test_a_process_whose_parent_has_ended_before_it_asked_ends_at_once(parent: str, status: int) -> None:
    assert run([sys.executable, "-c", DIES.format(parent)]).returncode == status
