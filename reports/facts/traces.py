"""How a figure on the page names the cells that it comes from. Pure.

A cell's line in the table of cells has an id; a figure over blocks names groups of such lines by what their ids
begin with.
"""

from collections.abc import Iterable, Sequence

from core.result import CellResult, Run
from core.runtime import NATIVE
from reports.facts.best import BEST
from reports.facts.comparisons import Comparison
from reports.facts.pairs import addresses, group_name
from reports.facts.summary import Row, setting_key


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


def of_row(row: Row) -> str:
    """The groups of all cells of *row*."""
    return of_rows([row])


def together(groups: Iterable[str]) -> str:
    """Groups of cells of several figures, each once."""
    return " ".join(dict.fromkeys(group for groups_ in groups for group in groups_.split()))


class Traces:
    """Finds the cells that a comparison rests on."""

    def __init__(self, run: Run, rows: Sequence[Row]) -> None:
        self._groups = {(*setting_key(row.system, row.params), row.runtime): of_rows([row]) for row in rows}
        if addresses(run):  # services are compared, under the name of all of them
            name = group_name(run)
            self._groups |= {
                (*setting_key(name, row.params), row.system if row.runtime == NATIVE else row.runtime): of_rows([row])
                for row in rows
            }

    def of(self, one: Comparison) -> str:
        """The groups of both arms, the denominator's first; of one over all settings, in those that it is over."""
        settings = [setting_key(some["system"], some["params"]) for some in one.settings]
        over = [settings or [setting_key(one.system, one.params)]] * 2
        if one.system == BEST:
            over = [settings[:1], settings[1:]]
        arms = zip((one.denominator, one.numerator), over, strict=True)
        found = (self._groups.get((*setting, arm), "") for arm, some in arms for setting in some)
        return " ".join(filter(None, found))
