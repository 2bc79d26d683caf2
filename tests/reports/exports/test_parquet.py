"""Cells as Parquet: read back by another library's reader, with types and the run's facts."""

import json
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
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


def test_every_cell_is_a_line_with_numbers_truth_values_and_text(path: Path) -> None:
    table = pd.read_parquet(path)
    assert path.name == "cells.parquet"
    assert list(table["status"]) == ["ok", "failed"]
    assert table["reason"][1] == "two lines"
    first = table.iloc[0]
    assert (first["NUM_CLIENTS"], first["REUSE_CLIENT"], first["completion_median_ns"]) == (1, True, 499 * MS)
    assert first["requests_per_s"] == 2000
    assert first["service_cpu_ns_per_request"] == 10_000
    assert pd.isna(table["REUSE_CLIENT"][1])


def test_columns_without_a_value_have_the_type_of_their_unit(path: Path) -> None:
    schema = pq.read_schema(path)
    assert str(schema.field("connect_p99_ns").type) == "int64"
    assert str(schema.field("NUM_MAX_CONNS").type) == "string"
    assert str(schema.field("REUSE_CLIENT").type) == "bool"


def test_facts_of_the_run_are_metadata_of_the_file(path: Path) -> None:
    metadata = pq.read_schema(path).metadata
    assert json.loads(metadata[b"gilscope.run_id"]) == "20260102T030405-sample"
    assert json.loads(metadata[b"gilscope.machine"])["cpu"] == "Sample CPU"


def test_a_file_may_be_named(tmp_path: Path) -> None:
    (path,) = export(View(run_of([measured(cell_of("1", "3.11"), 1, [MS])])), tmp_path / "mine.parquet").paths
    assert path == tmp_path / "mine.parquet"
    assert path.is_file()


def test_a_run_without_cells_and_a_place_that_cannot_be_written_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no cells"):
        export(View(run_of([])), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        export(View(run_of([measured(cell_of("1", "3.11"), 1, [MS])])), tmp_path / "file" / "deep")
