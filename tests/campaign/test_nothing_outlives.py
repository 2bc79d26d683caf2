"""Whenever a command is ended, and however: soon no process, no folder and no half-written file of it is left.

The checker reads /proc and folders, and nothing that the commands say.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import pytest

from lab.python import uv
from tests.campaign.hostile import sample
from tests.campaign.sizes import SEED, size
from tests.conftest import runtime_or_skip
from tests.contract.runs import processes_with, stop

REPOSITORY = Path(__file__).resolve().parents[2]
TIMES = size(4, 250)
GONE_WITHIN_S = 10.0
LATEST_S = 3.0
MARK = "GILSCOPE_CAMPAIGN"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TURN_S = 0.01
DAEMON = "sleep 601"
SIGKILL, SIGTERM = signal.SIGKILL, signal.SIGTERM

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


@dataclass(frozen=True, kw_only=True)
class End:
    """How one command is ended: its number, when, and by what; and which of its processes is stopped before that."""

    number: int
    command: str
    signal: signal.Signals
    after_s: float
    stopped: str

    def __str__(self) -> str:
        how = f"{self.stopped} stopped, {self.signal.name} after {self.after_s:.3f} s"
        return f"seed {SEED}, number {self.number}: {self.command}, {how}"


def ends() -> Iterator[End]:
    """Those of this seed; every second one comes early."""
    chance = random.Random(SEED)
    for number in range(TIMES):
        latest_s = LATEST_S if number % 2 else LATEST_S / 4
        yield End(
            number=number,
            command=("run", "audit", "native", "runtimes")[number % 4],
            signal=SIGNALS[0] if chance.random() < 0.5 else chance.choice(SIGNALS),
            after_s=chance.uniform(0.0, latest_s),
            stopped=chance.choice(("nothing", "nothing", "runner.py", "guard.py", "reaper.py")),
        )


def marked(mark: str) -> dict[int, str]:
    """Processes that have the mark in their environment, with their command lines; they may have left every group."""
    return processes_with(MARK, mark)


def wait(condition: Callable[[], bool], deadline_s: float) -> bool:
    """Whether it comes true in time."""
    until = monotonic() + deadline_s
    while monotonic() < until:
        if condition():
            return True
        signal.sigtimedwait([], TURN_S)
    return condition()


@pytest.fixture
def places(tmp_path: Path, short_folder: Path) -> tuple[Path, Path]:
    """A folder for everything temporary, and one for runs; and a package that is built from source, for ever."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "package" / "backend.py").write_text(BACKEND)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cargo").write_text(COMPILER)
    (tmp_path / "bin" / "cargo").chmod(0o755)
    (tmp_path / "wanted.txt").write_text(f"{tmp_path / 'package'}\n")
    return short_folder, tmp_path


def arguments(command: str, folder: Path) -> list[str]:
    """Of a command that is not at its end for a while."""
    return {
        "run": ["--system", "1", "--runtime", "3.14", "--blocks", "50", "--num-clients", "2", "--num-api-services", "2",
                "--out", str(folder / "out"), "--quiet"],
        "audit": ["audit", "-r", str(folder / "wanted.txt")],
        "native": ["native", "loadgen"],
        "runtimes": ["runtimes"],
    }[command]  # fmt: skip


def start(command: str, temporary: Path, folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """The command, with its temporary folder and the mark, which all that comes of it inherits."""
    environment = {**os.environ, "TMPDIR": str(temporary), MARK: mark, "UV_OFFLINE": "1"}
    environment["PATH"] = f"{folder / 'bin'}:{environment['PATH']}"
    return subprocess.Popen(
        [sys.executable, str(REPOSITORY / "runner.py"), *arguments(command, folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=REPOSITORY,
        env=environment,
        start_new_session=True,
    )


def leftovers(temporary: Path, folder: Path, mark: str) -> list[str]:
    """What is still there though the command has ended."""
    out = folder / "out"
    found = [f"process {pid}: {line}" for pid, line in marked(mark).items()]
    found += [str(path) for path in temporary.iterdir()]
    found += map(str, out.rglob(".*"))
    return found + ([f"{out} is empty"] if out.exists() and not any(out.iterdir()) else [])


@pytest.mark.parametrize("end", list(ends()), ids=lambda end: f"{end.command}-{end.signal.name}-{end.number}")
def test_what_is_ended_leaves_nothing(end: End, places: tuple[Path, Path]) -> None:
    runtime_or_skip("3.14t")
    temporary, folder = places
    mark = f"{os.getpid()}-{SEED}-{end.number}"
    with start(end.command, temporary, folder, mark) as process:
        try:
            process.wait(end.after_s)
        except subprocess.TimeoutExpired:
            for pid, line in marked(mark).items():
                if end.stopped in line:
                    with suppress(ProcessLookupError, FileNotFoundError):
                        stop(pid)
            process.send_signal(end.signal)
            process.send_signal(signal.SIGCONT)
        try:
            process.wait(GONE_WITHIN_S + LATEST_S)
        finally:
            process.kill()
    gone = wait(lambda: not leftovers(temporary, folder, mark), GONE_WITHIN_S)
    assert gone, f"{end}: {leftovers(temporary, folder, mark)}"


@pytest.mark.parametrize(
    ("target", "number"), sample([("runner", SIGKILL), ("runner", SIGTERM), ("guard.py", SIGKILL)], 1)
)
def test_an_audit_or_its_guard_that_is_ended_while_it_builds_leaves_no_build(
    target: str, number: signal.Signals, places: tuple[Path, Path]
) -> None:
    """Neither uv, nor the build backend, nor what that started, but for a daemon of its own whose guard was killed."""
    runtime_or_skip("3.14t")
    if uv.find() is None:
        pytest.skip("uv is not here")
    temporary, folder = places
    mark = f"{os.getpid()}-{SEED}-{target}-{number.name}"

    def builds() -> bool:
        lines = " ".join(marked(mark).values())
        return "sleep 601" in lines and "sleep 602" in lines

    with start("audit", temporary, folder, mark) as process:
        try:
            assert wait(builds, 60.0), marked(mark)
            struck = [pid for pid, line in marked(mark).items() if target in line] or [process.pid]
            assert len(struck) == 1, marked(mark)
            os.kill(struck[0], number)
            if target == "runner":
                process.wait(GONE_WITHIN_S)
            else:
                assert wait(lambda: not any(DAEMON not in line for line in builders(mark)), GONE_WITHIN_S), marked(mark)
        finally:
            process.kill()
    for pid, line in marked(mark).items():
        if target != "runner" and DAEMON in line:
            os.kill(pid, SIGKILL)
    assert wait(lambda: not leftovers(temporary, folder, mark), GONE_WITHIN_S), leftovers(temporary, folder, mark)


def builders(mark: str) -> list[str]:
    """Command lines of uv and of what it has started."""
    lines = marked(mark).values()
    return [line for line in lines if "guard.py" not in line and ("uv pip compile" in line or "sleep 60" in line)]
