"""Cells as Parquet: read back by another library's reader, with types and the run's facts."""

from pathlib import Path

import pytest

from core.errors import BadInput
from reports.exports.parquet import export
from reports.view import View
from tests.reports.sample import MS, cell_of, faulty, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    cells = [
        measured(cell_of("2", "3.14t", {**SMALL, "REUSE_CLIENT": True}), 1, [499 * MS], cpu_ns=5 * MS),
        faulty(cell_of("4", "3.11", SMALL), 1, "failed", "two\nlines"),
    ]
    (path,) = export(View(run_of(cells)), tmp_path / "deep").paths
    return path


def test_a_run_without_cells_and_a_place_that_cannot_be_written_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no cells"):
        export(View(run_of([])), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        export(View(run_of([measured(cell_of("1", "3.11"), 1, [MS])])), tmp_path / "file" / "deep")
