"""Files are replaced whole, and never through a link that another user has put into the folder."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core import files
from core.files import put, write


@pytest.mark.parametrize("writer", [put, write])
@pytest.mark.parametrize("target", ["mine", "not there"])
def test_a_link_is_replaced_and_what_it_leads_to_stays(
    writer: Callable[[Path, str], None], target: str, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "cells.csv").symlink_to(target)
    writer(tmp_path / "cells.csv", "cells")
    assert not (tmp_path / "cells.csv").is_symlink()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"mine": "mine", "cells.csv": "cells"}


def test_a_link_in_place_of_the_temporary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / files.BESIDE).symlink_to("mine")
    with pytest.raises(FileExistsError):
        put(tmp_path / "cells.csv", "cells")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write(tmp_path / "pipe", "cells")
    reader.join(20)
    assert read == ["cells"]
