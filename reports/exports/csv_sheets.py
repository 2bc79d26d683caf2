"""The run as CSV: its rows, and every cell of every block with raw integers."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.cell import PARAMETERS
from core.printable import printable
from core.result import CellResult, Run
from reports.facts.arrangement import value_text
from reports.facts.columns import COLUMNS
from reports.facts.figures import FIGURES, cpu_ns
from reports.facts.summary import Row, as_message

_LATENCIES = ("min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?|-", re.ASCII)
_SUMS = ("voluntary_switches", "involuntary_switches")
_IDENTITY = ("cell_id", "block", "system", "runtime", "arm")


def cells_sheet(run: Run) -> str:
    """One line per cell and block, in the order in which they ran. Durations are whole ns; empty is unknown."""
    names = _parameter_names(cell.params for cell in run.cells)
    return _sheet(
        {**line, **_params(cell.params, names)} for cell, line in zip(run.cells, cell_lines(run), strict=True)
    )


def cell_lines(run: Run) -> list[dict[str, Any]]:
    """The columns of cells.csv for every cell, as numbers and truth values; None is unknown, or not read.

    NUM_MAX_CONNS is None also where there is no limit.
    """
    names = _parameter_names(cell.params for cell in run.cells)
    return [
        {**_identity(cell), **{name: cell.params.get(name) for name in names}, **_measured(cell)} for cell in run.cells
    ]


def rows_sheet(all_rows: Sequence[Row]) -> str:
    """One line per row of the table, with every parameter."""
    names = _parameter_names(row.params for row in all_rows)
    return _sheet({**_head(row), **_params(row.params, names), **_figures(row)} for row in all_rows)


def _identity(cell: CellResult) -> dict[str, Any]:
    return {
        **{name: getattr(cell, name) for name in _IDENTITY},
        "client_runtime": cell.client_runtime or cell.runtime,
        "status": cell.status,
        "reason": " ".join(str(as_message(cell.reason)).split()),
    }


def _measured(cell: CellResult) -> dict[str, Any]:
    line = {
        "requests": cell.requests,
        "answered": cell.answered,
        **{one.name: one.read(cell) for one in FIGURES[:4]},
        "calc_ns": cell.calc_ns or None,
    }
    for kind, summary in (("latency", cell.latency), ("connect", cell.connect), ("waiting", cell.waiting)):
        line |= {f"{kind}_{name}": summary.get(name) for name in _LATENCIES}
    for side, processes in (("service", cell.services), ("client", cell.clients)):
        line |= _usage(side, processes)
    return line | {one.name: one.read(cell) for one in FIGURES[-4:]}


def _usage(side: str, processes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the operating system counted for all processes of one side; of memory, the largest of them."""
    usage: dict[str, Any] = {f"{side}_cpu_{kind}_ns": cpu_ns(processes, kind) for kind in ("user", "system")}
    for name in _SUMS:
        usage[f"{side}_{name}"] = sum(process.get(name, 0) for process in processes) if processes else None
    usage[f"{side}_max_rss_bytes"] = max(
        (process["max_rss_bytes"] for process in processes if "max_rss_bytes" in process), default=None
    )
    return usage


def _head(row: Row) -> dict[str, Any]:
    return {"system": row.system, "title": row.title, "runtime": row.runtime, "status": row.state}


def _figures(row: Row) -> dict[str, Any]:
    figures = {column.name: column.value(row) for column in COLUMNS}
    return {**figures, "blocks_not_ok": len(row.bad), "blocks_planned": row.planned, "trouble": str(row.trouble)}


def _parameter_names(params: Iterable[Mapping[str, Any]]) -> list[str]:
    used = dict.fromkeys(name for each in params for name in each)
    return [name for name in PARAMETERS if name in used] + [name for name in used if name not in PARAMETERS]


def _params(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    return {name: value_text(params[name]) if name in params else "" for name in names}


def _sheet(lines: Iterable[Mapping[str, Any]]) -> str:
    records = list(lines)
    text = io.StringIO()
    if records:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_plain, records[0]))
        writer.writerows([_plain(record[name]) for name in records[0]] for record in records)
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _defused(printable(value))
    return f"{value:.6g}" if isinstance(value, float) else value


def _defused(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe comes before it. Numbers and dashes stay.

    Source: OWASP, CSV Injection.
    """
    return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text
