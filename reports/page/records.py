"""The record of an experiment that compares systems (echo, HTTP clients, ...): its tables and what it says. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.page.tables import Datum, Group, Line, Table, heads, number
from reports.page.traces import of_rows
from reports.records import record_of
from reports.summary import Row
from reports.view import View


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """head: the experiment's name; sentences: what its record says; tables: who stands where."""

    head: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def record_chapter(view: View) -> Chapter | None:
    """The record of the view that the run's plan asks for; None for runtimes side by side."""
    record = record_of(view)
    if record is None:
        return None
    tables = tuple(
        Table(
            name=short.title,
            heads=heads(*short.heads, numbers=short.heads[1:]),
            groups=(Group(head=short.title, lines=tuple(_line(line, view) for line in short.lines)),),
        )
        for short in record.shorts(view.rows, view.titles)
    )
    sentences = tuple(dict.fromkeys(record.sentences(view.run, view.rows, view.titles)))
    return Chapter(head=str(view.run.plan["view"]), sentences=sentences, tables=tables)


def _line(texts: Sequence[str], view: View) -> Line:
    """The first text names a contestant, whose cells the others come from."""
    name, *figures = texts
    cells = of_rows(contestant(name, view))
    return (Datum(text=name, cells=cells, leads=bool(cells)), *(number(one, cells) for one in figures))


def contestant(name: str, view: View) -> list[Row]:
    """The rows of the system that *name* begins with, under the runtime that it ends with if it names one."""
    titles = {system: view.titles.get(system, system) for system in dict.fromkeys(row.system for row in view.rows)}
    fitting = [system for system, title in titles.items() if name.startswith(title)]
    system = max(fitting, key=lambda one: len(titles[one]), default="")
    rows = [row for row in view.rows if row.system == system]
    runtimes = {row.runtime for row in rows}
    runtime = next((part for part in name.split(", ")[1:] if part in runtimes), "")
    return [row for row in rows if runtime in ("", row.runtime)]
