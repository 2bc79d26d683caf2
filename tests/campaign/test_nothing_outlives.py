"""Whenever a command is ended, and however: soon no process, no folder and no half-written file of it is left.

The checker reads /proc and folders, and nothing that the commands say.
"""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from lab.python import uv
from tests.campaign.hostile import sample
from tests.campaign.sizes import SEED, size
from tests.conftest import runtime_or_skip
from tests.contract.runs import GONE_WITHIN_S, Run, started, stop

TIMES = size(4, 250)
LATEST_S = 3.0
SIGNALS = (SIGKILL, SIGTERM, SIGINT, SIGHUP)
DAEMON = "sleep 601"

BACKEND = """
import os, subprocess
def _build(*_, **__):
    subprocess.Popen(["sleep", "601"], start_new_session=True)  # as a compiler's server does
    subprocess.run(["sh", "-c", "sleep 602 & wait"])
    raise SystemExit("too late")
build_wheel = build_editable = prepare_metadata_for_build_wheel = _build
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "slow-to-build"
dynamic = ["version"]
"""


COMPILER = """#!/bin/sh
setsid sleep 603 &
sleep 604
"""


def ends() -> Iterator[tuple[str, Signals, float, str]]:
    """How commands are ended: the signal, after how many seconds, and which process is stopped before.

    They are those of this seed; every second one comes early.
    """
    chance = random.Random(SEED)
    for number in range(TIMES):
        ended_by = SIGKILL if chance.random() < 0.5 else chance.choice(SIGNALS)
        after_s = chance.uniform(0.0, LATEST_S if number % 2 else LATEST_S / 4)
        stopped = chance.choice(("nothing", "nothing", "runner.py", "guard.py", "reaper.py"))
        yield list(COMMANDS)[number % 4], ended_by, after_s, stopped


@pytest.fixture
def folder(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package and a compiler that are at work for ever."""
    files = {"package/pyproject.toml": PROJECT, "package/backend.py": BACKEND, "bin/cargo": COMPILER}
    for name, text in {**files, "wanted.txt": f"{short_folder / 'package'}\n"}.items():
        path = short_folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(short_folder / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("UV_OFFLINE", "1")
    return short_folder


RUN = "--system 1 --runtime 3.14 --blocks 50 --num-clients 2 --num-api-services 2 --out out --quiet"
COMMANDS = {"run": RUN, "audit": "audit -r wanted.txt", "native": "native loadgen", "runtimes": "runtimes"}


@pytest.mark.parametrize(("command", "ended_by", "after_s", "stopped"), list(ends()))
def test_what_is_ended_leaves_nothing(
    command: str, ended_by: Signals, after_s: float, stopped: str, folder: Path
) -> None:
    runtime_or_skip("3.14t")
    with started(COMMANDS[command].split(), folder) as run:
        try:
            run.status(after_s)
        except subprocess.TimeoutExpired:
            for pid, line in {run.process.pid: "runner.py", **run.children()}.items():
                if stopped in line:
                    with suppress(ProcessLookupError, FileNotFoundError):
                        stop(pid)
            run.process.send_signal(ended_by)
            run.process.send_signal(SIGCONT)
        run.status(GONE_WITHIN_S + LATEST_S)
        assert run.leftovers(folder / "out") == []


@pytest.mark.parametrize(
    ("target", "number"), sample([("runner", SIGKILL), ("runner", SIGTERM), ("guard.py", SIGKILL)], 1)
)
def test_an_audit_or_its_guard_that_is_ended_while_it_builds_leaves_no_build(
    target: str, number: Signals, folder: Path
) -> None:
    """Neither uv, nor the build backend, nor what that started, but for a daemon of its own whose guard was killed."""
    runtime_or_skip("3.14t")
    if uv.find() is None:
        pytest.skip("uv is not here")
    with started(COMMANDS["audit"].split(), folder) as run:
        run.until("a build", lambda: {DAEMON, "sleep 602"} <= {line.strip() for line in run.children().values()})
        struck = [pid for pid, line in run.children().items() if target in line] or [run.process.pid]
        assert len(struck) == 1
        os.kill(struck[0], number)
        if target == "runner":
            run.status(GONE_WITHIN_S)
        else:
            run.until("the end of the build", lambda: not any(DAEMON not in line for line in builders(run)))
            run.process.kill()
            run.status()
            for pid, line in run.children().items():
                if DAEMON in line:
                    os.kill(pid, SIGKILL)
        assert run.leftovers(folder / "out") == []


def builders(run: Run) -> list[str]:
    """Command lines of uv and of what it has started."""
    lines = run.children().values()
    return [line for line in lines if "guard.py" not in line and ("uv pip compile" in line or "sleep 60" in line)]
