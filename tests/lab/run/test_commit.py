"""Which commit a run was measured by, asked of real working trees."""

import subprocess
from pathlib import Path

import pytest

from lab.run.commit import commit

NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree with one commit."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("lab.run.commit.LONGEST_S", 60.0)
    (tmp_path / "file").write_text("one")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "file")
    git(tmp_path, *NOBODY, "commit", "-q", "-m", "one")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_clean_tree_has_the_first_twelve_digits_of_its_commit(tree: Path) -> None:
    assert commit(tree) == git(tree, "rev-parse", "HEAD")[:12]


def test_a_tracked_file_that_differs_is_said_and_a_new_one_is_not(tree: Path) -> None:
    (tree / "new").write_text("two")
    assert commit(tree) == git(tree, "rev-parse", "HEAD")[:12]
    (tree / "file").write_text("another")
    assert commit(tree) == git(tree, "rev-parse", "HEAD")[:12] + "+changes"


def test_a_folder_in_anothers_tree_has_no_commit(tree: Path) -> None:
    (tree / "inner").mkdir()
    assert commit(tree / "inner") is None


def test_what_git_is_told_by_its_environment_does_not_count(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digits = git(tree, "rev-parse", "HEAD")[:12]
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert commit(tree) == digits


def test_without_a_commit_or_without_git_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit(tmp_path) is None
