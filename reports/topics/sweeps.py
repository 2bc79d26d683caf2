"""Sweeps: charts of completion time or throughput against a parameter, and whether throughput falls at the end."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Message, listed, message, verbatim
from core.program import PROGRAM
from reports.document.drawing import Axis, Curve, Panel
from reports.document.model import Figure, Section, Table, interval, traced
from reports.document.shapes import Col, Spot, arm_col, col, line, table
from reports.document.values import ratio, whole
from reports.facts.cells import Row
from reports.facts.falls import Ending, endings
from reports.facts.measures import Measure, measure
from reports.facts.settings import about, value_text
from reports.facts.sweeping import Sweep, sweeps
from reports.facts.traces import of_cells, of_row, of_rows
from reports.topics.axes import places_of, swept_axis
from reports.view import View

PLACE = 60
WANTED = message("How throughput grows with workers and clients")
COMMAND = f"{PROGRAM} --experiment scaling"


def section(view: View) -> Section:
    """A figure for each parameter and system; whether throughput falls, for each sweep of at least 6 values."""
    swept = sweeps([row for row in view.rows if row.figures])
    sentences = tuple(map(_ending, endings(view.run)))
    return Section(
        key="sweeps",
        title=message("Sweeps"),
        sentences=sentences,
        figures=tuple(_figure(sweep, view) for sweep in swept),
        terminal=sentences,
    )


def is_measured(view: View) -> bool:
    """Whether any sweep is long enough to show how throughput grows."""
    return bool(endings(view.run))


def _ending(ending: Ending) -> Message:
    if ending.fall is None:
        sentence = message(
            "throughput at the largest value, {last}, is not shown to be lower than at any smaller value.",
            last=ending.last,
        )
    else:
        most, verdict = ending.fall
        share = interval(verdict.ratio or 0.0, verdict.low or 0.0, verdict.high or 0.0, ratio)
        sentence = message(
            "throughput falls again: at the largest value, {last}, it is {share} of the throughput at {most}.",
            last=ending.last,
            share=share,
            most=most,
        )
    return traced(about(sentence, ending.name, ending.label, ending.arm), of_cells(ending.cells))


def _figure(sweep: Sweep, view: View) -> Figure:
    how = measure(is_timed=view.is_timed)
    rows = [row for panel in sweep.panels for row in panel]
    places = places_of(row.params[sweep.name] for row in rows)
    across = swept_axis(places, _label(sweep, PARAMETERS[sweep.name].label))
    up = Axis(label=how.label, low=0.0, high=1.05 * how.most(rows))
    title = message(
        "{parameter} - {system}", parameter=_label(sweep, sweep.name), system=view.settings.head(sweep.system)
    )
    return Figure(
        key=f"sweep-{sweep.name.lower()}-{sweep.system}",
        title=title,
        caption=message("Line: median over the blocks. Marks: each block. {better}", better=how.better),
        panels=tuple(
            Panel(
                title=_title(sweep, panel, view),
                across=across,
                up=up,
                curves=tuple(_curves(panel, sweep.name, places, how, view)),
            )
            for panel in sweep.panels
        ),
        table=_table(sweep, title, how, view),
    )


def _label(sweep: Sweep, name: str) -> Message:
    """With the parameters that change with it."""
    if not sweep.follows:
        return verbatim(name)
    return message("{parameter} (with {others})", parameter=name, others=listed(sweep.follows))


def _title(sweep: Sweep, panel: Sequence[Row], view: View) -> Message:
    """What the rows of a panel have in common that other panels have not."""
    if len(sweep.panels) < 2:
        return NOTHING
    left_out = (sweep.name, *sweep.follows)
    others = {name: value for name, value in panel[0].params.items() if name not in left_out}
    return verbatim(view.settings.values(sweep.system, others))


def _curves(
    panel: Sequence[Row], name: str, places: Mapping[Value, float], how: Measure, view: View
) -> Iterator[Curve]:
    for runtime in dict.fromkeys(row.runtime for row in panel):
        rows = sorted((row for row in panel if row.runtime == runtime), key=lambda row: places[row.params[name]])
        spots = (Spot(places[row.params[name]], how.blocks(row), of_rows([row]), runtime) for row in rows)
        yield line(runtime, view.looks[runtime], spots, how.form)


def _table(sweep: Sweep, title: Message, how: Measure, view: View) -> Table:
    cols: list[Col[Row]] = [
        arm_col(message("Runtime"), attrgetter("runtime"), view.looks, of_row),
        col(verbatim(sweep.name), lambda row: value_text(row.params[sweep.name]), whole),
        col(how.label, how.median, how.form, of_row, how.figure),
    ]
    return table(title, cols, [(_title(sweep, panel, view), panel) for panel in sweep.panels])
