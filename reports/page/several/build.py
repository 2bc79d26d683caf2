"""side-by-side.html: several runs in one page that needs nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reports.page import environment, forest
from reports.page.build import language, template
from reports.page.look import definitions
from reports.page.pieces import Piece, Sentence
from reports.page.records import record_chapter
from reports.page.several import apart, shared
from reports.page.several.members import Member, fact, members
from reports.page.tables import Datum, Group, Line, Table, heads
from reports.page.texts import TEXTS, TITLES
from reports.rows.view import View
from reports.words.wording import Clause, verdict

NAME = "side-by-side.html"


def page_of_several(views: Sequence[View], *, lang: str = "en") -> str:
    """The page of several runs as HTML, in the order of *views*; the first is A.

    lang: en or zh. Raises BadInput for another language, for fewer than 2 runs or more than 26.
    """
    words = TEXTS[language(lang)]
    some = members(views, words, TITLES.get(lang, {}))
    made: str = template("several.html").render(
        lang=lang,
        words=words,
        definitions=definitions(),
        runs=run_table(some, words),
        runtime_table=runtime_table(some, words),
        verdicts=[(one, _sentences(one, lang)) for one in some],
        told=apart.told(some, words),
        obstacles=apart.obstacles(some, lang),
        remarks=apart.remarks(some, lang),
        forest=shared.forest_of(some, words, lang),
        forest_caption=f"{words['forest_caption']} {forest.legend(words)}.",
        times=shared.times_of(some, words, lang),
    )
    return made


def run_table(some: Sequence[Member], words: Mapping[str, str]) -> Table:
    """Which runs: when, where, of what."""
    names = ("run", "times", "plan_name", "plan_blocks", "cells_ok", "cpu", "cores", "kernel", "commit")
    titles = heads(*(words[name] for name in names), numbers=[words["plan_blocks"], words["cells_ok"]])
    return Table(
        name=words["several_runs"],
        heads=titles,
        groups=(Group(lines=tuple(_run(one) for one in some)),),
        kind="facts",
    )


def _run(one: Member) -> Line:
    run = one.view.run
    ok = len(run.cells) - len(run.failed_cells)
    return (
        Datum(text=one.name, look=one.look, kind="runtime"),
        Datum(text=run.started_at[:16].replace("T", " ")),
        Datum(text=run.plan["name"]),
        Datum(text=str(len({cell.block for cell in run.cells})), kind="number"),
        Datum(text=f"{ok} / {len(run.cells)}", kind="number"),
        Datum(text=fact(run.machine.get("cpu"))),
        Datum(text=fact(environment.cores(run.machine))),
        Datum(text=fact(run.machine.get("kernel"))),
        Datum(text=fact(run.machine.get("commit"))),
    )


def runtime_table(some: Sequence[Member], words: Mapping[str, str]) -> Table:
    """The runtimes of each run, with versions and builds."""
    each = [(one, environment.runtimes(one.view.run, words)) for one in some]
    groups = [Group(head=one.name, lines=made.groups[0].lines) for one, made in each]
    return Table(name=words["runtime"], heads=each[0][1].heads, groups=tuple(groups), kind="facts")


def _sentences(one: Member, lang: str) -> list[Sentence]:
    """The verdict of a run, each figure with the cells that it is about."""
    record = record_chapter(one.view, TEXTS[lang], lang)
    told = [
        Sentence(pieces=tuple(replace(piece, cells=one.cells(piece.cells)) for piece in sentence.pieces))
        for sentence in ((record.headline or record.sentences[:1]) if record else ())
    ]
    for clauses in verdict(one.comparisons, lang):
        named = [(clause, one.cells(one.traces.of(clause.comparison))) for clause in clauses]
        told.append(Sentence(pieces=tuple(_piece(clause, cells) for clause, cells in named)))
    return told or [Sentence(pieces=(Piece(text=TEXTS[lang]["nothing_compared"]),))]


def _piece(clause: Clause, cells: str) -> Piece:
    return Piece(text=f"{clause.text}{clause.end}", cells=cells, figure="verdict")
