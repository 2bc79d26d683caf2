"""Every cell of every block as a line of one table, which a reader sorts and filters."""

from collections.abc import Sequence
from dataclasses import replace

from core.messages import NOTHING, message, verbatim
from core.result import CellResult
from reports.document.model import Column, Datum, Form, Group, Line, Section, Table, arm, number, words
from reports.document.values import whole
from reports.facts.cells import STATES, reasons
from reports.facts.figures import SHOWN
from reports.facts.settings import value_text, varying
from reports.facts.traces import line_id
from reports.view import View

PLACE = 200


def section(view: View) -> Section:
    """All cells, in the order in which they ran."""
    names = varying(view.rows)
    table = Table(
        name=message("Every cell"),
        columns=(
            Column(head=message("Runtime")),
            Column(head=message("System")),
            Column(head=message("Block"), is_number=True),
            *(Column(head=verbatim(name), is_number=_is_numeric(name, view)) for name in names),
            Column(head=message("Status")),
            *(Column(head=shown.head, is_number=True) for _, shown in SHOWN),
            Column(head=message("Reason")),
            Column(head=message("Cell")),
        ),
        groups=(Group(lines=tuple(_line(cell, names, view) for cell in view.run.cells)),),
        filters=(("system", 1), ("arm", 0), ("status", 3 + len(names))),
    )
    return Section(
        key="cells",
        title=message("Every cell"),
        sentences=(message("Each line is one cell in one block, as result.json has it. Figures above lead here."),),
        tables=(table,),
    )


def _is_numeric(name: str, view: View) -> bool:
    return all(type(row.params.get(name, 0)) is int for row in view.rows)


def _line(cell: CellResult, names: Sequence[str], view: View) -> Line:
    reason = reasons([cell])[0] if cell.reason else NOTHING
    return (
        replace(arm(cell.arm, view.looks[cell.arm]), anchor=line_id(cell)),
        words(cell.system),
        words(str(cell.block)),
        *(words(value_text(cell.params[name]) if name in cell.params else "") for name in names),
        words(STATES[cell.status]),
        *(_figure(one.read(cell), shown.form, shown.key) for one, shown in SHOWN),
        words(reason, state="wraps" if reason else ""),
        words(cell.cell_id),
    )


def _figure(value: float | None, form: Form, figure: str) -> Datum:
    """A figure, and what it is sorted by; empty where the cell has none."""
    return words("", figure=figure) if value is None else number(value, form, figure=figure, raw=_raw(value, form))


def _raw(value: float, form: Form) -> str:
    return f"{value:.1f}" if form is whole else f"{value:.0f}"
