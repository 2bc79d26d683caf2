"""The files of a program beside the services, which root gives to the program's user."""

import os
import pwd
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.user_service import Beside
from lab.run import running_sidecars as beside
from tests.lab.python.fake_pythons import script
from tests.lab.python.test_trust import NOBODY, as_root


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private folder, as root has it."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    user = SimpleNamespace(pw_name="nobody", pw_uid=NOBODY, pw_gid=NOBODY)
    monkeypatch.setattr(pwd, "getpwall", lambda: [user])
    return folder


REDIS = Beside(name="redis", command="redis-server", users=("nobody",))


def test_the_folder_is_given_away_last_and_no_link_is_followed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, bool]] = []

    def chown(path: Path, uid: int, gid: int, *, follow_symlinks: bool = True) -> None:
        assert (uid, gid) == (NOBODY, NOBODY)
        given.append((Path(path).name, follow_symlinks))

    monkeypatch.setattr(os, "chown", chown)
    words = beside.owned(replace(REDIS, users=("redis", "nobody")), folder, "port 1")
    assert given == [("data", False), ("config", False), ("private", False)]
    assert words[:3] == ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}"]


@as_root
def test_the_new_owner_cannot_make_root_give_another_file_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it owns the folder, it replaces a file there by a link at once."""
    victim, chown = folder.parent / "victim", os.chown
    victim.write_text("root's")

    def chown_and_attack(path: Path, uid: int, gid: int, **how: bool) -> None:
        chown(path, uid, gid, **how)
        if path == folder:
            (folder / "config").unlink()
            (folder / "config").symlink_to(victim)

    monkeypatch.setattr(os, "chown", chown_and_attack)
    beside.owned(REDIS, folder, "port 1")
    assert victim.stat().st_uid == 0
    assert folder.stat().st_uid == NOBODY


def test_of_several_versions_of_postgresql_the_newest_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their numbers: as a text, 9.6 would be the last."""
    for version in ("9.6", "10", "15"):
        script(tmp_path / version / "bin/pg_ready", f"echo {version} >{tmp_path}/used")
    monkeypatch.setattr(beside, "DEBIAN", f"{tmp_path}/*/bin")
    database = Beside(name="postgres", command="sleep 60", ready="pg_ready")
    plan: Any = SimpleNamespace(user_service=None, beside=(database,), prepare=())
    with beside.standing(plan, {}):
        assert (tmp_path / "used").read_text() == "15\n"
