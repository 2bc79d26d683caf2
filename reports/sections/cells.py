"""Show all cells (single measurements) of a run in one table, which can be sorted and filtered.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

from collections.abc import Sequence
from dataclasses import replace

from analysis.cell_index import STATES, line_id, reasons
from analysis.formats import whole
from analysis.metrics import COUNT, LABELLED, Metric
from analysis.settings import value_text, varying
from core.messages import NOTHING, message, verbatim
from record.saved_run import CellResult
from reports.document import Datum, Section, arm, number, words
from reports.tables import Col, col, metric_head, table
from reports.view import View

PLACE = 200  # in the order of sections (reports/sections/__init__.py)
OF_SEARCHES = True  # a report on a search for the capacity has this section, too
TITLE = message("All cells (single measurements) of the run")


def section(view: View) -> Section:
    """Return the report's section with a table of all cells (single measurements), in the order of
    measurement.
    """
    names = varying(view.rows)
    cells = view.run.cells
    shown = [metric for metric in LABELLED if {*map(metric.read, cells)} - {None}]
    cols = [
        col(
            "Runtime",
            lambda cell: replace(arm(cell.arm, view.looks[cell.arm]), anchor=line_id(cell)),
        ),
        col("System", "system"),
        col("Block", lambda cell: str(cell.block), whole),
        *(_parameter(name, view) for name in names),
        col("Status", lambda cell: STATES[cell.status]),
        *(_metric_col(metric, cells) for metric in shown),
        col(
            "Reason",
            lambda cell: words(reasons([cell])[0], state="wraps") if cell.reason else NOTHING,
        ),
        col("Cell", "cell_id"),
    ]
    # (name, index in cols): Status comes after three columns and the parameters
    filters = (("system", 1), ("arm", 0), ("status", 3 + len(names)))
    how = message(
        "Each line of this table shows one cell: one measurement of one setting under one runtime, "
        "with the figures from result.json. Other figures on this page link to these lines."
    )
    every = table(TITLE, cols, [(NOTHING, cells)], filters=filters)
    return Section("cells", TITLE, sentences=(how,), tables=(every,), folded=True)


def _parameter(name: str, view: View) -> Col[CellResult]:
    """Return the table column that shows the values of one parameter."""
    is_numeric = all(type(row.params.get(name, 0)) is int for row in view.rows)
    form = whole if is_numeric else None
    return col(
        verbatim(name),
        lambda cell: value_text(cell.params[name]) if name in cell.params else "",
        form,
    )


def _metric_col(metric: Metric, cells: Sequence[CellResult]) -> Col[CellResult]:
    """Return the table column of a metric, with raw values for sorting. Its cells are empty for
    unknown values.
    """
    column, form = metric_head(metric, cells, lambda metric, cell: metric.read(cell))

    def datum(cell: CellResult) -> Datum:
        value = metric.read(cell)
        if value is None:
            return words("", figure=metric.row_key)
        raw = f"{value:.1f}" if metric.unit is COUNT else f"{value:.0f}"
        return number(value, form, figure=metric.row_key, raw=raw)

    return Col(column, datum)
