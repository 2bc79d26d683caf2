"""How a figure on the page names the cells that it comes from. Pure.

A cell's line in the table of cells has an id; a figure over blocks names groups of such lines by what their ids
begin with. `*` stands for all settings of an arm.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from core.result import CellResult
from core.runtime import NATIVE
from reports.arms import addresses, group_name
from reports.comparisons import OVER_ALL, Comparison
from reports.summary import Row, setting_key
from reports.view import View

ALL_SETTINGS = "*"


def slug(arm: str) -> str:
    """An arm's name without blanks, as ids must be."""
    return "_".join(arm.split())


def group(arm: str, cell_id: str) -> str:
    """The name of all blocks of one cell."""
    return f"{slug(arm)}-{cell_id}"


def line_id(cell: CellResult) -> str:
    """The id of a cell's line in the table of cells."""
    return f"cell-{group(cell.arm, cell.cell_id)}-{cell.block}"


def of_cells(cells: Iterable[CellResult]) -> str:
    """The groups of *cells*, apart by blanks."""
    return " ".join(dict.fromkeys(group(cell.arm, cell.cell_id) for cell in cells))


def of_rows(rows: Iterable[Row]) -> str:
    """The groups of all cells of *rows*."""
    return of_cells(cell for row in rows for cell in row.cells)


class Traces:
    """Finds the cells that a comparison rests on."""

    def __init__(self, view: View) -> None:
        self._groups = {(*setting_key(row.system, row.params), row.runtime): of_rows([row]) for row in view.rows}
        if addresses(view.run):  # services are compared, under the name of all of them
            name = group_name(view.run)
            self._groups |= {
                (*setting_key(name, row.params), row.system if row.runtime == NATIVE else row.runtime): of_rows([row])
                for row in view.rows
            }

    def of(self, one: Comparison) -> str:
        """The groups of both arms, the denominator's first."""
        return self.of_arms(one.system, one.params, one.denominator, one.numerator)

    def of_arms(self, system: str, params: Mapping[str, Any], *arms: str) -> str:
        """The groups of *arms* in one setting, or in all."""
        if system == OVER_ALL:
            return " ".join(group(arm, ALL_SETTINGS) for arm in arms)
        found = (self._groups.get((*setting_key(system, params), arm), "") for arm in arms)
        return " ".join(filter(None, found))
