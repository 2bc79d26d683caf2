"""A command that is run to its end: what it printed, and the memory that was its own."""

import resource
import subprocess
import sys

import pytest

from core.child import ProcessTimes, own_peak_memory_bytes
from experiments.loadgen.peers import outcome_of, run

MUCH_BYTES = 100_000_000
DIES = "import os, signal; from core.parent import die_with_parent; die_with_parent({}, signal.SIGTERM); print(1)"


def test_what_a_command_prints_and_how_it_ends() -> None:
    ended, _ = run(["sh", "-c", "echo out; echo no >&2; printf '\\351'; exit 4"])
    assert (ended.stdout, ended.stderr, ended.returncode) == ("out\n\N{REPLACEMENT CHARACTER}", "no\n", 4)


def test_the_memory_of_a_small_command_is_not_its_parents() -> None:
    """It cannot end before it was looked at: it waits for its standard input. It is all there once it has answered."""
    assert own_peak_memory_bytes() > 10_000_000
    process = subprocess.Popen(
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout  # noqa: PT018 - for mypy
    process.stdin.write("are you there?\n")
    process.stdin.flush()
    process.stdout.readline()
    assert 100_000 < outcome_of(process)[1] < 10_000_000


def test_the_memory_of_a_large_command_is_told_to_the_end() -> None:
    """In a process of its own: this one may have had children that were larger."""
    grows = f"x = bytearray({MUCH_BYTES})"
    script = f"from experiments.loadgen.peers import run; print(run([{sys.executable!r}, '-c', {grows!r}])[1])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert MUCH_BYTES < int(done.stdout) < 1.2 * MUCH_BYTES


def test_the_cpu_time_of_a_command_is_counted_and_not_that_of_those_before() -> None:
    burns = [sys.executable, "-S", "-c", "n = 0\nwhile n < 2_000_000: n += 1"]
    run(burns)
    usage = ProcessTimes(resource.RUSAGE_CHILDREN)
    assert sum(usage.to_json().values()) == 0
    run(burns)
    counted = usage.to_json()
    assert counted["cpu_user_ns"] > 5_000_000
    assert counted["voluntary_switches"] + counted["involuntary_switches"] > 0


@pytest.mark.parametrize(("parent", "status"), [("os.getppid()", 0), ("os.getpid()", -15)])
def test_a_process_whose_parent_has_ended_before_it_asked_ends_at_once(parent: str, status: int) -> None:
    assert run([sys.executable, "-c", DIES.format(parent)])[0].returncode == status
