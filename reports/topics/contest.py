"""Rank systems that do the same work (the contestants) by requests per second, for the sections of experiments."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from analysis.cells import Row, grouped
from analysis.comparisons import doubt
from analysis.contests import Contest, Standing, rate, titled
from analysis.formats import Form, hundredths, microseconds, whole
from analysis.measures import THROUGHPUT
from analysis.settings import about
from analysis.stats import Estimate
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.runtime import NATIVE
from core.saved import Absent
from reports.document.model import ABSENT, Datum, Section, Table, estimate, traced
from reports.document.shapes import CellValue, Col, bar_strip, col, table
from reports.view import View

KEY = "record"
RATE = "requests_per_s"  # the figure's name on the page
REQUESTS_S = message("requests/s")
CPU = message("CPU [us]")
MEDIANS: dict[str, tuple[Message, dict[str, Any]]] = {  # by figure of a row: head and other fields of its column
    "p50_ns": (message("p50 [us]"), {}),
    "p99_ns": (message("p99 [us]"), {}),
    "service_cpu_ns_per_request": (message("service CPU [us/request]"), {"over": message("service"), "brief": CPU}),
    "client_cpu_ns_per_request": (message("client CPU [us/request]"), {"over": message("client"), "brief": CPU}),
}


def contest_section(
    title: Message,
    contests: Sequence[Contest],
    columns: Sequence[Col[Standing]],
    caption: Message,
    sentences: Iterable[Message],
    view: View,
) -> Section:
    """Return a report section that ranks the measured systems (contestants) in sentences and a table with bars."""
    every = (*sentences, *doubts(view), *absent_sentences(view))
    standings = [standing for contest in contests for standing in contest.standings]
    most = THROUGHPUT.most(standing.row for standing in standings)

    def bar(standing: Standing) -> Datum:
        row = standing.row
        return Datum(
            strip=bar_strip(THROUGHPUT, row, most, view.looks[row.runtime], str(standing.name)), cells=row.trace
        )

    first, *others = columns
    groups = [(contest.label, contest.standings) for contest in contests]
    cols = [first, col(NOTHING, bar, is_strip=True), *others]
    ranking = table(message("All ranked systems"), cols, groups, kind="bars", caption=caption)
    return Section(KEY, title, sentences=every, tables=(ranking,), terminal=(replace(ranking, caption=NOTHING), *every))


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
