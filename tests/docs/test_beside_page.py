"""beside.md, word for word: its files and its command in a new folder, with one runtime and shorter measurements."""

import shutil
from pathlib import Path

import pytest

from core.result_file import load
from tests.conftest import runtime_or_skip
from tests.docs.pages import DOCS, blocks
from tests.docs.test_measure_your_service import ran

PAGE = DOCS / "beside.md"
HURRY = "--blocks 1 --duration 0.2 --runtime 3.14t --server granian"  # two event loops in one process


def test_the_application_is_measured_with_its_database(tmp_path: Path) -> None:
    runtime_or_skip("3.14t")
    if not (shutil.which("initdb") or [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]):
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    files = dict(zip(("shop.py", "seed.py"), blocks(PAGE, "py"), strict=True))
    files["requirements.txt"], *_ = blocks(PAGE, "text")
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    command = blocks(PAGE, "sh")[1].removeprefix("python $GILSCOPE/runner.py ")
    ran(f"{command} {HURRY}", tmp_path)
    cells = load(tmp_path / "run").cells
    assert sorted((cell.runtime, cell.status) for cell in cells) == [("3.14t", "ok")]
    assert all(cell.beside["PostgreSQL"] for cell in cells)
