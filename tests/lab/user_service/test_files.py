"""What of a user's service is copied to another host."""

import os
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from core.messages import BadInput
from lab.user_service import service_files as files
from tests.tables import each_row


def own(folder: Path, requirements: str = "") -> dict[str, Any]:
    return {"directory": str(folder), "requirements": requirements, "packages": (), "requests": {"requests": [{}]}}


def names(content: bytes) -> set[str]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {*archive.namelist()}


def test_links_that_lead_out_caches_and_environments_stay_here(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    for name in ("web.py", ".env", "venv/pyvenv.cfg", "venv/bin/python", ".git/HEAD", "__pycache__/web.pyc", "a/b.txt"):
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(name)
    (tmp_path / "secret").write_text("no")
    for name, target in (("out", "../secret"), ("inside", "web.py"), ("gone", "nowhere"), ("folder", "a")):
        (shop / name).symlink_to(target)
    os.mkfifo(shop / "pipe")
    assert names(files.user_files(own(shop))[0]) == {"own/.env", "own/a/b.txt", "own/inside", "own/web.py"}


def test_paths_in_requirements_lead_to_where_the_files_are_there(tmp_path: Path) -> None:
    shop, beside = tmp_path / "shop", tmp_path / "lib"
    for folder in (shop, beside):
        folder.mkdir()
        (folder / "pyproject.toml").write_text("")
    (tmp_path / "pins.txt").write_text("flask==3.1.2\n")
    file = shop / "requirements.txt"
    file.write_text(f"-c ../pins.txt\n--find-links .\n{shop}[fast]\n-e {beside} ; python_version > '3'\nflask\n")
    content, requirements = files.user_files(own(shop, str(file)))
    assert requirements == [
        "-c {files}/1/pins.txt",
        "--find-links {files}/own",
        "{files}/own[fast]",
        "-e {files}/2/lib ; python_version > '3'",
        "flask",
    ]
    assert names(content) == {"own/pyproject.toml", "own/requirements.txt", "1/pins.txt", "2/lib/pyproject.toml"}


@each_row
def test_what_is_too_large_is_refused_with_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int, why: str
) -> None:
    for number in range(3):
        (tmp_path / str(number)).write_bytes(bytes(1 << 20))
    monkeypatch.setattr(files, bound, most)
    with pytest.raises(BadInput, match=why):
        files.user_files(own(tmp_path))
