"""Histories of several runners on one folder, by seed: what they leave is read from files alone."""

import json
import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lab.run.runtimes import Runtime
from tests.campaign.sizes import SEED, size
from tests.contract.runs import Run, finished, plan_flags, runtime_flags, started

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux: pidfd")

HISTORIES = range(SEED, SEED + size(1, 60))
BLOCKS = 3


@pytest.mark.parametrize("seed", HISTORIES)
def test_a_saved_cell_never_vanishes_changes_or_doubles(any_runtime: Runtime, short_folder: Path, seed: int) -> None:
    chance, out = random.Random(seed), short_folder / "out"
    flags = [*plan_flags(any_runtime), "--blocks", str(BLOCKS), "--quiet", "--out", str(out)]
    resume = ["--resume", str(out), "--quiet", *runtime_flags(any_runtime)[2:]]
    seen = together([flags] * chance.randint(2, 3), short_folder / "start", chance, [])
    for number in range(chance.randint(1, 2)):
        others = [["report", str(out), "--quiet"]] if seen else []
        seen = together([*[resume] * 2, *others], short_folder / f"resume{number}", chance, seen)
    has_begun = (out / "result.json").exists()  # perhaps with no cell yet
    last = finished(resume if has_begun else flags, home(short_folder / "last"))
    cells = saved(out, seen)
    assert (last.status(), len(cells), last.complained()) == (0, BLOCKS, "")
    assert sorted(cell["block"] for cell in cells) == list(range(1, BLOCKS + 1))
    assert not list(out.glob(".*"))


def together(commands: list[list[str]], folder: Path, chance: random.Random, seen: list[Any]) -> list[Any]:
    """Start all of *commands* at once, perhaps kill one; the cells that are saved when all have ended."""
    with ExitStack() as stack:
        runs = [stack.enter_context(started(line, home(folder / str(n)))) for n, line in enumerate(commands)]
        victim = chance.choice([None, *runs])
        if victim is not None:
            kill(victim, chance)
        for run in runs:
            status = run.status()
            assert status in ((-9, 0, 2) if run is victim else (0, 2)), run.complained()
            assert "bug in gilscope" not in run.complained()
            if status == 2:
                refused = ("Another process measures into", "holds a run already", "cannot be read")
                assert any(words in run.complained() for words in refused), run.complained()
    return saved(folder.parent / "out", seen)


def kill(run: Run, chance: random.Random) -> None:
    """Kill it at once, or when a service of it is there, if one is before it ends."""
    if chance.random() < 0.7:
        try:
            run.wait_for("systems service")
        except AssertionError:  # it has ended: it was refused
            return
    os.kill(run.process.pid, signal.SIGKILL)


def saved(out: Path, before: list[Any]) -> list[Any]:
    """The saved cells, which begin with those that were saved before; each is there once."""
    path = out / "result.json"
    cells: list[Any] = json.loads(path.read_text())["cells"] if path.exists() else []
    assert cells[: len(before)] == before
    keys = [(cell["arm"], cell["cell_id"], cell["block"]) for cell in cells]
    assert len(set(keys)) == len(keys)
    return cells


def home(folder: Path) -> Path:
    """A folder of its own for each runner."""
    folder.mkdir(parents=True)
    return folder
