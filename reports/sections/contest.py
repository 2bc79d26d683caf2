"""What the topics of contests share: the answer, tables whose columns are data, throughput bars and sweeps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from core.cell import PARAMETERS
from core.messages import NOTHING, SEMICOLON, Message, listed, message
from reports.document.axes import places_of, swept_axis
from reports.document.model import (
    ABSENT,
    Axis,
    Column,
    Curve,
    Datum,
    Figure,
    Form,
    Group,
    Mark,
    Panel,
    Section,
    Span,
    Strip,
    Table,
    estimate,
    number,
    traced,
    words,
)
from reports.document.traces import of_cells, of_rows
from reports.document.values import hundredths, microseconds, whole
from reports.render.figures import tip
from reports.render.strips import round_values
from reports.rows.absent import absent_sentences
from reports.rows.standings import Contest, Standing
from reports.rows.summary import Row, requests_per_s
from reports.statistics.stats import Estimate
from reports.view import View

KEY = "record"
RATE = "requests_per_s"  # the figure's name on the page
REQUESTS_S = message("requests/s")
NOTHING_MEASURED = message("Nothing was measured.")
MEDIANS = {  # of a row, with the head of its column and what stands over it on a terminal
    "p50_ns": (message("p50 [us]"), NOTHING),
    "p99_ns": (message("p99 [us]"), NOTHING),
    "service_cpu_ns": (message("service CPU [us/request]"), message("service")),
    "client_cpu_ns": (message("client CPU [us/request]"), message("client")),
}
PLACES = (message("First"), message("Second"), message("Last"))

Item = TypeVar("Item")
Of = tuple[Column, Callable[[Item], Datum]]  # a column, and what it shows of a line's item


def contest_section(
    title: Message,
    contests: Sequence[Contest],
    table: Table,
    sentences: Iterable[Message],
    view: View,
    parts: tuple[Section, ...] = (),
) -> Section:
    """A topic whose contestants are ranked: who is first, all that is said, figures, and the table of each setting."""
    every = (*sentences, *absent_sentences(view))
    rates = [standing.requests_per_s for contest in contests for standing in contest.standings]
    all_of_it = Section(
        key="contestants",
        title=message("All contestants"),
        sentences=every,
        figures=(*throughput(contests, view), *sweeps(contests, view)),
        tables=(table,),
    )
    return Section(
        key=KEY,
        title=title,
        answer=tuple(map(answer, contests)) if len(contests) == 1 else (),
        tables=(standings(contests),) if len(contests) > 1 else (),
        parts=(all_of_it, *parts),
        terminal=(with_bars(table, rates), *every),
    )


def name(standing: Standing) -> Datum:
    """A contestant's name, which leads to its cells."""
    return words(standing.name, cells=of_rows([standing.row]), leads=True)


def rate(row: Row) -> Message:
    """Its requests/s as an argument of a sentence."""
    return traced(whole(row.figures.requests_per_s if row.figures else 0.0), of_rows([row]), RATE)


def share_words(share: Estimate | None, row: Row) -> Message:
    """A share with its interval as an argument of a sentence."""
    return traced(estimate(share, hundredths) if share else ABSENT, of_rows([row]))


def rate_column() -> Of[Standing]:
    """Requests/s, in every table of a contest."""
    return figure_column(REQUESTS_S, lambda row: row.figures.requests_per_s if row.figures else None, whole, RATE)


def figure_column(
    head: Message, value: Callable[[Row], float | None], form: Form, figure: str = "", *, rank: int = 0
) -> Of[Standing]:
    """A number of a contestant's row; '-' where it has none, or 0."""
    column = Column(head=head, is_number=True, rank=rank)
    return column, lambda standing: number(value(standing.row) or None, form, of_rows([standing.row]), figure)


def median_column(key: str, rank: int) -> Of[Standing]:
    """One of the medians of a row, by its name in Figures."""
    head, over = MEDIANS[key]
    column, show = figure_column(head, lambda row: getattr(row.figures, key, None), microseconds, rank=rank)
    return (replace(column, over=over, brief=message("CPU [us]")) if over else column), show


def table_of(
    title: Message, columns: Sequence[Of[Item]], groups: Iterable[tuple[Message, Sequence[Item]]], **more: Any
) -> Table:
    """A line for each item, with what the columns show of it."""
    made = [
        Group(head=head, lines=tuple(tuple(show(item) for _, show in columns) for item in items))
        for head, items in groups
    ]
    return Table(name=title, columns=tuple(column for column, _ in columns), groups=tuple(made), **more)


def published(
    title: Message, heads: Sequence[Message], lines: Iterable[Sequence[str]], numbers: range, **more: Any
) -> Table:
    """A table of the seed's, its figures as they were printed. numbers: the columns that hold some."""

    def column(place: int) -> Of[Sequence[str]]:
        return Column(head=heads[place], is_number=place in numbers), lambda line: words(line[place])

    return table_of(title, [column(place) for place in range(len(heads))], [(NOTHING, list(lines))], **more)


def contest_table(contests: Sequence[Contest], columns: Sequence[Of[Standing]], caption: Message = NOTHING) -> Table:
    """A group for each setting, the contestant with most requests/s first."""
    groups = [(contest.label, contest.standings) for contest in contests]
    return table_of(message("All contestants"), columns, groups, caption=caption)


def with_bars(table: Table, values: Sequence[float]) -> Table:
    """The table for a terminal: a bar for each line, and nothing below it."""
    most = max(values, default=1.0)
    bars = iter([Datum(strip=Strip(low=0.0, high=most, bars=((0.0, value, "bar"),))) for value in values])
    groups = tuple(replace(group, lines=tuple((*line, next(bars)) for line in group.lines)) for group in table.groups)
    return replace(table, columns=(*table.columns, Column(head=NOTHING, is_strip=True)), groups=groups, caption=NOTHING)


def answer(contest: Contest) -> Message:
    """The first, the second and the last, with their requests/s."""
    first, *others = contest.standings
    if not others:
        return message("{first} is first with {rate} requests/s.", first=first.name, rate=rate(first.row))
    second, last = others[0], others[-1]
    args: dict[str, Any] = {
        "first": first.name,
        "rate": rate(first.row),
        "second": second.name,
        "second_rate": rate(second.row),
    }
    if last is second:
        return message("{first} is first with {rate} requests/s, then {second} with {second_rate}.", **args)
    return message(
        "{first} is first with {rate} requests/s, then {second} with {second_rate}; {last} is last with {last_rate}.",
        **args,
        last=last.name,
        last_rate=rate(last.row),
    )


def standings(contests: Sequence[Contest]) -> Table:
    """The same for several settings: a group for each."""
    columns: list[Of[tuple[Message, Standing]]] = [
        (Column(head=message("Place")), lambda placed: words(placed[0])),
        (Column(head=message("Who")), lambda placed: name(placed[1])),
        (Column(head=REQUESTS_S, is_number=True), lambda placed: rate_column()[1](placed[1])),
    ]
    groups = [
        (contest.label, list(zip(PLACES, _first_second_last(contest.standings), strict=False))) for contest in contests
    ]
    return table_of(message("Who serves most"), columns, groups, kind="standings")


def _first_second_last(ranked: Sequence[Standing]) -> list[Standing]:
    return [*ranked[:2], *ranked[2:][-1:]]


def others_shares(standings: Sequence[Standing]) -> Message:
    """Each contestant with its share."""
    clauses = (
        message("{name} {share}", name=standing.name, share=share_words(standing.share, standing.row))
        for standing in standings
    )
    return listed(clauses, SEMICOLON)


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
        across=Axis(label=message("answered requests/s"), low=0.0, high=most, ticks=ticks),
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
    places = places_of(list(dict.fromkeys(contest.setting[parameter] for contest in shown)))
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
                across=swept_axis(parameter, places),
                up=Axis(label=message("answered requests/s"), low=0.0, high=1.05 * most),
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
