"""The record of an experiment that compares systems (echo, HTTP clients, ...): its tables and what it says. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.contests.kinds import Record, record_of
from reports.page.pieces import Piece, Sentence, filled
from reports.page.tables import Datum, Group, Line, Table, heads, number
from reports.page.traces import of_rows
from reports.page.workers import WorkersFigure, worker_figures
from reports.rows.standings import Short
from reports.rows.summary import Row
from reports.rows.view import View
from reports.words.absent import absent_lines
from reports.words.translation import said


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """head: the experiment's name; headline: who is first, second and last, or what it says first.

    standings: the same as a table, a group for each setting, where there are several; then the headline is empty
    sentences: all that its record says; tables: who stands where; figures: of workers, where it has some
    """

    head: str
    headline: tuple[Sentence, ...]
    standings: Table | None
    sentences: tuple[Sentence, ...]
    tables: tuple[Table, ...]
    figures: tuple[WorkersFigure, ...] = ()


def record_chapter(view: View, words: Mapping[str, str], lang: str) -> Chapter | None:
    """The record of the view that the run's plan asks for; None for runtimes side by side."""
    record = record_of(view)
    if record is None:
        return None
    shorts = [short for short in record.shorts(view.rows, view.titles) if short.lines]
    sentences = _sentences(record, view, lang)
    ranked = [short for short in shorts if record.ranked and short.rows]
    return Chapter(
        head=str(view.run.plan["view"]),
        headline=() if len(ranked) > 1 else tuple(_standing(short, words) for short in ranked) or sentences[:1],
        standings=_standings(ranked, words) if len(ranked) > 1 else None,
        sentences=sentences,
        tables=tuple(_table(short) for short in shorts),
        figures=worker_figures(view, lang),
    )


def _sentences(record: Record, view: View, lang: str) -> tuple[Sentence, ...]:
    """Each with all cells of the record, but for what tells of systems that have none."""
    cells, without = of_rows(view.rows), {*absent_lines(view.run), *absent_lines(view.run, view.titles)}
    lines = dict.fromkeys(record.sentences(view.run, view.rows, view.titles))
    return tuple(
        Sentence(pieces=(Piece(text=said(line, lang), cells="" if line in without else cells),)) for line in lines
    )


def _standing(short: Short, words: Mapping[str, str]) -> Sentence:
    """The first, the second and the last of a table, with their requests/s."""
    pieces: list[Piece] = []
    for key, place in zip(("is_first", "is_second", "is_last"), _places(short), strict=False):
        row = short.rows[place]
        rate = Piece(text=_rate(row), cells=of_rows([row]), figure="requests_per_s")
        pieces += filled(words[key], name=short.lines[place][0], rate=rate)
    return Sentence(pieces=(*pieces, Piece(text=words["full_stop"])))


def _places(short: Short) -> list[int]:
    """The first line, the second and the last, as far as there are so many."""
    return sorted({0, min(1, len(short.lines) - 1), len(short.lines) - 1})


def _standings(ranked: Sequence[Short], words: Mapping[str, str]) -> Table:
    """The same for several settings: a group for each."""
    groups = tuple(
        Group(
            head=short.title,
            lines=tuple(
                _placed(words[key], short.lines[place][0], short.rows[place])
                for key, place in zip(("first", "second", "last"), _places(short), strict=False)
            ),
        )
        for short in ranked
    )
    titles = heads(words["place"], words["who"], words["requests_s"], numbers=[words["requests_s"]])
    return Table(name=words["standings"], heads=titles, groups=groups, kind="standings")


def _placed(place: str, name: str, row: Row) -> Line:
    cells = of_rows([row])
    return Datum(text=place), Datum(text=name, cells=cells, leads=True), number(_rate(row), cells, "requests_per_s")


def _rate(row: Row) -> str:
    return f"{row.figures.requests_per_s:,.0f}" if row.figures else "-"


def _table(short: Short) -> Table:
    rows: Sequence[Row | None] = short.rows or [None] * len(short.lines)
    lines = tuple(_line(line, row) for line, row in zip(short.lines, rows, strict=True))
    return Table(
        name=short.title,
        heads=heads(*short.heads, numbers=short.heads[1:]),
        groups=(Group(head=short.title, lines=lines),),
    )


def _line(texts: Sequence[str], row: Row | None) -> Line:
    """The first text names a contestant, whose cells the others come from."""
    name, *figures = texts
    cells = of_rows([row]) if row else ""
    return (Datum(text=name, cells=cells, leads=bool(cells)), *(number(one, cells) for one in figures))
