"""Histories of runners that all need one environment and one native build in a checkout of their own, by seed."""

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.places import REPOSITORY
from lab.run.measured_runtimes import Runtime
from tests.campaign.sizes import SEED, size
from tests.campaign.test_histories import together
from tests.contract.runs import plan_flags, result_of

HISTORIES = range(SEED, SEED + size(1, 40))
DEADLINE_S = 180.0
NOT_COPIED = (".*", "target", "build", "bin", "wheels", "out", "__pycache__", "tests", "docs")
PROGRAM = "calc-service"
# As cargo does, it builds nothing if its program is there: no source changes.
COMPILER = f"""#!/bin/sh
mkdir -p target/release
[ "$(cat target/release/{PROGRAM})" != "whole program" ] || exit 0
echo built >>target/builds
printf 'whole ' >target/release/{PROGRAM}
sleep 0.2
echo program >>target/release/{PROGRAM}
"""


@pytest.fixture
def checkout(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This checkout without what was made in it, and a compiler that writes its program in two pieces."""
    place = short_folder / "c"
    shutil.copytree(REPOSITORY, place, copy_function=os.link, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (place / ".venv").symlink_to(REPOSITORY / ".venv")
    cargo = short_folder / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(COMPILER)
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", str(cargo.parent), prepend=os.pathsep)
    return place


def play(commands: Sequence[Sequence[str]], checkout: Path, chance: random.Random) -> bool:
    """Run all *commands* at once, and perhaps kill or stop one for a while; whether one was killed."""
    with together(commands, checkout.parent, chance, checkout / "runner.py") as (runs, victim):
        number = chance.choice((signal.SIGKILL, signal.SIGSTOP))
        if victim is not None:
            signal.sigtimedwait([], chance.uniform(0.0, 3.0))
            victim.process.send_signal(number)
            signal.sigtimedwait([], chance.uniform(0.0, 1.0))
            victim.process.send_signal(signal.SIGCONT)
        is_killed = victim is not None and number == signal.SIGKILL
        for run in runs:
            expected = (0, -signal.SIGKILL) if is_killed and run is victim else (0,)
            assert run.status(DEADLINE_S) in expected, run.complained()
    return is_killed


@pytest.mark.parametrize("seed", HISTORIES)
def test_what_several_runners_need_is_made_whole_and_programs_once(
    any_runtime: Runtime, checkout: Path, seed: int
) -> None:
    chance, outs = random.Random(seed), [checkout.parent / f"out{number}" for number in range(3)]
    runs = [["--system", "3", *plan_flags(any_runtime)[2:], "--quiet", "--out", str(out)] for out in outs]
    commands = [*runs[: chance.randint(2, 3)], *[["native", PROGRAM]] * chance.randint(1, 2)]
    killed = play(commands, checkout, chance)
    for out in outs:
        if (out / "result.json").exists() and not killed:
            assert [cell["status"] for cell in result_of(out)["cells"]] == ["ok"]
    environments = list((checkout / ".runtimes").glob("3.*/"))
    assert len(environments) == 1 or killed
    for environment in environments:
        subprocess.run([environment / "bin" / "python", "-c", "import tornado.ioloop"], check=True, timeout=DEADLINE_S)
    program = checkout / "native" / "bin" / PROGRAM
    if program.exists() or not killed:
        assert program.read_text() == "whole program\n"
        assert (checkout / "native" / "target" / "builds").read_text().count("built") <= (2 if killed else 1)
        assert [path.name for path in program.parent.iterdir()] == [PROGRAM]
