"""What fits an interpreter, by the tags of wheels; audits of whole trees are in tests/lab/gil/test_audit.py."""

import signal
import sysconfig
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import cast

import pytest

from lab import processes
from lab.environments.environment import EnvironmentFailed
from lab.environments.requirements import Requirements
from lab.environments.resolution import ResolvedPackage, Trial
from lab.python.interpreters import Interpreter
from tests.conftest import runtime_or_skip

PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")


TAGS = f"""\
cp314-cp314t-{PLATFORM} 3.14.7 fits
cp314-cp314t-{PLATFORM} 3.15.0rc1
cp314-cp314-{PLATFORM} 3.14.7
cp39-abi3-{PLATFORM} 3.14.7
cp315-abi3t-{PLATFORM} 3.15.0 fits
cp315-abi3.abi3t-{PLATFORM} 3.15.0 fits
cp315-abi3t-{PLATFORM} 3.14.7
py2.py3-none-any 3.14.7 fits
cp314-cp314t-win_amd64 3.14.7
not-a-wheel 3.14.7"""


@pytest.mark.parametrize("line", TAGS.splitlines())
def test_a_wheel_fits_by_its_tags(tmp_path: Path, line: str) -> None:
    """Source: packaging.python.org, platform compatibility tags; PEP 803 for abi3t."""
    tags, version, *fits = line.split()
    interpreter = cast("Interpreter", SimpleNamespace(name="x", facts={"version": version}))
    package = ResolvedPackage(name="fast", version="1.0", requirement="fast==1.0", wheels=(f"fast-1.0-{tags}.whl",))
    assert Trial(interpreter, tmp_path, Requirements()).fits(package) is bool(fits)


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
