"""Sweeps: completion time, or throughput, against a parameter; a panel for each set of the others. Pure."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from core.cell import PARAMETERS, Value
from core.result import CellResult
from reports.page.bars import measure
from reports.page.figures import Figure
from reports.page.panels import Axis, Curve, Mark, Panel
from reports.page.settings import Settings
from reports.page.tables import Group, Table, heads, number, runtime
from reports.page.traces import of_rows
from reports.rows.arrangement import value_text
from reports.rows.comparisons import is_timed
from reports.rows.summary import Row
from reports.rows.sweeping import Sweep, sweeps
from reports.rows.view import View

LOG_FROM_RATIO = 8
MARGIN = 0.04
MOST_TICKS = 9


def swept(view: View, settings: Settings, words: Mapping[str, str]) -> list[Figure]:
    """A figure for each parameter and system."""
    shown = [row for row in view.rows if row.figures]
    better = words["more_is_better" if is_timed(view.run) else "less_is_better"]
    caption = words["sweep_caption"].format(better=better)
    return [_figure(one, view, settings, words, caption) for one in sweeps(shown)]


def _figure(sweep: Sweep, view: View, settings: Settings, words: Mapping[str, str], caption: str) -> Figure:
    of = measure(view)
    label = words["requests_s" if is_timed(view.run) else "completion_s"]
    rows = [row for some in sweep.panels for row in some]
    places = _places(rows, sweep.name)
    follows = f" ({', '.join(sweep.follows)})" if sweep.follows else ""
    across = _across(places, PARAMETERS[sweep.name].label + follows)
    most = max((of(cell) for row in rows for cell in row.good), default=1.0)
    key = f"sweep-{sweep.system}-{sweep.name.lower()}"
    panels = tuple(
        Panel(
            key=f"{key}-{place}",
            title=_title(sweep, some, settings),
            across=across,
            up=Axis(label=label, low=0.0, high=most * 1.05),
            curves=tuple(_curves(some, sweep.name, places, of, settings)),
        )
        for place, some in enumerate(sweep.panels)
    )
    head = f"{sweep.name}{follows}: {settings.head(sweep.system)}"
    return Figure(key=key, head=head, caption=caption, panels=panels, table=_table(sweep, of, settings, words, label))


def _title(sweep: Sweep, some: Sequence[Row], settings: Settings) -> str:
    """What the rows of a panel have in common that other panels have not."""
    left_out = (sweep.name, *sweep.follows)
    params = {name: value for name, value in some[0].params.items() if name not in left_out}
    others = settings.values(sweep.system, params)
    return others if len(sweep.panels) > 1 else ""


def _places(rows: Sequence[Row], name: str) -> dict[Value, float]:
    """Where each value stands: at itself, or, if `none` is among them, one after the other."""
    values = list(dict.fromkeys(row.params[name] for row in rows))
    numbers = {value: float(value) for value in values if isinstance(value, int)}
    if len(numbers) == len(values):
        return dict(sorted(numbers.items(), key=lambda one: one[1]))
    return {value: float(place) for place, value in enumerate([*sorted(numbers, key=numbers.__getitem__), None])}


def _across(places: Mapping[Value, float], label: str) -> Axis:
    low, high = min(places.values()), max(places.values())
    ticks = tuple((place, value_text(value)) for value, place in places.items()) if len(places) <= MOST_TICKS else ()
    if low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        return Axis(label=label, low=low / room, high=high * room, is_log=True, ticks=ticks)
    room = (high - low) * MARGIN
    return Axis(label=label, low=low - room, high=high + room, ticks=ticks)


def _curves(
    some: Sequence[Row],
    name: str,
    places: Mapping[Value, float],
    of: Callable[[CellResult], float],
    settings: Settings,
) -> list[Curve]:
    made = []
    for arm in dict.fromkeys(row.runtime for row in some):
        mine = sorted((row for row in some if row.runtime == arm), key=lambda row: places[row.params[name]])
        line = tuple((places[row.params[name]], median(map(of, row.good))) for row in mine if row.good)
        marks = tuple(
            Mark(x=places[row.params[name]], y=of(cell), tip=f"{arm}: {of(cell):,.4g}", cells=of_rows([row]))
            for row in mine
            for cell in row.good
        )
        made.append(Curve(name=arm, look=settings.looks[arm], line=line, marks=marks))
    return made


def _table(
    sweep: Sweep, of: Callable[[CellResult], float], settings: Settings, words: Mapping[str, str], label: str
) -> Table:
    figure = "requests_per_s" if label == words["requests_s"] else "completion_s"
    form = ",.0f" if figure == "requests_per_s" else ".3f"
    groups = [
        Group(
            head=_title(sweep, some, settings),
            lines=tuple(
                (
                    runtime(row.runtime, settings.looks[row.runtime], of_rows([row])),
                    number(value_text(row.params[sweep.name])),
                    number(f"{median(map(of, row.good)):{form}}", of_rows([row]), figure),
                )
                for row in some
                if row.good
            ),
        )
        for some in sweep.panels
    ]
    titles = heads(words["runtime"], sweep.name, label, numbers=[sweep.name, label])
    return Table(name=f"{sweep.name}: {settings.head(sweep.system)}", heads=titles, groups=tuple(groups))
