"""The run as CSV: its rows, and every cell of every block with raw integers."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.printable import printable
from core.result import Run
from reports.facts.cells import Row
from reports.facts.figures import FIGURES, ROW_COLUMNS
from reports.facts.settings import parameter_names, value_text

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?|-", re.ASCII)
_IDENTITY = ("cell_id", "block", "system", "runtime", "arm")


def cells_sheet(run: Run) -> str:
    """Return one line per cell and block, in the order in which they ran. Durations are whole ns; empty is unknown."""
    names = parameter_names(cell.params for cell in run.cells)
    return _sheet(
        {**line, **_params(cell.params, names)} for cell, line in zip(run.cells, cell_lines(run), strict=True)
    )


def cell_lines(run: Run) -> list[dict[str, Any]]:
    """Return the columns of cells.csv for every cell, as numbers and truth values; None is unknown, or not read.

    NUM_MAX_CONNS is None also if there is no limit.
    """
    names = parameter_names(cell.params for cell in run.cells)
    return [
        {
            **{name: getattr(cell, name) for name in _IDENTITY},
            "client_runtime": cell.client_runtime or cell.runtime,
            "status": cell.status,
            "reason": " ".join(str(cell.reason).split()),
            **{name: cell.params.get(name) for name in names},
            **{one.name: one.read(cell) for one in FIGURES},
        }
        for cell in run.cells
    ]


def rows_sheet(all_rows: Sequence[Row]) -> str:
    """Return one line per row of the table, with every parameter."""
    names = parameter_names(row.params for row in all_rows)
    return _sheet(
        {
            "system": row.system,
            "title": row.title,
            "runtime": row.runtime,
            "status": row.state,
            **_params(row.params, names),
            **{name: row.columns.get(name) for name in ROW_COLUMNS},
            "blocks_not_ok": len(row.bad),
            "blocks_planned": row.planned,
            "trouble": str(row.trouble),
        }
        for row in all_rows
    )


def _params(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    return {name: value_text(params[name]) if name in params else "" for name in names}


def _sheet(lines: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, line in enumerate(lines):
        if not number:
            writer.writerow(map(_plain, line))
        writer.writerow(map(_plain, line.values()))
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _defused(printable(value))
    return f"{value:.6g}" if isinstance(value, float) else value


def _defused(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe comes before it. Numbers and dashes stay.

    Source: OWASP, CSV Injection.
    """
    return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text
