"""What the topics of contests share: the answer, tables whose columns are data, throughput bars and sweeps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from core.messages import NOTHING, Message, message
from reports.document.model import (
    ABSENT,
    Column,
    Datum,
    Form,
    Group,
    Section,
    Strip,
    Table,
    estimate,
    number,
    traced,
    words,
)
from reports.document.values import hundredths, microseconds, whole
from reports.facts.cells import Row
from reports.facts.standings import Contest, Standing
from reports.facts.traces import of_rows
from reports.statistics.stats import Estimate
from reports.topics.absent import absent_sentences
from reports.topics.contest_figures import sweeps, throughput
from reports.view import View

KEY = "record"
RATE = "requests_per_s"  # the figure's name on the page
REQUESTS_S = message("requests/s")
NOTHING_MEASURED = message("Nothing was measured.")
MEDIANS = {  # of a row, with the head of its column and what stands over it on a terminal
    "p50_ns": (message("p50 [us]"), NOTHING),
    "p99_ns": (message("p99 [us]"), NOTHING),
    "service_cpu_ns_per_request": (message("service CPU [us/request]"), message("service")),
    "client_cpu_ns_per_request": (message("client CPU [us/request]"), message("client")),
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
    return traced(whole(row.figures["requests_per_s"] if row.figures else 0.0), of_rows([row]), RATE)


def share_words(share: Estimate | None, row: Row) -> Message:
    """A share with its interval as an argument of a sentence."""
    return traced(estimate(share, hundredths) if share else ABSENT, of_rows([row]))


def rate_column() -> Of[Standing]:
    """Requests/s, in every table of a contest."""
    return figure_column(REQUESTS_S, lambda row: row.figures["requests_per_s"] if row.figures else None, whole, RATE)


def figure_column(
    head: Message, value: Callable[[Row], float | None], form: Form, figure: str = "", *, rank: int = 0
) -> Of[Standing]:
    """A number of a contestant's row; '-' where it has none, or 0."""
    column = Column(head=head, is_number=True, rank=rank)
    return column, lambda standing: number(value(standing.row) or None, form, of_rows([standing.row]), figure)


def median_column(key: str, rank: int) -> Of[Standing]:
    """One of the medians of a row, by its name in Figures."""
    head, over = MEDIANS[key]
    column, show = figure_column(head, lambda row: row.figures[key] if row.figures else None, microseconds, rank=rank)
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
