"""A commit of a repository is copied as it is; the work tree, the index and the branches stay as they are."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from config.run_plan import Plan
from core.messages import BadInput
from lab.environments import environment
from lab.project import commits
from lab.project.commits import check_out, with_commits
from tests.config.planning import COMMAND_LINE, planned
from tests.lab.run.test_runs import NOBODY, git
from tests.tables import each_row

COMMIT = f"{NOBODY} commit --quiet -m"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose tag `old` has another shop/app.py, with changes that are not committed."""
    cache = tmp_path / "cache"
    monkeypatch.setattr(commits, "ENVIRONMENTS", cache)
    monkeypatch.setattr(environment, "ENVIRONMENTS", cache)
    folder = tmp_path / "repository"
    (folder / "shop").mkdir(parents=True)
    git(folder, "init --quiet --initial-branch=main")
    (folder / ".gitattributes").write_text("shop export-ignore\n")
    for text in ("first", "second"):
        (folder / "shop" / "app.py").write_text(text)
        git(folder, "add .")
        git(folder, f"{COMMIT} {text}")
    git(folder, "tag old HEAD~")
    (folder / "shop" / "app.py").write_text("not committed")
    return folder


def test_a_commit_is_copied_once_and_the_work_tree_stays_as_it_is(repository: Path) -> None:
    before = git(repository, "status --porcelain=v2 --branch")
    commit, shop = check_out(repository / "shop", "old")
    assert (shop / "app.py").read_text() == "first"
    assert commit == git(repository, "rev-parse old")
    assert check_out(repository / "shop", commit) == (commit, shop)
    assert (check_out(repository, "HEAD")[1] / "shop" / "app.py").read_text() == "second"
    assert git(repository, "status --porcelain=v2 --branch") == before
    assert len([*shop.parent.parent.iterdir()]) == 2
    assert sorted(path.name for path in shop.parent.iterdir()) == [".gitattributes", "shop"]


@each_row
def test_what_is_no_commit_is_told_with_its_name(repository: Path, ref: str) -> None:
    with pytest.raises(BadInput, match=rf"{ref} is no commit, branch or tag of the repository of .*Name one"):
        check_out(repository, ref)
    assert not [*repository.parent.glob("cache/*")]


def test_a_git_that_hangs_is_told(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: Sequence[object], timeout_s: float, *_: object) -> None:
        raise subprocess.TimeoutExpired("git", timeout_s)

    monkeypatch.setattr(commits, "run", hangs)
    with pytest.raises(BadInput, match=r"git did not end within 300 s in the repository of .*repository"):
        check_out(repository, "HEAD")


def test_a_folder_without_a_repository_or_that_the_commit_lacks_is_told(repository: Path) -> None:
    with pytest.raises(BadInput, match=r"git cannot read the repository of .*: not a git repository"):
        check_out(repository.parent, "main")
    (repository / "new").mkdir()
    with pytest.raises(BadInput, match="main has no folder new"):
        check_out(repository / "new", "main")


def test_a_commit_with_a_submodule_is_refused(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "init --quiet library")
    git(tmp_path / "library", f"{COMMIT} empty --allow-empty")
    git(repository, f"-c protocol.file.allow=always submodule --quiet add {tmp_path}/library library")
    git(repository, f"{COMMIT} submodule")
    with pytest.raises(BadInput, match="HEAD has the submodule library"):
        check_out(repository, "HEAD")


def variants_of(repository: Path, *flags: str) -> Plan:
    words = " ".join(f"--variant {flag}" for flag in flags)
    return planned(f"{COMMAND_LINE} --directory {repository} --requirements {repository}/needs.txt {words}")


def test_a_requirements_file_in_the_repository_is_that_of_each_commit_and_two_names_of_one_commit_are_refused(
    repository: Path,
) -> None:
    """The work tree's file has another content, and `old` has no such file."""
    (repository / "needs.txt").write_text("django==5.1")
    git(repository, "add needs.txt")
    git(repository, f"{COMMIT} needs")
    (repository / "needs.txt").write_text("django==5.2")
    plan = with_commits(variants_of(repository, "a:ref=main", "b:env=FAST=1", "a:requirements=flask==3"))
    assert plan.user_service
    ours, theirs = plan.user_service.variants.values()
    assert Path(ours.requirements).read_text() == "django==5.1"
    assert ours.overrides == ("flask==3",)
    assert Path(theirs.requirements).read_text() == "django==5.2"
    assert with_commits(plan) == plan  # as when a run goes on
    with pytest.raises(BadInput, match=r"old has no file needs\.txt"):
        with_commits(variants_of(repository, "a:ref=old", "b:ref=main"))
    with pytest.raises(BadInput, match=r"a and b are the same commit, [0-9a-f]{12}\. Name two"):
        with_commits(variants_of(repository, "a:ref=main", "b:ref=HEAD"))
