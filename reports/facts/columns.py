"""The columns of the table of rows: its figures, the ratio and how many blocks there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.messages import NOTHING, Message, message
from reports.document.model import Column, Datum, Form, number
from reports.document.values import hundredths, whole
from reports.facts.figures import FIGURES
from reports.facts.summary import Row


@dataclass(frozen=True, kw_only=True)
class RowColumn:
    """name: in a CSV file, with the unit. column: in a table. value: of a row; None if it has none

    form: how people see it. figure: what a page names it by
    """

    name: str
    column: Column
    value: Callable[[Row], float | None]
    form: Form
    figure: str

    def datum(self, row: Row, cells: str) -> Datum:
        """The row's figure. cells: where it comes from"""
        return number(self.value(row), self.form, cells, self.figure)


def _column(head: Message, rank: int, brief: Message, over: Message = NOTHING) -> Column:
    return Column(head=head, is_number=True, brief=brief, over=over, rank=rank)


def _of(name: str) -> Callable[[Row], float | None]:
    return lambda row: (row.figures or {}).get(name)


COLUMNS = (
    *(
        RowColumn(
            name=one.name,
            column=_column(one.head, one.rank, one.brief, one.over),
            value=_of(one.name),
            form=one.form,
            figure=f"row {one.brief}" if one.is_percentile else one.key,
        )
        for one in FIGURES
        if one.rank is not None
    ),
    RowColumn(
        name="ratio_to_first_runtime",
        column=_column(message("Ratio"), 1, message("ratio")),
        value=lambda row: row.ratio,
        form=hundredths,
        figure="ratio_to_first",
    ),
    RowColumn(
        name="blocks_ok",
        column=_column(message("Blocks ok"), 8, message("ok"), message("blocks")),
        value=lambda row: len(row.good),
        form=whole,
        figure="blocks_ok",
    ),
)


def columns(rows: Sequence[Row]) -> list[RowColumn]:
    """The columns that say something: no ratio where there is one runtime."""
    several = len({row.runtime for row in rows}) > 1
    return [column for column in COLUMNS if several or column.name != "ratio_to_first_runtime"]
