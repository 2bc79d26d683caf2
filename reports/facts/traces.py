"""Traces: the names by which links on the page lead from a figure to the measurements (cells) behind it.

The functions are pure.
A cell's line in the table of cells has an id. A figure over several blocks names groups: the beginnings of ids.
"""

from collections.abc import Iterable

from core.result import CellResult
from reports.facts.cells import Row


def slug(arm: str) -> str:
    """Return an arm's name without spaces, for use in an id."""
    return "_".join(arm.split())


def group(cell: CellResult) -> str:
    """Return the name that a measurement (cell) shares with its repetitions in other blocks."""
    return f"{slug(cell.arm)}-{cell.cell_id}"


def line_id(cell: CellResult) -> str:
    """Return the HTML id of a measurement's line in the page's table of all measurements (cells)."""
    return f"cell-{group(cell)}-{cell.block}"


def of_cells(cells: Iterable[CellResult]) -> str:
    """Return the names of the measurements *cells* for use in links on the page, separated by spaces."""
    return together(map(group, cells))


def of_rows(rows: Iterable[Row]) -> str:
    """Return the names of all measurements in *rows* for use in links on the page, separated by spaces."""
    return of_cells(cell for row in rows for cell in row.cells)


def of_row(row: Row) -> str:
    """Return the names of all measurements in *row* for use in links on the page, separated by spaces."""
    return of_cells(row.cells)


def together(groups: Iterable[str]) -> str:
    """Join space-separated lists of names into one list that has each name once."""
    return " ".join(dict.fromkeys(" ".join(groups).split()))
