"""beside.md, word for word: its files and its command in a new folder, with one runtime and shorter measurements."""

import os
import re
import shlex
from pathlib import Path

import pytest

from analysis.others import others
from record.run_file import load
from tests.conftest import runtime_or_skip
from tests.contract.runs import finished, runtime_flags
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "beside.md"
HURRY = "--blocks 1 --duration 0.2 --server granian"  # two event loops in one process
PASSWORD = re.compile(r"postgres:(?!\{password\})[^@\s]+@")


def test_the_application_is_measured_with_its_database_which_is_counted_apart_and_of_which_nothing_stays(
    short_folder: Path, postgres: None
) -> None:
    runtime = runtime_or_skip("3.14t")
    short_folder.chmod(0o711)  # the user of a database may enter
    files = dict(zip(("shop.py", "seed.py"), blocks(PAGE, "py"), strict=True))
    files["requirements.txt"], *_ = blocks(PAGE, "text")
    for name, content in files.items():
        (short_folder / name).write_text(content)
    command = blocks(PAGE, "sh")[1].removeprefix("python $GILSCOPE/runner.py ")
    run = finished([*shlex.split(f"{command} {HURRY}"), *runtime_flags(runtime)], short_folder)
    if "could not be installed" in run.complained():
        pytest.skip(run.complained())
    assert run.status() == 0, run.complained()
    assert run.leaves_nothing()
    (cell,) = load(short_folder / "run").cells
    assert (cell.runtime, cell.status) == ("3.14t", "ok")
    assert 0 < cell.beside["PostgreSQL"] < cell.wall_ns * (os.cpu_count() or 1)
    seen = others([cell])
    assert seen
    assert "postgres" not in seen.busiest
    written = [path.read_text(errors="replace") for path in (short_folder / "run").rglob("*") if path.is_file()]
    assert "PostgreSQL used" in "".join(written)
    assert not PASSWORD.search("".join([run.said(), run.complained(), *written]))
