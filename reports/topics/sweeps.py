"""The section "Parameter sweeps" of a report: charts, and whether throughput falls at a sweep's largest value."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from core.cell import PARAMETERS, Value
from core.messages import NOTHING, Message, listed, message, verbatim
from core.program import PROGRAM
from reports.document.model import Axis, Figure, Panel, Section, interval, traced
from reports.document.shapes import Spot, arm_col, arm_lines, col, table
from reports.document.values import ratio, whole
from reports.facts.cells import Row, by_system, grouped, of_cells
from reports.facts.comparisons import doubt, looks_at
from reports.facts.figures import requests_per_s
from reports.facts.gates import gate, state_gate
from reports.facts.settings import about, labels, shown, value_text, varying
from reports.statistics.significance import SHARES
from reports.statistics.verdict import Verdict, falls
from reports.view import View

PLACE = 45
WANTED = message("How throughput grows with the number of workers and clients")
COMMAND = f"{PROGRAM} --experiment scaling"
GROWING = ("NUM_WORKERS_PER_API_SERVICE", "NUM_CLIENTS", "NUM_MULTI_SOCKET")
FEWEST_VALUES = 6
LOG_FROM_RATIO = 8
MARGIN = 0.04
MOST_TICKS = 9


def section(view: View) -> Section:
    """Return the report's section on parameter sweeps: charts, and whether throughput falls at the largest value."""
    sentences = _end_sentences(view)
    measured = by_system(row for row in view.rows if row.figures)
    return Section(
        "sweeps",
        message("Parameter sweeps"),
        sentences=sentences,
        figures=[figure for system, rows in measured for figure in _figures(system, rows, view)],
        terminal=sentences,
    )


def is_measured(view: View) -> bool:
    """Return whether any sweep of the run has enough values to show how throughput grows."""
    return bool(_end_sentences(view))


def _end_sentences(view: View) -> list[Message]:
    """Return a sentence per runtime and sweep of at least 6 values: whether throughput falls at the largest value.

    The p values of all comparisons with the largest value of a sweep are adjusted together.
    """
    swept, gates = {}, {}
    for name in GROWING:
        every = [each for each in view.cells.series((name,)) if len(each.values(name)) > 1]
        for each, label in zip(every, labels(every), strict=True):
            for arm in each.arms:
                cells = {value: mine for value, mine in each.by_value(name, arm).items() if value > 0}
                if len(cells) >= FEWEST_VALUES:
                    swept[name, label, arm] = cells
                    mine = [cell for cell in (*each.cells, *each.bad) if cell.arm == arm]
                    gates[name, label, arm] = gate(mine) or state_gate(mine) or doubt(view.comparisons)
    rates = {
        key: {value: {cell.block: requests_per_s(cell) for cell in mine} for value, mine in cells.items()}
        for key, cells in swept.items()
        if not gates[key]
    }
    found = falls(rates, looks=looks_at(view.run), share=SHARES["sweep"])
    return [
        traced(about(_end_sentence(max(cells), found.get(key), gates[key]), *key), of_cells(chain(*cells.values())))
        for key, cells in swept.items()
    ]


def _end_sentence(last: int, fall: tuple[int, Verdict] | None, unknown: Message) -> Message:
    """Return the sentence on whether throughput falls at the largest parameter value of a sweep.

    fall: the value with the largest excess over the throughput at *last*, and the verdict; None without a fall
    unknown: why the sweep allows no finding, or NOTHING
    """
    if unknown:
        return message(
            "it is not known whether throughput falls at the largest value of the sweep, {last}: {reason}.",
            last=last, reason=unknown,
        )  # fmt: skip
    if fall is None:
        return message(
            "throughput at the largest value of the sweep, {last}, is not shown to be lower than at a smaller value.",
            last=last,
        )
    most, verdict = fall
    return message(
        "throughput falls at the end of the sweep: throughput at the largest value, {last}, is {share} times the "
        "throughput at {most}.",
        last=last,
        share=interval(verdict.ratio or 0.0, verdict.low or 0.0, verdict.high or 0.0, ratio),
        most=most,
    )


def _figures(system: str, rows: Sequence[Row], view: View) -> Iterator[Figure]:
    """Yield a chart for each integer parameter that varies while the other parameters stay the same."""
    names = varying(rows)
    for place, name in enumerate(names):
        follows = [other for other in names if other != name and _determines(name, other, rows)]
        is_drawn = any(other in follows and _determines(other, name, rows) for other in names[:place])
        if name in PARAMETERS and PARAMETERS[name].kind is int and not is_drawn:

            def title(row: Row, left_out: Sequence[str] = (name, *follows)) -> Message:
                params = {key: row.params[key] for key in row.params if key not in left_out}
                return listed([view.settings.values(replace(row, params=params))])

            panels = grouped(rows, title)
            swept = {head: panel for head, panel in panels.items() if len({row.params[name] for row in panel}) > 1}
            if swept:
                yield _figure(system, name, follows, swept, view)


def _determines(name: str, other: str, rows: Sequence[Row]) -> bool:
    """Return whether each value of the parameter *name* occurs with only one value of the parameter *other*."""
    pairs = {tuple(shown(row, (name, other)).items()) for row in rows}
    return len(pairs) == len({pair[0] for pair in pairs if pair})


def _figure(
    system: str, name: str, follows: Sequence[str], panels: Mapping[Message, Sequence[Row]], view: View
) -> Figure:
    """Return the chart of throughput or completion time by one swept parameter.

    follows: parameters that change together with *name*
    panels: rows by the values of their other parameters
    """
    how = view.measure
    rows = [row for panel in panels.values() for row in panel]
    places = places_of(row.params[name] for row in rows)
    named = [(title if len(panels) > 1 else NOTHING, panel) for title, panel in panels.items()]

    def label(parameter: str) -> Message:
        if not follows:
            return verbatim(parameter)
        return message("{parameter} (changed together with {others})", parameter=parameter, others=listed(follows))

    def spot(row: Row) -> tuple[str, Spot]:
        return row.runtime, Spot(places[row.params[name]], how.blocks(row), row.trace, row.runtime)

    across = swept_axis(places, label(PARAMETERS[name].label))
    up = Axis(how.label, high=1.05 * how.most(rows))
    title = message("{parameter} - {system}", parameter=label(name), system=view.settings.head(system))
    return Figure(
        f"sweep-{name.lower()}-{system}",
        title,
        caption=message(
            "Lines show medians over blocks (measured rounds). Marks show single blocks. {better}", better=how.better
        ),
        panels=[
            Panel(title=head, across=across, up=up, curves=arm_lines(map(spot, panel), view.looks, how.form))
            for head, panel in named
        ],
        table=table(
            title,
            [
                arm_col("runtime", view.looks),
                col(verbatim(name), lambda row: value_text(row.params[name]), whole),
                col(how.label, how.median, how.form, how.figure),
            ],
            named,
        ),
    )


def places_of(values: Iterable[Value]) -> dict[Value, float]:
    """Return each parameter value's x position: the value itself, or its index if one of the values is `none`."""
    different = set(values)
    numbers = sorted(value for value in different if isinstance(value, int))
    if None in different:
        return {value: float(place) for place, value in enumerate([*numbers, None])}
    return {value: float(value) for value in numbers}


def swept_axis(places: Mapping[Value, float], label: Message) -> Axis:
    """Return the x axis of a swept parameter: logarithmic for a wide range, with a tick per value for few values."""
    low, high = min(places.values()), max(places.values())
    ticks = tuple((place, value_text(value)) for value, place in places.items()) if len(places) <= MOST_TICKS else ()
    if None not in places and low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        return Axis(label, low=low / room, high=high * room, is_log=True, ticks=ticks)
    room = (high - low) * MARGIN
    return Axis(label, low=low - room, high=high + room, ticks=ticks)
