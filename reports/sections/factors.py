"""What the ratio of a step is made of: how many cores were in use, and how much CPU time a request took."""

from collections.abc import Mapping
from typing import Any

from core.messages import Message, message
from reports.document.model import Column, Datum, Group, Line, Section, Table, number, words
from reports.document.values import ratio
from reports.rows.comparisons import Comparison
from reports.rows.pairs import OVER_ALL
from reports.view import View

PLACE = 45
FACTORS = {"cores_used": message("Cores used"), "cpu_per_request": message("CPU per request")}
SIDES: Mapping[str, Message] = {"": message("both sides"), "service": message("service"), "client": message("client")}


def section(view: View) -> Section:
    """A line for each step of each setting, those over all settings first."""
    return Section(
        key="factors",
        title=message("What the ratio is made of"),
        tables=(_table(view),),
        notes=(
            message(
                "Throughput = cores used / CPU time per request, so the ratio of a step is the product of two: above 1 "
                "more cores were in use, or a request took less CPU time. Paired by block, with 95 percent intervals."
            ),
        ),
    )


def _table(view: View) -> Table:
    groups: dict[Message, list[Line]] = {}
    known = [one for one in view.compared if one.step != "aa" and one.factors]
    for one in sorted(known, key=lambda one: one.system != OVER_ALL):
        groups.setdefault(view.settings.name(one.system, one.params), []).append(_line(one, view))
    heads = [
        message("{factor}, {side}", factor=name, side=side) for side in SIDES.values() for name in FACTORS.values()
    ]
    return Table(
        name=message("Factors of each step"),
        columns=(Column(head=message("Step")), *(Column(head=head, is_number=True) for head in heads)),
        groups=tuple(Group(head=head, lines=tuple(lines)) for head, lines in groups.items()),
    )


def _line(comparison: Comparison, view: View) -> Line:
    cells = view.traces.of(comparison)
    sides = [(side, comparison.factors[side] if side else comparison.factors) for side in SIDES]
    numbers = (
        _datum(factors[name], comparison, cells, f"{name} {side}") for side, factors in sides for name in FACTORS
    )
    return words(comparison.label, cells=cells, leads=True), *numbers


def _datum(factor: Mapping[str, Any], comparison: Comparison, cells: str, figure: str) -> Datum:
    low, high = factor["low"], factor["high"]
    return number(factor["ratio"], ratio, cells, figure.strip(), low=low, high=high, is_range=comparison.is_range)
