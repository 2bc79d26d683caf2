"""Show completion time or throughput as bars: one per setting and runtime, with a mark per block (measured round).

The results of the seed project stand beside them.
"""

from collections.abc import Sequence

from core.messages import Message, message
from reports.document.model import Axis, Curve, Figure, Panel, Section, Span
from reports.document.shapes import Spot, bar, named_axis
from reports.facts.cells import STATES, Row
from reports.seed import seed_comparison
from reports.topics.claims import claims
from reports.view import View

PLACE = 51
ROOM = 1.04


def section(view: View) -> Section:
    """Return the section on throughput or completion time, without its chart if the experiment has its own section."""
    seed = () if view.is_timed else (seed_comparison(view), claims(view))
    drawn = () if view.plan.view or not any(row.figures for row in view.rows) else (figure(view),)
    return Section("completion", _title(view), figures=drawn, parts=seed, folded=True)


def _title(view: View) -> Message:
    return message("Throughput") if view.is_timed else message("Completion time")


def figure(view: View) -> Figure:
    """Return a bar chart with a panel per setting and a bar per runtime. Settings with the same work share a scale."""
    how = view.measure
    caption = message(
        "Bars show the time that a client process needs for all its requests: median over the clients, then over the "
        "blocks (rounds of measurement). Marks show single blocks. Less is better."
    )
    if view.is_timed:
        caption = message(
            "Bars show requests answered per second, as the median over the blocks (rounds of measurement). Marks show "
            "single blocks. More is better."
        )
    panels = [
        Panel(
            title=view.settings.short(rows[0]),
            across=Axis(how.label, high=ROOM * view.scales[id(rows[0])]),
            up=named_axis([row.runtime for row in rows], message("runtime")),
            curves=_bars(rows, view),
        )
        for rows in view.groups
        if rows[0].params.get("NUM_CLIENTS") != 0  # services without clients take no time
    ]
    return Figure("completion", _title(view), caption=caption, panels=panels)


def _bars(rows: Sequence[Row], view: View) -> list[Curve]:
    """Return a bar for the median of each result row. A row without figures shows a state such as failed."""
    how, bars = view.measure, []
    for place, row in enumerate(rows):
        look, state = view.looks[row.runtime], Span(y=place, start=0.0, end=0.0, text=STATES[row.state])
        spot = Spot(place, how.blocks(row), row.trace, row.runtime)
        bars.append(bar(look, spot, how.form) if row.figures else Curve(name="", look=look, spans=(state,)))
    return bars
