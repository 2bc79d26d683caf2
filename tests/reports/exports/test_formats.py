"""Every format of `export` writes files where it is told, and they are what the run's folder holds."""

from pathlib import Path

import pytest

from core.errors import BadInput
from core.result import Run
from reports.exports import formats
from reports.view import View
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of


@pytest.fixture
def run() -> Run:
    return run_of([measured(cell_of("1", runtime), 1, [MS]) for runtime in ("3.11", "3.14t")])


FILES = {
    "pyperf": ["3.11.json", "3.14t.json"],
    "parquet": ["cells.parquet"],
    "csv": ["cells.csv", "table.csv"],
    "markdown": ["findings.md", "table.md"],
}


@pytest.mark.parametrize("name", formats())
def test_a_format_writes_its_files_into_the_folder(name: str, run: Run, tmp_path: Path) -> None:
    done = formats()[name](View(run, TITLES), tmp_path / "to")
    assert sorted(path.name for path in done.paths) == FILES[name]
    assert sorted((tmp_path / "to").iterdir()) == sorted(done.paths)
    assert all(path.stat().st_size for path in done.paths)
    assert done.left_out == ()


@pytest.mark.parametrize("name", formats())
def test_a_place_that_cannot_be_written_is_bad_input(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        formats()[name](View(run, TITLES), tmp_path / "file" / "deep")
