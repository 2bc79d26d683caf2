"""A run's folder: one process measures into it, and nothing of somebody else's is overwritten."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.plan import Plan
from core.errors import BadInput
from core.result import CellResult, Run, RunFile, keep_comparisons, load
from lab import locks
from lab.places import REPOSITORY
from lab.run.held import expect_ours, held
from lab.run.sandbox import Sandbox
from tests.contract.runs import wait_for_ends

HOLD = """
import sys
from pathlib import Path
from lab.run.held import held
from core.files import BESIDE
with held(Path(sys.argv[1])) as sandbox:
    print(BESIDE, sandbox.process_group, flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Another process that holds a folder. beside: what it calls a file that is not whole yet. reaper: its pid"""

    process: "subprocess.Popen[str]"
    beside: str
    reaper: int


@contextmanager
def holder(folder: Path) -> Iterator[Holder]:
    """Another process that holds *folder* until its standard input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdout is not None
        beside, reaper = process.stdout.readline().split()
        yield Holder(process=process, beside=beside, reaper=int(reaper))


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with holder(tmp_path / "run") as other:
        with pytest.raises(BadInput) as refused, held(tmp_path / "run"):
            pass
        other.process.communicate()
    assert refused.value.exit_status == 2
    assert f"pid {other.process.pid}, {sys.executable}" in str(refused.value)
    assert not (tmp_path / "run").exists()  # there is nothing in it


def test_a_holder_that_is_not_known_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "holder", lambda folder: 0)
    with locks.locked(tmp_path), pytest.raises(BadInput, match="which one is not known"), held(tmp_path):
        pass


def test_the_death_of_the_holder_lets_the_folder_go_and_leaves_nothing(tmp_path: Path) -> None:
    """A new folder goes with it, and what it was just writing; one that was there before stays."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    for folder in (new, old):
        with holder(folder) as other:
            (folder / other.beside).touch()
            other.process.kill()
            wait_for_ends([other.reaper])
    assert list(tmp_path.rglob("*")) == [old]
    with held(old):
        assert list(old.iterdir()) == []
    assert old.is_dir()


def test_an_empty_folder_that_another_command_has_taken_is_not_removed(tmp_path: Path) -> None:
    with Sandbox([tmp_path / "run"]):
        lock = locks.take(tmp_path / "run")
    assert (tmp_path / "run").is_dir()
    assert lock is not None
    os.close(lock)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/run.* cannot be written"), held(tmp_path / "file" / "run"):
        pass


def test_files_of_somebody_else_named_like_ours_are_refused_where_there_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("mine")
    expect_ours(tmp_path, ["cells.csv"])
    with pytest.raises(BadInput, match=r"table\.csv is not a run's"):
        expect_ours(tmp_path, ["cells.csv", "table.csv"])
    (tmp_path / "result.json").touch()
    expect_ours(tmp_path, ["table.csv"])


SAVE = """
import sys
from dataclasses import replace
from pathlib import Path
from core.result import RunFile, load
folder = Path(sys.argv[1])
run, file = load(folder), RunFile(folder)
print("saving", flush=True)
for block in range(2, 202):
    run.cells.append(replace(run.cells[0], block=block))
    file.save(run)
"""


def test_a_report_beside_a_saving_run_loses_no_cell(tmp_path: Path) -> None:
    start = {"run_id": "a", "started_at": "", "seed": 1, "command": [], "machine": {}, "runtimes": {}}
    cell = CellResult(
        cell_id="1", system="1", runtime="3.14", arm="3.14", block=1, params={}, status="failed", requests=1
    )
    stored = Plan(name="p", rows=(), runtimes=("3.14",)).to_json()
    RunFile(tmp_path).save(Run(**{**start, "plan": stored, "cells": [cell]}))  # type: ignore[arg-type]
    command = [sys.executable, "-c", SAVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as saver:
        assert saver.stdout is not None
        assert saver.stdout.readline() == "saving\n"
        counts = [0]
        while saver.poll() is None:
            run = load(tmp_path)
            counts.append(len(run.cells))
            run.comparisons = [{"verdict": "faster"}]
            keep_comparisons(tmp_path, run)
    assert counts == sorted(counts)
    assert (saver.returncode, len(load(tmp_path).cells)) == (0, 201)
