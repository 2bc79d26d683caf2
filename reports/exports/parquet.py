"""Export of a run's measurements (cells) as one Parquet file, which pandas, polars, DuckDB, Spark and R open."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from core.errors import BadInput
from reports.exports import Exported, written
from reports.exports.texts import cell_lines
from reports.facts.figures import FIGURES
from reports.view import View

FILE_NAME = "cells.parquet"
SUFFIX = ".parquet"
_FACTS = ("run_id", "started_at", "finished_at", "seed", "command", "plan", "machine", "runtimes")
_NUMBERS = {one.name for one in FIGURES}


def export(view: View, to: Path) -> Exported:
    """Write a run's measurements (cells) to a Parquet file, with facts of the run as JSON in the file's metadata.

    to: a folder, in which cells.parquet is written, or NAME.parquet
    Raises BadInput if the run has no cells or the file cannot be written.
    """
    run, lines = view.run, cell_lines(view.run)
    if not lines:
        raise BadInput(
            "Run {run} has no measurements to export. Continue the run with --resume, or choose another run.",
            run=run.run_id,
        )
    table = pa.table({name: _column(name, [line[name] for line in lines]) for name in lines[0]})
    facts = {f"gilscope.{name}": json.dumps(getattr(run, name)) for name in _FACTS}
    content = BytesIO()
    pq.write_table(table.replace_schema_metadata(facts), content)
    return written({to if to.suffix == SUFFIX else to / FILE_NAME: content.getvalue()})


def _column(name: str, values: Sequence[Any]) -> "pa.Array":
    """Return the values of a column as an Arrow array. If all are None, its type is int64 for a figure, else string."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.array(values, pa.int64() if name in _NUMBERS else pa.string())
    if len(kinds) == 1 or kinds == {int, float}:
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values])
