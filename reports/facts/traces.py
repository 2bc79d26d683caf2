"""Traces: the names by which links on the page lead from a figure to the measurements (cells) behind it.

The functions are pure.
A cell's line in the table of cells has an id. A figure over several blocks names groups: the beginnings of ids.
"""

from collections.abc import Iterable, Sequence

from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.facts.best import BEST
from reports.facts.cells import Row, setting_key
from reports.facts.comparisons import Comparison
from reports.facts.pairs import addresses, group_name


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


class Traces:
    """An index that finds the measurements (cells) from which a comparison was computed."""

    def __init__(self, run: Run, rows: Sequence[Row]) -> None:
        self._groups = {(row.key, row.runtime): of_row(row) for row in rows}
        if addresses(run):  # services are compared under their common name
            for row in rows:
                arm = row.system if row.runtime == NATIVE else row.runtime
                self._groups[setting_key(group_name(run), row.params), arm] = of_row(row)

    def of(self, one: Comparison) -> str:
        """Return the names of the measurements that a comparison was computed from, the denominator's names first."""
        settings = [setting_key(some["system"], some["params"]) for some in one.settings]
        below = above = settings or [setting_key(one.system, one.params)]
        if one.system == BEST:
            below, above = settings[:1], settings[1:]
        arms = [(key, one.denominator) for key in below] + [(key, one.numerator) for key in above]
        return " ".join(filter(None, (self._groups.get(arm) for arm in arms)))
