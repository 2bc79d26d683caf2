"""Completion time, or throughput, of every setting and arm: bars with a mark for each block; the seed's tables."""

from collections.abc import Sequence

from core.messages import Message, message
from reports.document.drawing import Axis, Curve, Panel, Span
from reports.document.model import Figure, Section
from reports.document.shapes import Spot, bar, named_axis
from reports.facts.cells import STATES, Row, alike
from reports.facts.measures import Measure, measure
from reports.facts.traces import of_rows
from reports.seed.beside import beside_the_seed
from reports.view import View

PLACE = 50
ROOM = 1.04


def section(view: View) -> Section:
    """The bars; nothing where an experiment has a view of its own, which draws its contestants."""
    seed = () if view.is_timed else (beside_the_seed(view),)
    drawn = () if view.plan.view or not any(row.figures for row in view.rows) else (figure(view),)
    return Section(key="completion", title=_title(view), figures=drawn, parts=seed)


def _title(view: View) -> Message:
    return message("Throughput") if view.is_timed else message("Completion time")


def figure(view: View) -> Figure:
    """A panel for each setting, a bar for each arm; one scale where the work is the same."""
    how = measure(is_timed=view.is_timed)
    scales = {id(row): ROOM * how.most(rows) for rows in alike(view.rows) for row in rows}
    if view.is_timed:
        scales = dict.fromkeys(scales, ROOM * how.most(view.rows))
    return Figure(
        key="completion",
        title=_title(view),
        caption=_caption(view),
        panels=tuple(_panel(rows, how, scales[id(rows[0])], view) for rows in view.groups if not _is_idle(rows[0])),
    )


def _caption(view: View) -> Message:
    if view.is_timed:
        return message("Requests answered in a second: median over the blocks. Marks: each block. More is better.")
    return message(
        "What a client process takes for all of its requests: median over the clients, median over the blocks. "
        "Marks: each block. Less is better."
    )


def _is_idle(row: Row) -> bool:
    """Services without clients take no time."""
    return row.params.get("NUM_CLIENTS") == 0


def _panel(rows: Sequence[Row], how: Measure, most: float, view: View) -> Panel:
    return Panel(
        title=view.settings.short(rows[0].system, rows[0].params),
        across=Axis(label=how.label, low=0.0, high=most),
        up=named_axis([row.runtime for row in rows], message("runtime")),
        curves=tuple(_bar(row, place, how, view) for place, row in enumerate(rows)),
    )


def _bar(row: Row, place: int, how: Measure, view: View) -> Curve:
    """From 0 to the median; where there is none, the row's state stands in its place."""
    look = view.looks[row.runtime]
    if row.figures is None:
        return Curve(name="", look=look, spans=(Span(y=place, start=0.0, end=0.0, text=STATES[row.state]),))
    return bar(look, Spot(place, how.blocks(row), of_rows([row]), row.runtime), how.form)
