"""A run as CSV and as JSON with figures. cells.csv has raw integers of each measurement.

reports/write.py writes sheets(), `--json` prints as_json() (commands/report.py), and
reports/frame.py takes cell_lines(). Keys and columns are an interface to users (docs/report.md);
those of figures come from METRICS and ROW_METRICS (analysis/metrics.py). None is written as an
empty field, and stays None in JSON.
"""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from csv import writer as csv_writer
from typing import Any

from analysis.cell_index import Row
from analysis.metrics import METRICS, ROW_METRICS, pooled
from analysis.routes import MEAN
from analysis.settings import parameter_names, value_text
from core.languages import printable
from core.messages import Json
from record.comparison import VALUE
from record.run_file import to_json
from record.saved_run import CellResult, Run
from reports.view import View


def as_json(view: View) -> dict[str, Any]:
    """Return the content of result.json with two more keys: `figures`, the figures of each row with
    units, and `routes`, the lines of routes.csv.

    record.run_file.load can read the result like result.json.
    """
    return {
        **to_json(view.run),
        "figures": [*map(_row_as_json, view.rows)],
        "routes": route_lines(view),
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    figures = {
        key: {"value": value, "unit": ROW_METRICS[key].raw_unit}
        for key, value in row.columns.items()
    }
    return {**_identity(row), "status": row.state, "figures": figures}


def _identity(row: Row) -> dict[str, Any]:
    return {"system": row.system, "runtime": row.runtime, "params": dict(row.params)}


def sheets(view: View) -> dict[str, Callable[[], str]]:
    """Return {file name: function that makes the content of the file} for the CSV files of a
    run.
    """
    # functions, so that write_all() can make each file on its own
    made = {"table.csv": lambda: rows_sheet(view.rows), "cells.csv": lambda: cells_sheet(view.run)}
    return made | ({"routes.csv": lambda: routes_sheet(view)} if view.routes else {})


# first characters of what a spreadsheet takes for a formula; the last four are full-width = + - @
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
# a number or a dash is harmless, although it may begin with such a character
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?|-", re.ASCII)
# columns that are attributes of Route, of the compared JudgedRatio, and of CellResult
_ROUTE = ("name", "share", "requests", "errors")
_SPEED = ("ratio", "low", "high", "p", "verdict")
_IDENTITY = ("cell_id", "block", "system", "runtime", "arm")


def cells_sheet(run: Run) -> str:
    """Return the content of cells.csv: a line per measurement, oldest first. Times are in ns; empty
    means unknown.
    """
    names = parameter_names(run.cells)
    # as text, so that None (no limit) differs from a parameter that the cell does not have
    return _sheet(_cell_line(cell, _params(cell.params, names)) for cell in run.cells)


def cell_lines(run: Run) -> list[dict[str, Any]]:
    """Return the lines of cells.csv as dictionaries. A value is None if it is unknown or does not
    apply.

    NUM_MAX_CONNS is also None if there is no limit.
    """
    absent = dict.fromkeys(parameter_names(run.cells))
    return [_cell_line(cell, {**absent, **cell.params}) for cell in run.cells]


def _cell_line(cell: CellResult, params: Json) -> dict[str, Any]:
    return {
        **{name: getattr(cell, name) for name in _IDENTITY},
        "client_runtime": cell.client_runtime or cell.runtime,
        "status": cell.status,
        "reason": " ".join(str(cell.reason).split()),
        **params,
        **{metric.key: metric.read(cell) for metric in METRICS.values()},
    }


def rows_sheet(all_rows: Sequence[Row]) -> str:
    """Return the content of table.csv: one line per row of the results table, with all
    parameters.
    """
    names = parameter_names(all_rows)
    return _sheet(_row_line(row, names) for row in all_rows)


def _row_line(row: Row, names: Sequence[str]) -> dict[str, Any]:
    return {
        "system": row.system,
        "title": row.title,
        "runtime": row.runtime,
        "status": row.state,
        **_params(row.params, names),
        **{key: row.columns.get(key) for key in ROW_METRICS},
        "blocks_not_ok": len(row.bad),
        "blocks_planned": row.planned,
        "trouble": str(row.trouble),
    }


def routes_sheet(view: View) -> str:
    """Return the content of routes.csv: the lines of route_lines(), with all parameters."""
    names, lines = parameter_names(route.row for route in view.routes), route_lines(view)
    # pop() comes first, so the columns of the parameters replace the column "params".
    return _sheet({**_params(line.pop("params"), names), **line} for line in lines)


def route_lines(view: View) -> list[dict[str, Any]]:
    """Return a dictionary for each route under each runtime, and for each comparison of this
    runtime, value or variant with an earlier one: `compared_with`, and the route's speed. Times are
    in ns.
    """
    lines = []
    for route in view.routes:
        row = route.row
        line = {
            **_identity(row),
            **{name: getattr(route, name) for name in _ROUTE},
            "mean_ns": MEAN.median(row.good),
            **{name: row.columns.get(name) for name in ("p50_ns", "p99_ns")},
            "pooled": " ".join(sorted(pooled(row.good) & {"p50", "p99"})),
            **dict.fromkeys(("compared_with", *_SPEED)),
        }
        about = [
            one
            for one in view.compared_by_route
            if route.is_side_of(one, 1) and route.name in one.routes
        ]
        for one in about:
            speed = one.routes[route.name]
            speeds = {name: getattr(speed, name) for name in _SPEED}
            other = str(one.change[1]) if one.step == VALUE else one.denominator
            lines.append({**line, "compared_with": other, **speeds})
        lines += [line] * (not about)
    return lines


# A parameter that *params* does not have is an empty text.
def _params(params: Json, names: Sequence[str]) -> dict[str, str]:
    texts = {name: value_text(value) for name, value in params.items()}
    return {**dict.fromkeys(names, ""), **texts}


# The first line gives the heads, so all lines need the same keys in the same order. Without lines,
# the sheet is empty.
def _sheet(lines: Iterable[Json]) -> str:
    text = io.StringIO()
    writer = csv_writer(text, lineterminator="\n")
    for number, line in enumerate(lines):
        if not number:
            writer.writerow(map(_plain, line))
        writer.writerow(map(_plain, line.values()))
    return text.getvalue()


def _plain(value: Any) -> Any:
    """Return a value as a sheet has it. A text that a spreadsheet could interpret as a formula
    begins with an apostrophe, unless it is a number or a dash. Source: OWASP, CSV Injection.
    """
    if isinstance(value, str):
        text = printable(value)
        return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text
    return f"{value:.6g}" if isinstance(value, float) else value
