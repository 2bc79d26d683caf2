"""Rank systems that do the same work (the contestants) by requests per second, for the sections of experiments."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.runtime import NATIVE
from core.saved import Absent
from reports.document.model import ABSENT, Axis, Datum, Figure, Form, Panel, Section, Strip, Table, estimate, traced
from reports.document.shapes import CellValue, Col, Spot, bar, col, named_axis, table
from reports.document.values import hundredths, microseconds, round_values, whole
from reports.facts.cells import Row, grouped
from reports.facts.comparisons import doubt
from reports.facts.contests import Contest, Standing, rate, titled
from reports.facts.figures import requests_per_s
from reports.facts.settings import about
from reports.statistics.stats import Estimate
from reports.view import View

KEY = "record"
RATE = "requests_per_s"  # the figure's name on the page
REQUESTS_S = message("requests/s")
ANSWERED = message("answered requests/s")
CPU = message("CPU [us]")
MEDIANS: dict[str, tuple[Message, dict[str, Any]]] = {  # by figure of a row: head and other fields of its column
    "p50_ns": (message("p50 [us]"), {}),
    "p99_ns": (message("p99 [us]"), {}),
    "service_cpu_ns_per_request": (message("service CPU [us/request]"), {"over": message("service"), "brief": CPU}),
    "client_cpu_ns_per_request": (message("client CPU [us/request]"), {"over": message("client"), "brief": CPU}),
}
PLACES = (message("Fastest"), message("Second fastest"), message("Slowest"))
ANSWERS = {  # by the number of systems that are named
    1: message("{first} serves {rate} requests/s."),
    2: message("{first} has the highest median, {rate} requests/s. {second} follows with {second_rate}."),
    3: message(
        "{first} has the highest median, {rate} requests/s. {second} follows with {second_rate}, and {last} has the "
        "lowest, {last_rate}."
    ),
}
NAMED = (("first", "rate"), ("second", "second_rate"), ("last", "last_rate"))  # arguments of ANSWERS


Item = TypeVar("Item")


def contest_section(
    title: Message,
    contests: Sequence[Contest],
    columns: Sequence[Col[Standing]],
    caption: Message,
    sentences: Iterable[Message],
    view: View,
) -> Section:
    """Return a report section that ranks the measured systems (contestants) in sentences, figures and a table."""
    every = (*sentences, *doubts(view), *absent_sentences(view))
    name, groups = message("All ranked systems"), [(contest.label, contest.standings) for contest in contests]
    bars = bar_col(attrgetter("rate"), [standing for contest in contests for standing in contest.standings])
    all_of_it = Section(
        "contestants",
        name,
        sentences=every,
        figures=(throughput(contests, view),) if contests else (),
        tables=(table(name, columns, groups, caption=caption),),
    )
    return Section(
        KEY,
        title,
        answer=[*map(answer, contests)] if len(contests) == 1 else (),
        tables=(podiums(contests),) if len(contests) > 1 else (),
        parts=(all_of_it,),
        terminal=(table(name, [*columns, bars], groups), *every),
    )


def name_col(head: Message, name: str | Callable[[Standing], Message] = "name") -> Col[Standing]:
    """Return the table column with the names of the ranked systems. Each name links to the system's measurements."""
    return col(head, name, leads=True)


def number_col(
    head: Message, read: Callable[[Standing], CellValue], form: Form, figure: str = "", **more: Any
) -> Col[Standing]:
    """Return a table column with a number for each ranked system. None and 0 are shown as '-'.

    more: other fields of Column
    """
    return col(head, lambda standing: read(standing) or None, form, figure, "trace", **more)


RATES = number_col(REQUESTS_S, attrgetter("rate"), whole, RATE)


def median_cols(**ranks: int) -> Iterator[Col[Standing]]:
    """Yield a table column for each given figure, such as p50_ns, with its median over the blocks (measured rounds).

    ranks: which columns a narrow terminal leaves out first, by key
    """
    for key, rank in ranks.items():
        head, more = MEDIANS[key]
        yield number_col(head, partial(_median, key), microseconds, rank=rank, **more)


def _median(key: str, standing: Standing) -> float | None:
    return (standing.row.figures or {}).get(key)


def bar_col(read: Callable[[Item], float], items: Iterable[Item]) -> Col[Item]:
    """Return a column of bars for a table on a terminal. The bars of all *items* share one scale."""
    most = max(map(read, items), default=1.0)
    return col(
        NOTHING,
        lambda item: Datum(strip=Strip(high=most, bars=((0.0, read(item), "bar"),))),
        is_strip=True,
    )


def rate_words(row: Row) -> Message:
    """Return the requests/s of a result row as text for a sentence."""
    return traced(whole(rate(row)), row.trace, RATE)


def share_words(share: Estimate | None, row: Row) -> Message:
    """Return a system's share of another's throughput, with its interval, as text for a sentence."""
    return traced(estimate(share, hundredths) if share else ABSENT, row.trace)


def named_rate(standing: Standing) -> dict[str, Any]:
    """Return the name and the requests/s of a ranked system as the arguments of a message."""
    return {"name": standing.name, "rate": rate_words(standing.row)}


def label_sentences(contests: Iterable[Contest], sentence: Callable[[Contest], Message]) -> list[Message]:
    """Return a sentence about each ranking of systems, preceded by the ranking's setting if there are several.

    sentence: makes the sentence about one ranking; rankings for which it returns NOTHING are left out
    """
    return [about(text, contest.label) for contest in contests if (text := sentence(contest))]


def answer(contest: Contest) -> Message:
    """Return a sentence with the names and requests/s of a ranking's fastest, second-fastest and slowest systems."""
    named = _podium(contest)
    args: dict[str, Any] = {}
    for (who, how_fast), standing in zip(NAMED, named, strict=False):
        args |= {who: standing.name, how_fast: rate_words(standing.row)}
    return replace(ANSWERS[len(named)], args=args)


def podiums(contests: Sequence[Contest]) -> Table:
    """Return a table of the fastest, second-fastest and slowest system at each setting."""

    def place(standing: Standing) -> Message:
        return PLACES[min(standing.ranked.index(standing.row), 2)]

    columns = [col("Rank", place), name_col(message("System name")), RATES]
    groups = [(contest.label, _podium(contest)) for contest in contests]
    return table(message("Highest throughput"), columns, groups, kind="standings")


def _podium(contest: Contest) -> Sequence[Standing]:
    return [*contest.standings[:2], *contest.standings[2:][-1:]]


def throughput(contests: Iterable[Contest], view: View) -> Figure:
    """Return a bar chart of the ranked systems' requests/s, with a panel for each setting."""
    panels = []
    for contest in contests:
        spots = [
            Spot(place, list(map(requests_per_s, standing.row.good)), standing.trace, standing.name)
            for place, standing in enumerate(contest.standings)
        ]
        looks = [view.looks[standing.row.runtime] for standing in contest.standings]
        curves = [bar(look, spot, whole) for look, spot in zip(looks, spots, strict=True)]
        most = 1.04 * max(value for spot in spots for value in spot.values)
        ticks = [(value, whole(value)) for value in round_values(0.0, most, 3)]
        across = Axis(ANSWERED, high=most, ticks=ticks)
        up = named_axis([standing.name for standing in contest.standings], room=0.6)
        panels.append(Panel(title=contest.label, across=across, up=up, curves=curves))
    return Figure(
        "throughput",
        message("Requests per second"),
        caption=message(
            "Bars show median requests/s over the blocks (measured rounds). Marks show single blocks. More is better."
        ),
        panels=panels,
    )


def published(name: Message, text: str, **more: Any) -> Table:
    """Return a table of figures that others have published.

    Catalogs translate the heading of the first column. All other text appears as given.

    text: a line of heads, then the lines of the table, with two or more spaces between columns
    more: other fields of Table
    """
    (first, *heads), *lines = (re.split(" {2,}", line) for line in text.strip().splitlines())
    columns = [
        col(head, itemgetter(place), str if lines[0][place][0].isdigit() else None)
        for place, head in enumerate([Message(msgid=first), *map(verbatim, heads)])
    ]
    return table(name, columns, [(NOTHING, lines)], **more)


def doubts(view: View) -> Iterator[Message]:
    """Yield a sentence if A/A differs, and one for each row in which some measurements failed or are invalid."""
    why = doubt(view.comparisons)
    yield from [message("{why}.", why=why)] if why else []
    for row in view.rows:
        if row.trouble and row.figures:
            name = listed([view.settings.where(row), row.runtime])
            yield traced(message("{name}: {trouble}.", name=name, trouble=row.trouble), row.trace)


def absent_sentences(view: View) -> list[Message]:
    """Return a sentence for each reason why systems of the plan were not measured."""
    return [
        message("Not measured: {systems}. Reason: {reason}", systems=systems, reason=reason)
        for reason, systems in by_reason(view.plan.absent, view).items()
    ]


def by_reason(absences: Iterable[Absent], view: View) -> dict[Message, Message]:
    """Return the systems that were not measured as text by reason: 'Netty (Java); uvloop under 3.11, 3.14t'."""
    reasons = grouped(absences, attrgetter("reason")).items()
    return {
        reason: listed(
            (_under(system, [one.runtime for one in same], view)
             for system, same in grouped(alike, attrgetter("system")).items()),
            SEMICOLON,
        )
        for reason, alike in reasons
    }  # fmt: skip


def _under(system: str, runtimes: Sequence[str], view: View) -> Message:
    """Return the title of a system and its runtimes as text. A native program has no runtime."""
    title = message("system {system}", system=system) if system.isdigit() else titled(system, view.titles)
    under = message("{system} under {runtimes}", system=title, runtimes=listed(runtimes))
    return title if runtimes == [NATIVE] else under
