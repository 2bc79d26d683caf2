"""What is asked of an index and of processes side by side; tests/lab/project/test_audit.py audits whole trees."""

import signal
from pathlib import Path
from threading import Event

import pytest

from lab import processes
from lab.environments.environment import EnvironmentFailed
from lab.environments.requirements import Requirements
from lab.environments.resolution import Trial
from tests.conftest import runtime_or_skip


def test_an_index_that_does_not_answer_is_not_one_without_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    asked = Requirements(options=("--index-url http://127.0.0.1:9/simple",))
    trial = Trial(runtime_or_skip("3.14t").interpreter, tmp_path, asked)
    with pytest.raises(EnvironmentFailed, match="versions of fast could not be listed: no network"):
        trial.ready_version("fast")


def test_what_runs_beside_a_call_that_fails_is_ended() -> None:
    statuses: list[int] = []
    has_begun = Event()

    def call(seconds: str) -> None:
        if not seconds:
            assert has_begun.wait(30.0)
            raise KeyboardInterrupt
        has_begun.set()
        statuses.append(processes.run(["sleep", seconds], 30.0).returncode)

    with pytest.raises(KeyboardInterrupt):
        processes.run_in_parallel(call, ["", *["601"] * (2 * processes.COMMANDS_AT_ONCE)])
    assert 1 <= len(statuses) <= processes.COMMANDS_AT_ONCE  # the others never began
    assert {*statuses} <= {-signal.SIGTERM, -signal.SIGKILL}
