"""What is read of the files that a service's processes have written."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.inside import FOLDER
from core.messages import Json
from lab.run import instrumentation
from lab.run.children import Place
from lab.run.instrumentation import Instrumentation


def instrumentation_in(folder: Path, parts: Mapping[str, Json]) -> Instrumentation:
    """The instrumentation of a service on a place with this folder."""
    sandbox: Any = None  # nothing is started
    return Instrumentation(lambda: Place(sandbox, str(folder)), parts)


@pytest.fixture
def written(tmp_path: Path) -> Instrumentation:
    return instrumentation_in(tmp_path, {"pauses": {"records": 5}})


def put(written: Instrumentation, name: str, content: bytes) -> None:
    assert written.folder
    (written.folder / name).write_bytes(content)


def test_regular_files_of_a_part_are_read_by_their_processes_and_no_more_than_the_bounds_allow(
    written: Instrumentation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written.folder
    (tmp_path / "secret").write_bytes(b"of the user")
    (written.folder / "pauses-7").symlink_to(tmp_path / "secret")
    os.mkfifo(written.folder / "pauses-8")
    (written.folder / "pauses-9").mkdir()
    put(written, "pauses-12", b"first")
    put(written, "pauses-12.1", b"after exec")
    put(written, "stacks-12", b"of another part")
    for name in ("pauses-", "pauses-1x", "pauses-12.1.1", ".pauses-12", "pauses-12345678901"):
        put(written, name, b"of nobody")
    assert written.files("pauses") == {"pauses-12": b"first", "pauses-12.1": b"after exec"}
    put(written, "pauses-13", b"third")
    monkeypatch.setattr(instrumentation, "MOST_FILES", 2)
    assert written.files("pauses", 4) == {"pauses-12": b"firs", "pauses-12.1": b"afte"}


def test_a_part_that_failed_is_quoted_by_its_last_line(written: Instrumentation) -> None:
    put(written, "failed-7", b"Traceback:\n  ...\nOSError: no \xff space\n")
    assert written.complaints() == ["OSError: no \N{REPLACEMENT CHARACTER} space"]


def test_a_folder_is_removed_and_without_parts_there_is_none(tmp_path: Path) -> None:
    one = instrumentation_in(tmp_path, {"pauses": {}})
    assert Path(one.variables[FOLDER]).parent == tmp_path
    one.remove()
    assert list(tmp_path.iterdir()) == []
    none = instrumentation_in(tmp_path, {})
    assert (none.variables, none.files("pauses"), list(tmp_path.iterdir())) == ({}, {}, [])
