"""An error at any one system call of run, resume and report on files of the run's folder: what was saved stays, the
error is told in a line with exit status 2, and a resume goes on. What is left is judged by files alone.
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.places import REPOSITORY
from lab.run.measured_runtimes import Runtime
from record.run_file import RunFile, load
from tests.campaign.hostile import sample
from tests.campaign.saved import cells_in
from tests.campaign.sizes import IS_LARGE, SEED
from tests.contract.runs import UNREPORTED, plan_flags, runtime_flags
from tests.started import Started, started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: LD_PRELOAD, and its system calls")

SAMPLE = 1  # of each command, in `make test`
BLOCKS = 2
FAULTS: Mapping[str, int] = {
    "ENOSPC": errno.ENOSPC,
    "EIO": errno.EIO,
    "EINTR": errno.EINTR,
    "short": -1,
    "full from then on": -2,
}
ONLY_AT = {
    "short": ("read", "write"),
    "ENOSPC": ("create", "write", "fsync", "mkdir", "rename", "close"),
    "full from then on": ("create", "write", "mkdir"),
}
NEEDED = {"run again": {"lstat64"}, "report": {"rename"}}  # a report can be made again, so nothing is flushed to disk
LOOKS = ("stat64", "lstat64", "fstatat64", "access")
COMMANDS = ("run", "run again", "resume", "report")[: None if IS_LARGE else 1]


class Site(NamedTuple):
    """The system call with that number of a command, and what happens there."""

    command: str
    number: int
    call: str
    fault: str


class Played(NamedTuple):
    """A command that has ended."""

    status: int
    errors: str
    calls: list[str]


class Player:
    """The warm process that plays commands (faulted.py). Each begins in the folder out as it was told to be before."""

    process: Started

    def __init__(self, folder: Path, runtime: Runtime) -> None:
        self.folder = folder
        self.runtime = runtime
        self.out = folder / "out"

    def arguments(self, command: str) -> list[str]:
        """Of that command on the folder out."""
        if command == "report":
            return ["report", str(self.out), "--quiet"]
        if command == "resume":
            return ["--resume", str(self.out), "--quiet", *runtime_flags(self.runtime)[2:]]
        return [*plan_flags(self.runtime), "--blocks", str(BLOCKS), "--quiet", "--out", str(self.out)]

    def begin(self, command: str) -> list[Any]:
        """Lay out what there is before that command; the cells of it."""
        shutil.rmtree(self.out, ignore_errors=True)
        if command != "run":
            shutil.copytree(self.folder / {"run again": "report"}.get(command, command), self.out)
        return whole_cells_in(self.out)

    def play(self, command: str, number: int = 0, fault: int = 0) -> Played:
        """Play it with *fault* at its call with that number, 0 for none."""
        case = {"arguments": self.arguments(command), "folder": str(self.out), "site": number, "fault": fault}
        self.process.say(json.dumps({**case, "outputs": str(self.folder)}))
        status = int(self.process.hear())
        return Played(status, (self.folder / "stderr").read_text(), (self.folder / "log").read_text().split())


@pytest.fixture(scope="module")
def player(any_runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    """Beside it a whole run in the folder report, and in the folder resume one that lacks a cell."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler is here (cc), for faults.c")
    folder = tmp_path_factory.mktemp("faults")
    shim = folder / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    player = Player(folder, any_runtime)
    subprocess.run([sys.executable, UNREPORTED, *player.arguments("run")], check=True, capture_output=True)
    (folder / "out").rename(folder / "report")
    shutil.copytree(folder / "report", folder / "resume")
    run = load(folder / "resume")
    RunFile(folder / "resume").save(replace(run, cells=run.cells[:1]))
    command = [sys.executable, "-m", "tests.campaign.faulted", "report", str(folder / "report"), "--quiet"]
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    with started(*command, cwd=REPOSITORY, env=environment) as player.process:
        assert player.process.first == "warm\n"
        yield player


# ---- the checker: reads files alone --------------------------------------------------------------------------------


(code,) = re.findall(r"```python\n(import hashlib\n.*?)```", (REPOSITORY / "docs/result.md").read_text(), re.S)
documented: dict[str, Any] = {}  # is_whole() as docs/result.md shows it, which knows nothing of our code
exec(code, documented)


def whole_cells_in(folder: Path) -> list[Any]:
    """The cells in *folder*; the file, if there is one, is whole."""
    path = folder / "result.json"
    assert not path.exists() or documented["is_whole"](path.read_bytes())
    return cells_in(folder)


def judge(site: Site, played: Played, before: Sequence[Any], player: Player) -> None:
    """Raises AssertionError where a promise is broken."""
    assert played.status in ((2,) if site.command == "run again" else (0, 2))
    assert not re.search("Traceback|bug", played.errors)
    lines = [line for line in played.errors.splitlines() if line.startswith("error: ")]
    assert len(lines) == (1 if played.status else 0)
    if lines:
        number = max(FAULTS[site.fault], 0) or errno.ENOSPC
        told = os.strerror(number) in lines[0] or "already holds a run" in lines[0]
        assert told or site.call in LOOKS  # which follows from seeing nothing there
        assert str(player.out.parent if site.call in LOOKS else player.out) in lines[0]
    assert site.fault != "short" or played.status == 0
    cells = whole_cells_in(player.out)
    assert cells[: len(before)] == before
    assert played.status == 2 or len(cells) == BLOCKS
    assert site.command != "run again" or len(cells) == BLOCKS
    assert list(player.out.rglob(".*")) == []
    assert not player.out.exists() or any(player.out.iterdir())
    for path in (player.folder / "report").rglob("*.*"):
        now = player.out / path.relative_to(player.folder / "report")
        if now.exists() and site.command == "report":
            assert now.read_bytes() == path.read_bytes(), now
        assert not now.is_file() or now.stat().st_size, now


def complete(player: Player, cells: Sequence[Any]) -> None:
    """A resume, or where nothing was saved the run itself, measures what is not there yet."""
    again = player.play("resume" if (player.out / "result.json").exists() else "run")
    assert (again.status, again.errors) == (0, "")
    after = whole_cells_in(player.out)
    assert (after[: len(cells)], len(after)) == (list(cells), BLOCKS)


def sites(command: str, player: Player) -> list[Site]:
    """Each call of it with each fault that can come there, in the seed's order; a sample in `make test`."""
    player.begin(command)
    calls = player.play(command).calls
    assert {*calls} >= NEEDED.get(command, {"rename", "fsync"})
    everything = []
    for number, call in enumerate(calls, 1):
        able = [fault for fault in FAULTS if call in ONLY_AT.get(fault, (call,))]
        everything += [Site(command, number, call, fault) for fault in able]
    return sample(everything, SAMPLE)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_error_of_a_system_call_loses_nothing_and_is_told(player: Player, command: str) -> None:
    failures = []
    for site in sites(command, player):
        before = player.begin(command)
        played = player.play(command, site.number, FAULTS[site.fault])
        try:
            judge(site, played, before, player)
            cells = whole_cells_in(player.out)
            if len(cells) < BLOCKS:
                complete(player, cells)
        except AssertionError as error:
            failures.append(f"seed {SEED}, {site}: {error}\n{played.errors}")
            print(failures[-1], flush=True)
    assert not failures, "\n".join(failures)
