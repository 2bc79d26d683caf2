"""Completion time, or throughput, of every setting and arm: bars with a mark for each block; the seed's tables."""

from collections.abc import Sequence

from core.messages import Message, message
from reports.document.drawing import Axis, Curve, Panel, Span
from reports.document.model import Figure, Section
from reports.document.shapes import Spot, bar, named_axis
from reports.facts.cells import STATES, Row
from reports.facts.traces import of_row
from reports.seed import seed_comparison
from reports.view import View

PLACE = 50
ROOM = 1.04


def section(view: View) -> Section:
    """Return the bars; none if an experiment has a view of its own, which draws its contestants."""
    seed = () if view.is_timed else (seed_comparison(view),)
    drawn = () if view.plan.view or not any(row.figures for row in view.rows) else (figure(view),)
    return Section(key="completion", title=_title(view), figures=drawn, parts=seed)


def _title(view: View) -> Message:
    return message("Throughput") if view.is_timed else message("Completion time")


def figure(view: View) -> Figure:
    """Return a panel for each setting, a bar for each arm; one scale for settings of the same work."""
    how = view.measure
    caption = message(
        "What a client process takes for all of its requests: median over the clients, median over the blocks. "
        "Marks: each block. Less is better."
    )
    if view.is_timed:
        caption = message("Requests answered in a second: median over the blocks. Marks: each block. More is better.")
    panels = tuple(
        Panel(
            title=view.settings.short(rows[0].system, rows[0].params),
            across=Axis(label=how.label, low=0.0, high=ROOM * view.scales[id(rows[0])]),
            up=named_axis([row.runtime for row in rows], message("runtime")),
            curves=_bars(rows, view),
        )
        for rows in view.groups
        if rows[0].params.get("NUM_CLIENTS") != 0  # services without clients take no time
    )
    return Figure(key="completion", title=_title(view), caption=caption, panels=panels)


def _bars(rows: Sequence[Row], view: View) -> tuple[Curve, ...]:
    """Return a bar to each median; a row without figures has its state instead."""
    how, bars = view.measure, []
    for place, row in enumerate(rows):
        look, state = view.looks[row.runtime], Span(y=place, start=0.0, end=0.0, text=STATES[row.state])
        spot = Spot(place, how.blocks(row), of_row(row), row.runtime)
        bars.append(bar(look, spot, how.form) if row.figures else Curve(name="", look=look, spans=(state,)))
    return tuple(bars)
