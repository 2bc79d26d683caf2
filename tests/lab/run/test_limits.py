"""Control groups of version 2, which need a kernel that has them: here a folder plays it. Version 1: tests/contract."""

import os
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.messages import BadInput
from core.method import Method
from lab.machine import host
from lab.run import control_groups as limits

BOTH = Method(limit_cpus=0.5, limit_memory_bytes=512_000_000)
MIB = 2**20


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in the place of that of /proc and /sys."""
    monkeypatch.setattr(host, "ROOT", tmp_path)


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scope in which this program runs, and a kernel that gives each new group its files."""

    def make(folder: Path, *_: object, **__: object) -> None:
        folder.mkdir_as_ever(exist_ok=True)  # type: ignore[attr-defined]
        for name in ("cgroup.controllers", "cgroup.procs", "cgroup.subtree_control", "cgroup.type"):
            (folder / name).touch()
        if "memory" in (folder.parent / "cgroup.subtree_control").read_text():
            (folder / "memory.swap.max").touch()

    monkeypatch.setattr(limits, "remove_group", partial(shutil.rmtree, ignore_errors=True))
    monkeypatch.setattr(Path, "mkdir_as_ever", Path.mkdir, raising=False)
    scope = tmp_path / "sys/fs/cgroup/app.slice/run-r1.scope"
    scope.mkdir(parents=True)
    for folder in (scope, scope.parent):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.subtree_control").touch()
        (folder / "cgroup.type").touch()  # the root group has none
    (scope / "cgroup.procs").write_text("812\n")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/app.slice/run-r1.scope\n")
    monkeypatch.setattr(Path, "mkdir", make)
    return scope


def private(folder: Path) -> Any:
    """A private folder without a reaper, which notes what one is to remove."""
    to_remove: list[Path] = []
    return SimpleNamespace(folder=folder, to_remove=to_remove, remove_at_end=to_remove.append)


def both(folder: Path) -> AbstractContextManager[limits.ServiceGroup]:
    """A group with both limits."""
    return limits.service_group(BOTH, private(folder), "a")


def test_in_a_scope_of_ours_we_move_aside_and_services_get_a_group_with_both_limits(
    scope: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.IN_SCOPE, "1")
    kept = private(tmp_path)
    with limits.service_group(BOTH, kept, "a") as group:
        (folder,) = group.folders
        assert folder == scope / f"{tmp_path.name}-a"
        assert (scope / limits.RUNNER / "cgroup.procs").read_text() == "812"
        assert (scope / "cgroup.subtree_control").read_text() == "+memory"  # after +cpu
        wanted = {"cpu.max": "50000", "memory.max": "512000000", "memory.swap.max": "0"}
        assert {name: (folder / name).read_text() for name in wanted} == wanted
        assert {*kept.to_remove} == {folder}  # by the reaper
        assert not group.exceeded
        (folder / "memory.events").write_text("max 9\noom 1\noom_kill 1\n")
        assert str(group.exceeded) == "The service exceeded its memory limit of 512 MB."
    assert not folder.exists()
    (tmp_path / "proc/self/cgroup").write_text(f"0::/app.slice/run-r1.scope/{limits.RUNNER}\n")
    with limits.service_group(Method(limit_memory_bytes=64 * MIB), kept, "b") as group:
        assert [path.parent for path in group.folders] == [scope]
        assert not (group.folders[0] / "cpu.max").exists()


def test_a_group_that_is_not_ours_is_left_as_it_is_and_a_refusal_names_group_or_file_reason_and_remedy(
    scope: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = rf"enforced here: {scope}: Device or resource busy\. Run gilscope as root, or on Linux with systemd"
    with pytest.raises(BadInput, match=accepted), both(tmp_path):
        pass
    assert [path.name for path in scope.iterdir() if path.is_dir()] == []
    assert (scope / "cgroup.subtree_control").read_text() == ""
    monkeypatch.setenv(limits.IN_SCOPE, "1")
    (scope / "cgroup.subtree_control").unlink()
    (scope / "cgroup.subtree_control").symlink_to(tmp_path)
    accepted = rf"{scope}/cgroup.subtree_control: Is a directory"
    with pytest.raises(BadInput, match=accepted), both(tmp_path):
        pass


def test_the_journal_does_not_get_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(limits, "run", lambda *_: subprocess.CompletedProcess([], 0))
    monkeypatch.setattr(os, "execvp", lambda file, words: started.append(words))
    monkeypatch.setattr(limits, "service_group", refuse)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "orig_argv", ["python", "runner.py", "--header", "Authorization: Bearer s"])
    with pytest.raises(BadInput):
        limits.require_limits(BOTH)
    ((*_, program, runner, flag, header),) = started
    assert (program, runner, flag, header) == (sys.executable, *sys.orig_argv[1:])
    assert "--description=gilscope" in started[0][: started[0].index(sys.executable)]


def refuse(*_: object) -> None:
    raise BadInput("no control group")


def test_below_the_root_group_nobody_moves_aside(scope: Path, tmp_path: Path) -> None:
    (scope / "cgroup.type").unlink()
    with both(tmp_path) as group:
        assert [path.parent for path in group.folders] == [scope]
        assert (group.folders[0] / "cpu.max").read_text() == "50000"
    assert not (scope / limits.RUNNER).exists()


def test_without_control_groups_a_refusal_says_so_and_without_limits_there_is_no_group(tmp_path: Path) -> None:
    accepted = "sys/fs/cgroup/cpu/.*No such file or directory"
    with pytest.raises(BadInput, match=accepted), both(tmp_path):
        pass
    with limits.service_group(Method(), private(tmp_path), "a") as group:
        assert (group.folders, group.join) == ((), [])
