"""Which commit a run was measured by, asked of real working trees."""

import subprocess
from pathlib import Path

import pytest

from lab.run.runs import commit

NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree with one commit."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("lab.run.runs.LONGEST_GIT_S", 60.0)
    (tmp_path / "file").write_text("one")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "file")
    git(tmp_path, *NOBODY, "commit", "-q", "-m", "one")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_tree_has_twelve_digits_of_its_commit_and_a_tracked_file_that_differs_is_said_and_a_new_one_is_not(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = git(tree, "rev-parse", "HEAD")[:12]
    assert commit(tree) == digits
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # what git is told by its environment does not count
    (tree / "new").write_text("two")
    assert commit(tree) == digits
    (tree / "file").write_text("another")
    assert commit(tree) == digits + "+changes"


def test_in_anothers_tree_without_a_commit_or_without_git_there_is_none(
    tree: Path, monkeypatch: pytest.MonkeyPatch, short_folder: Path
) -> None:
    (tree / "inner").mkdir()
    assert commit(tree / "inner") is None
    assert commit(short_folder) is None
    monkeypatch.setenv("PATH", str(short_folder))
    assert commit(tree) is None
