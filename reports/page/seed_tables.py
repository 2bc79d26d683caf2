"""The seed's tables, with our figures in them and the seed's beside. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reports.page.settings import Settings
from reports.page.tables import Datum, Group, Line, Table, heads, number
from reports.page.traces import of_rows
from reports.record import seed
from reports.record.record import ours
from reports.record.seed import SeedRow, SeedSystem, SeedTable
from reports.rows.columns import seconds
from reports.rows.summary import Row, runtimes
from reports.rows.view import View
from reports.words.translation import said


def seed_tables(view: View, settings: Settings, words: Mapping[str, str], lang: str) -> list[tuple[str, Table]]:
    """Head and table of every table of the seed of which the run has a row."""
    found = []
    for system in seed.SYSTEMS:
        for table in system.tables:
            head = f"{settings.head(system.system)}. {said(table.heading, lang)}"
            made = _table(system, table, view, words, lang)
            if made:
                found.append((head, replace(made, name=head)))
    return found


def sizes(rows: Sequence[Row]) -> list[int]:
    """How many requests the cells have, those sizes that there are."""
    return sorted({cell.requests for row in rows for cell in row.cells})


def _table(system: SeedSystem, table: SeedTable, view: View, words: Mapping[str, str], lang: str) -> Table | None:
    arms = runtimes(view.run)
    lines = [line for wanted in table.rows if (line := _line(system.system, table, wanted, view, lang))]
    theirs = [words["seed_head"].format(name=_interpreter(one, words)) for one in table.interpreters]
    numbers = [*arms, *theirs]
    titles = heads("", *numbers, numbers=numbers)
    return (
        Table(name=said(table.heading, lang), heads=titles, groups=(Group(lines=tuple(lines)),), kind="seed")
        if lines
        else None
    )


def _interpreter(name: str, words: Mapping[str, str]) -> str:
    return words["seed_unnamed"] if name == seed.UNNAMED else name


def _line(system: str, table: SeedTable, wanted: SeedRow, view: View, lang: str) -> Line | None:
    found = [ours(view.rows, system, wanted, arm) for arm in runtimes(view.run)]
    if not any(row is not None and row.figures for row in found):
        return None
    theirs = [Datum(text=wanted.seconds.get(one, "-"), kind="number theirs") for one in table.interpreters]
    return Datum(text=said(wanted.what, lang)), *(_ours(row) for row in found), *theirs


def _ours(row: Row | None) -> Datum:
    if row is None or row.figures is None:
        return number("-")
    told = f"{seconds(row.figures.completion_ns)} ({seconds(row.figures.completion_max_ns)})"
    return number(told, of_rows([row]), "completion_s")
