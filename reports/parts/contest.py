"""Rank systems that do the same work (the contestants) by requests per second, for the sections of
experiments.

The sections of experiments that rank systems (experiments/*/*_section.py) import this module as
`shared`, and reports/sections/limit.py uses doubts(). A contest has the systems that were measured
at one setting, and a standing is one of them with its row of results (analysis/contests.py). A
share is the throughput of a system divided by that of the reference of its contest.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from analysis.comparing import doubt
from analysis.contests import Contest, Standing
from analysis.formats import Form, hundredths
from analysis.metrics import METRICS, Metric
from analysis.stats import Estimate
from core.messages import NOTHING, Message, listed, message, verbatim
from reports.document import Datum, Section, Table, traced
from reports.parts.run_words import absent_sentences
from reports.tables import (
    CellValue,
    Col,
    bar,
    col,
    metric_col,
    most_throughput,
    of_row,
    table,
)
from reports.view import View

KEY = "record"  # id of the section; a report has at most one ranking


class Ranking(NamedTuple):
    """A ranking as an experiment declares it: a table with a line for each service, the fastest
    first.

    name: the head of the first column
    columns: the other columns: the key of a metric and its rank on a narrow terminal
        (Column.rank), or a column of the experiment's own
    """

    title: Message
    name: Message
    columns: Sequence[tuple[str, int] | Col[Standing]]
    caption: Message = NOTHING


def ranking_section(
    ranking: Ranking, contests: Sequence[Contest], view: View, sentences: Iterable[Message] = ()
) -> Section:
    """Return a report section with the ranking of the measured services in a table with bars.

    sentences: those of the experiment
    """
    every = (*sentences, *doubts(view), *absent_sentences(view))
    standings = [standing for contest in contests for standing in contest.standings]
    most = most_throughput(standing.row for standing in standings)

    def drawing(standing: Standing) -> Datum:
        row = standing.row
        return bar(row, most, view.looks[row.runtime], str(standing.name))

    def value(metric: Metric, standing: Standing) -> float | None:
        return of_row(metric, standing.row)

    cols: list[Col[Standing]] = [
        col(ranking.name, "name", leads=True),
        col(NOTHING, drawing, is_strip=True),
    ]
    for column in ranking.columns:
        if isinstance(column, Col):
            cols.append(column)
        else:
            key, rank = column
            cols.append(metric_col(METRICS[key], standings, value, rank=rank))
    groups = [(contest.label, contest.standings) for contest in contests]
    made = table(message("All ranked systems"), cols, groups, kind="bars", caption=ranking.caption)
    return Section(
        KEY,
        ranking.title,
        sentences=every,
        tables=(made,),
        terminal=(replace(made, caption=NOTHING), *every),
    )


def number_col(
    head: Message, read: Callable[[Standing], CellValue], form: Form, **more: Any
) -> Col[Standing]:
    """Return a table column with a number for each ranked system. None and 0 are shown as '-'.

    more: other fields of Column
    """
    return col(head, lambda standing: read(standing) or None, form, "", "trace", **more)


def ratio_col(head: Message, brief: Message, reference: Sequence[str] = ()) -> Col[Standing]:
    """Return a column with the throughput of each system divided by that of the reference system of
    its contest.

    reference: the column is empty in contests whose reference is not one of these systems, if any
        are given
    """

    def share(standing: Standing) -> Estimate | None:
        return standing.share if not reference or standing.base.system in reference else None

    return number_col(head, share, hundredths, brief=brief)


def published(name: Message, text: str, **more: Any) -> Table:
    """Return a table of figures that others have published.

    Catalogs translate the heading of the first column. All other text appears as given.

    text: a line of heads, then the lines of the table, with two or more spaces between columns
    more: other fields of Table
    """
    (first, *heads), *lines = (re.split(" {2,}", line) for line in text.strip().splitlines())
    columns = []
    for place, head in enumerate([Message(msgid=first), *map(verbatim, heads)]):
        # the first line decides for its column; `str` only aligns the texts like numbers
        is_number = lines[0][place][0].isdigit()
        columns.append(col(head, itemgetter(place), str if is_number else None))
    return table(name, columns, [(NOTHING, lines)], **more)


def doubts(view: View) -> Iterator[Message]:
    """Yield a sentence if A/A differs, and one for each row in which some measurements failed or
    are invalid.
    """
    why = doubt(view.comparisons)
    yield from [message("{why}.", why=why)] if why else []
    for row in view.rows:
        if row.trouble:  # a row without figures is in no contest, so nothing else names it here
            name = listed([view.settings.where(row), row.runtime])
            yield traced(message("{name}: {trouble}.", name=name, trouble=row.trouble), row.trace)
