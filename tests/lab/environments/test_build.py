"""Commands that make something: the lock outlives a killed maker, and nothing outlives its time."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.environments.environment import run_build as run
from lab.locks import locked, take


def test_what_a_command_says_comes_back_with_its_status(tmp_path: Path) -> None:
    with locked(tmp_path) as lock:
        done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], lock, 10)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_what_a_command_leaves_behind_is_ended_and_holds_no_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    outliving = f"exec >/dev/null 2>&1; setsid cat <{tmp_path}/fifo &"
    with locked(tmp_path) as lock:
        assert run(["sh", "-c", outliving], lock, 10).returncode == 0
    free = take(tmp_path, wait=False)
    assert free is not None
    os.close(free)


def test_a_command_whose_time_is_over_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """Its child holds the lock as it does: once both have ended, the lock can be had."""
    with locked(tmp_path) as lock, pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", "sleep 30 & wait"], lock, 0.2)
    with locked(tmp_path):
        pass


def test_a_command_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with locked(tmp_path) as lock, pytest.raises(FileNotFoundError):
        run([str(tmp_path / "none")], lock, 10)
