"""The cells of a run as one Parquet file, which pandas, polars, DuckDB, Spark and R open."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from core.errors import BadInput
from core.files import write
from core.result import Run
from reports.exports.csv_sheets import cell_lines
from reports.exports.writing import Exported, writable
from reports.view import View

FILE_NAME = "cells.parquet"
SUFFIX = ".parquet"
_FACTS = ("run_id", "started_at", "finished_at", "seed", "command", "plan", "machine", "runtimes")


def export(view: View, to: Path) -> Exported:
    """Write the cells of a run; facts of the run are the file's metadata, as JSON.

    to: a folder, for cells.parquet; or NAME.parquet
    Raises BadInput if there is no cell, or nowhere to write.
    """
    if not view.run.cells:
        raise BadInput("Run {run} has no cells, so there is nothing to export.", run=view.run.run_id)
    path = to if to.suffix == SUFFIX else to / FILE_NAME
    with writable():
        path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()
        pq.write_table(table(view.run), content)
        write(path, content.getvalue())
    return Exported(paths=(path,))


def table(run: Run) -> "pa.Table":
    """The cells as an Arrow table. A column without any value has numbers where its name has a unit."""
    lines = cell_lines(run)
    columns = {name: _column(name, [line[name] for line in lines]) for name in lines[0]}
    facts = {f"gilscope.{name}": json.dumps(getattr(run, name)) for name in _FACTS}
    return pa.table(columns).replace_schema_metadata(facts)


def _column(name: str, values: Sequence[Any]) -> "pa.Array":
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        is_number = name.endswith(("_ns", "_bytes", "_switches", "_per_request", "_per_s"))
        return pa.array(values, pa.int64() if is_number else pa.string())
    if kinds == {int, float}:
        return pa.array(values, pa.float64())
    return pa.array(values if len(kinds) == 1 else [None if value is None else str(value) for value in values])
