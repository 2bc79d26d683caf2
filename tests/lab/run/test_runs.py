"""A run's folder, into which one process measures, and the commit that it was measured by."""

import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from core.messages import BadInput
from lab.folders import Sandbox, lock_folder
from lab.places import REPOSITORY
from lab.run.runs import commit, expect_no_foreign_files, run_lock
from record.run_file import load
from tests.commands.saved import saved
from tests.contract.runs import wait_for_ends
from tests.started import Started, started

HOLD = """
import sys
from pathlib import Path
from lab.run.runs import run_lock
from core.files import BESIDE
with run_lock(Path(sys.argv[1])) as sandbox:
    print(BESIDE, sandbox.process_group, flush=True)
    sys.stdin.read()
"""

NOBODY = "-c user.name=nobody -c user.email=nobody@example.org -c commit.gpgsign=false"


def holder(folder: Path) -> AbstractContextManager[Started]:
    """Another process that holds *folder*; it says what it calls a file that is not whole yet, and its reaper's pid."""
    return started(sys.executable, "-c", HOLD, str(folder), cwd=REPOSITORY)


def test_whoever_comes_second_is_told_that_the_folder_is_taken(tmp_path: Path) -> None:
    """An empty folder is not removed while another command has it."""
    with run_lock(tmp_path / "run"):
        with Sandbox([tmp_path / "run"]):
            assert lock_folder(tmp_path / "run", wait=False) is None
        assert (tmp_path / "run").is_dir()
        with pytest.raises(BadInput, match="Another process is writing to"), run_lock(tmp_path / "run"):
            pass
    assert not (tmp_path / "run").exists()  # there is nothing in it


def test_the_death_of_the_holder_lets_the_folder_go_and_leaves_nothing(tmp_path: Path) -> None:
    """A new folder goes with it, and what it was just writing; one that was there before stays."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    for folder in (new, old):
        with holder(folder) as other:
            beside, reaper = other.first.split()
            (folder / beside).touch()
            other.process.kill()
            wait_for_ends([int(reaper)])
    assert list(tmp_path.rglob("*")) == [old]
    with run_lock(old):
        assert list(old.iterdir()) == []
    assert old.is_dir()


def test_files_of_somebody_else_named_like_ours_are_refused_where_there_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("mine")
    expect_no_foreign_files(tmp_path, ["cells.csv"])
    with pytest.raises(BadInput, match=r"table\.csv would be overwritten"):
        expect_no_foreign_files(tmp_path, ["cells.csv", "table.csv"])
    (tmp_path / "result.json").touch()
    expect_no_foreign_files(tmp_path, ["table.csv"])


SAVE = """
import sys
from dataclasses import replace
from pathlib import Path
from record.run_file import RunFile, load
folder = Path(sys.argv[1])
run, file = load(folder), RunFile(folder)
print("saving", flush=True)
for block in range(2, 82):
    run.cells.append(replace(run.cells[0], block=block))
    file.save(run)
"""


def test_a_report_beside_a_saving_run_loses_no_cell(tmp_path: Path) -> None:
    saved(tmp_path, blocks=1)
    counts = [0]
    with started(sys.executable, "-c", SAVE, str(tmp_path), cwd=REPOSITORY) as saver:
        while saver.process.poll() is None:
            counts.append(len(load(tmp_path).cells))
    assert counts == sorted(counts)
    assert (saver.process.returncode, len(load(tmp_path).cells)) == (0, 82)


def git(folder: Path, arguments: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", "-C", str(folder), *arguments.split()], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_tree_has_twelve_digits_of_its_commit_and_a_tracked_file_that_differs_is_said_and_a_new_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_folder: Path
) -> None:
    """In another's tree, without a commit or without git there are none."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("lab.run.runs.LONGEST_GIT_S", 60.0)
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").write_text("one")
    for words in ("init -q", "add file", f"{NOBODY} commit -q -m one"):
        git(tmp_path, words)
    digits = git(tmp_path, "rev-parse HEAD")[:12]
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # what git is told by its environment does not count
    (tmp_path / "new").write_text("two")
    assert commit(tmp_path) == digits
    (tmp_path / "file").write_text("another")
    assert commit(tmp_path) == digits + "+changes"
    assert commit(tmp_path / "inner") is commit(short_folder) is None
    monkeypatch.setenv("PATH", str(short_folder))
    assert commit(tmp_path) is None
