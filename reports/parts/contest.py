"""Rank systems that do the same work (the contestants) by requests per second, for the sections of
experiments.

The sections of experiments that rank systems (experiments/*/*_section.py) import this module as
`shared`, and reports/sections/limit.py uses rate_share() and doubts(). A contestant is a row of the
results: one system at one setting under one runtime. A contest has the systems that were measured
at one setting, and a standing is one of them. A share is the throughput of a system divided by that
of the reference of its contest, from checked_ratio() (analysis/gates.py). It has no verdict.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from analysis.cell_index import Row, grouped
from analysis.comparison_words import doubt_of
from analysis.formats import Form, hundredths
from analysis.gates import checked_ratio
from analysis.metrics import METRICS, Metric
from analysis.settings import titled, value_text, varying
from analysis.stats import Estimate
from core.cell import Value
from core.messages import NOTHING, Message, listed, message, verbatim
from core.runtime import NATIVE
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
# a parameter of one contestant: Netty takes part with one thread and with two
OWN_CHOICE = "NUM_SERVER_THREADS"


@dataclass(frozen=True)
class Standing:
    """An entry of a ranking: the name and the measurements of one of the ranked services.

    row:    the measurements of the service (system)
    name:   system, own parameters and runtime, as far as contestants differ in them
    base:   the row of the contestant to which shares refer
    """

    row: Row
    name: Message
    base: Row

    @property
    def share(self) -> Estimate | None:
        """The requests/s of the ranked system, divided by the requests/s of the
        reference system.
        """
        return rate_share(self.row, self.base)

    @property
    def trace(self) -> str:
        """The names of the ranked system's measurements, which links on the page use."""
        return self.row.trace


@dataclass(frozen=True)
class Contest:
    """A ranking (contest) of the systems that were measured at one setting, the fastest first.

    setting: the parameters that vary between contests
    about:   what else the contestants have in common that those of other contests do not have
    """

    setting: Mapping[str, Value]
    standings: Sequence[Standing]
    about: Message

    @property
    def label(self) -> Message:
        """Return the parameters with which the ranked systems were measured; empty if the run has
        only one set.
        """
        values = [f"{name} {value_text(value)}" for name, value in self.setting.items()]
        return listed([*([self.about] if self.about else []), *values])

    @property
    def reference(self) -> Standing:
        """Return the system by whose requests/s the ranking divides the requests/s of
        every system.
        """
        return next(standing for standing in self.standings if standing.row is standing.base)


def contests(
    rows: Sequence[Row],
    titles: Mapping[str, str],
    *,
    reference: Container[str] = (),
    kind: Callable[[Row], Message] = lambda row: NOTHING,
) -> list[Contest]:
    """Return a ranking (contest) of systems for each setting at which they were measured.

    A setting is here a combination of values of the parameters that vary and that all rows of the
    same kind have.
    rows:      rows without figures take no part
    reference: shares refer to the fastest of these systems; to the fastest of all systems if none
        is given
    kind:      returns the kind of a row; only rows of the same kind are ranked together
    """
    measured = [row for row in rows if row.figures]
    names = {common: _setting_names(alike) for common, alike in grouped(measured, kind).items()}
    groups = grouped(
        measured, lambda row: (kind(row), *(row.params[name] for name in names[kind(row)]))
    )
    made = []
    for group in groups.values():
        common, ranked = kind(group[0]), sorted(group, key=rate, reverse=True)
        base = next((row for row in ranked if row.system in reference), ranked[0])
        standings = [Standing(row, _name(row, group, titles, common), base) for row in ranked]
        made.append(Contest({name: base.params[name] for name in names[common]}, standings, common))
    return made


def _setting_names(rows: Sequence[Row]) -> list[str]:
    """Return the names of the parameters whose values distinguish one ranking from another.

    They vary, and all rows have them. OWN_CHOICE is left out if only one of several systems varies
    it.
    """
    systems = grouped(rows, attrgetter("system"))
    choosing = [system for system, own in systems.items() if OWN_CHOICE in varying(own)]
    own_choice = OWN_CHOICE if len(choosing) == 1 and len(systems) > 1 else ""
    in_all = set.intersection(*(set(row.params) for row in rows)) if rows else set()
    return [name for name in varying(rows) if name != own_choice and name in in_all]


def _name(row: Row, group: Sequence[Row], titles: Mapping[str, str], common: Message) -> Message:
    """Return a ranked system's name: its title, the parameters in which its rows differ, and its
    runtime.

    The runtime is left out for native programs and if *common*, what the systems have in common, is
    not empty.
    """
    twins = [
        other for other in group if other.system == row.system and other.runtime == row.runtime
    ]
    values = [f"{name} {value_text(row.params[name])}" for name in varying(twins)]
    runtime = [] if common or row.runtime == NATIVE else [row.runtime]
    return listed([titled(row.system, titles), *values, *runtime])


def rate(row: Row) -> float:
    """Return the requests/s of a row; 0 if the row has no figures."""
    return row.figures["requests_per_s"] if row.figures else 0.0


def rate_share(row: Row, base: Row) -> Estimate | None:
    """Return the throughput of *row* as a share of that of *base*, paired by block; None if a gate
    forbids it.
    """
    ratio = checked_ratio(base.cells, row.cells, NOTHING)
    return ratio if isinstance(ratio, Estimate) else None


# ---- the section of a ranking --------------------------------------------------------------------


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
    why = doubt_of(view.comparisons)
    yield from [message("{why}.", why=why)] if why else []
    for row in view.rows:
        if row.trouble:  # a row without figures is in no contest, so nothing else names it here
            name = listed([view.settings.where(row), row.runtime])
            yield traced(message("{name}: {trouble}.", name=name, trouble=row.trouble), row.trace)
