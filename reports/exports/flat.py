"""Every cell as one flat line, for data frames: its columns in cells.csv, and what is worked out of them. Pure."""

from typing import Any

from core.result import CellResult, Run
from reports.exports.csv_sheets import cell_lines
from reports.rows.summary import cpu_ns, requests_per_s


def flat_cells(run: Run) -> list[dict[str, Any]]:
    """A line for each cell and block, in the order in which they ran; None is unknown, or not read by the system.

    The columns are those of cells.csv, with requests_per_s and the CPU time of each side per request, ns.
    """
    return [{**line, **_rates(cell)} for cell, line in zip(run.cells, cell_lines(run), strict=True)]


def _rates(cell: CellResult) -> dict[str, float | None]:
    return {
        "requests_per_s": requests_per_s(cell) or None,
        "service_cpu_ns_per_request": _per_request(cpu_ns(cell.services), cell.answered),
        "client_cpu_ns_per_request": _per_request(cpu_ns(cell.clients), cell.answered),
    }


def _per_request(spent_ns: int | None, answered: int) -> float | None:
    return None if spent_ns is None or not answered else spent_ns / answered
