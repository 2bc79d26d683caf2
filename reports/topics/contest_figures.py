"""The figures of contests: bars of requests/s for each setting, and requests/s against what varies."""

from collections.abc import Sequence

from core.cell import PARAMETERS
from core.messages import NOTHING, Message, message, verbatim
from reports.document.drawing import Axis, Curve, Mark, Panel, Span
from reports.document.model import Figure
from reports.document.shapes import tip
from reports.document.values import whole
from reports.facts.figures import requests_per_s
from reports.facts.standings import Contest, Standing
from reports.facts.traces import of_cells, of_rows
from reports.render.strips import round_values
from reports.topics.sweeps import places_of, swept_axis
from reports.view import View

ANSWERED = message("answered requests/s")


def throughput(contests: Sequence[Contest], view: View) -> tuple[Figure, ...]:
    """Bars of requests/s, a panel for each setting; nothing without a contest."""
    figure = Figure(
        key="throughput",
        title=message("Requests a second"),
        caption=message("Bar: median over the blocks. Marks: each block. More is better."),
        panels=tuple(_bars(contest, view) for contest in contests),
    )
    return (figure,) if contests else ()


def _bars(contest: Contest, view: View) -> Panel:
    ranked = contest.standings
    most = 1.04 * max(map(_most, ranked))
    ticks = tuple((value, whole(value)) for value in round_values(0.0, most, 3))
    return Panel(
        title=contest.label,
        across=Axis(label=ANSWERED, low=0.0, high=most, ticks=ticks),
        up=Axis(
            label=NOTHING,
            low=len(ranked) - 0.4,
            high=-0.6,
            ticks=tuple((float(place), standing.name) for place, standing in enumerate(ranked)),
        ),
        curves=tuple(_bar(place, standing, view) for place, standing in enumerate(ranked)),
    )


def _most(standing: Standing) -> float:
    return max(map(requests_per_s, standing.row.good))


def _bar(place: int, standing: Standing, view: View) -> Curve:
    value, cells = standing.requests_per_s, of_rows([standing.row])
    shown = tip(standing.name, whole(value))
    return Curve(
        name="",
        look=view.looks[standing.row.runtime],
        spans=(Span(y=place, start=0.0, end=value, tip=shown, cells=cells, text=whole(value)),),
        marks=_blocks(place, standing),
    )


def _blocks(place: float, standing: Standing, *, is_up: bool = False) -> tuple[Mark, ...]:
    """A mark for each block."""
    marks = []
    for cell in standing.row.good:
        value = requests_per_s(cell)
        x, y = (place, value) if is_up else (value, place)
        marks.append(Mark(x=x, y=y, tip=tip(standing.name, whole(value)), cells=of_cells([cell])))
    return tuple(marks)


def sweeps(contests: Sequence[Contest], view: View) -> list[Figure]:
    """Requests/s against each numeric parameter that varies while the other settings stay as they are."""
    names = dict.fromkeys(name for contest in contests for name in contest.setting)
    swept = [(name, _along(name, contests)) for name in names if name in PARAMETERS and PARAMETERS[name].kind is int]
    return [_sweep(name, panels, view) for name, panels in swept if panels]


def _along(parameter: str, contests: Sequence[Contest]) -> dict[Message, list[Contest]]:
    """The contests that differ in *parameter* alone, by what they have in common."""
    panels: dict[Message, list[Contest]] = {}
    for contest in contests:
        if parameter in contest.setting:
            panels.setdefault(contest.label_without(parameter), []).append(contest)
    return {label: along for label, along in panels.items() if len(along) > 1}


def _sweep(parameter: str, panels: dict[Message, list[Contest]], view: View) -> Figure:
    """A panel for each set of the other settings, a line for each contestant."""
    shown = [contest for along in panels.values() for contest in along]
    places = places_of(contest.setting[parameter] for contest in shown)
    most = max(_most(standing) for contest in shown for standing in contest.standings)
    names = {id(standing.row): standing.name for contest in shown for standing in contest.standings}
    contestants = list(dict.fromkeys(names[id(row)] for row in view.rows if id(row) in names))
    return Figure(
        key=f"throughput-{parameter.lower()}",
        title=message("Requests a second against {parameter}", parameter=parameter),
        caption=message("Line: median over the blocks. Marks: each block. More is better."),
        panels=tuple(
            Panel(
                title=label,
                across=swept_axis(places, verbatim(PARAMETERS[parameter].label)),
                up=Axis(label=ANSWERED, low=0.0, high=1.05 * most),
                curves=tuple(
                    _curve(contestant, look, [(places[contest.setting[parameter]], contest) for contest in along])
                    for look, contestant in enumerate(contestants)
                ),
            )
            for label, along in panels.items()
        ),
    )


def _curve(contestant: Message, look: int, along: Sequence[tuple[float, Contest]]) -> Curve:
    """A contestant at each place where it took part."""
    mine = [
        (place, standing) for place, contest in along for standing in contest.standings if standing.name == contestant
    ]
    mine.sort(key=lambda pair: pair[0])
    return Curve(
        name=contestant,
        look=look,
        line=tuple((place, standing.requests_per_s) for place, standing in mine),
        marks=tuple(mark for place, standing in mine for mark in _blocks(place, standing, is_up=True)),
    )
