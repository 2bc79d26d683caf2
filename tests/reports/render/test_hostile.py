"""Hostile texts, from a service or a file's name, through every renderer: each says them and obeys none."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from analysis.cell_index import Cells
from commands.output import Output
from core.languages import ENGLISH, printable
from core.messages import message, verbatim
from reports.compare import members
from reports.compare.compared_runs import compare_runs, sentence
from reports.document import Axis, Curve, Document, Figure, Mark, Panel, Section, plain_table, traced, words
from reports.exports.texts import cells_sheet, rows_sheet
from reports.render.console import terminal
from reports.render.figures import page_panels, sheet
from reports.render.html import page
from reports.render.markdown import markdown
from reports.render.progress import display
from reports.render.terminal import print_section
from reports.view import View
from tests.reports.reading import elements
from tests.reports.sample import MS, cell_of, faulty, measured, run_of
from tests.tables import table

HOSTILE: dict[str, str] = table(__file__)
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*(::[\w-]+.*?::|##\[)", re.MULTILINE)


def document(text: str) -> Document:
    plain = verbatim(text)
    said = message("Service {name} said: {text}", name=text, text=traced(text, "cells"))
    table = plain_table(plain, (plain, plain), [(words(text), text)], titled=True, caption=plain)
    axis = Axis(label=plain, low=0, high=1)
    curve = Curve(name=text, look=0, line=((0, 0), (1, 1)), marks=(Mark(x=0, y=0, tip=text, cells="cells"),))
    panel = Panel(title=plain, across=axis, up=axis, curves=(curve,))
    section = Section(
        key="s",
        title=plain,
        answer=(said,),
        sentences=(plain, said),
        figures=(Figure(key="f", title=plain, caption=plain, panels=(panel,)),),
        tables=(table,),
        notes=(plain,),
        texts=(plain,),
        terminal=(plain, said, table),
    )
    return Document(name=text, title=plain, about=(plain,), sections=(section,), foot=plain)


@cache
def page_of(text: str) -> str:
    return page(document(text), ENGLISH)


def expect_quiet(printed: str) -> None:
    assert not STEERING.findall(printed)
    assert not COMMAND.findall(printed)


def check_terminal(text: str) -> None:
    stream = io.StringIO()
    for section in document(text).sections:
        print_section(section, terminal(stream), ENGLISH)
    expect_quiet(stream.getvalue())


def check_html(text: str) -> None:
    made, harmless = (elements(page_of(one)) for one in (text, "harmless"))
    assert not STEERING.findall(page_of(text))
    kinds = {(one.name, name) for one in harmless for name in one.attributes} | {("text", "transform")}
    assert {(one.name, name) for one in made for name in one.attributes} <= kinds
    tags, harmless_tags = ([one.name for one in some] for some in (made, harmless))
    assert {*tags} - {"wbr", "span"} <= {*harmless_tags}
    assert tags.count("a") == harmless_tags.count("a")


def check_markdown(text: str) -> None:
    made = markdown(document(text), ENGLISH)
    assert not STEERING.findall(made)
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    harmless = [one.name for one in elements(reader.render(markdown(document("harmless"), ENGLISH)))]
    assert [one.name for one in elements(reader.render(made)) if one.name != "br"] == harmless


def check_csv(text: str) -> None:
    cell = cell_of("1", "3.14")
    run = run_of([measured(cell, 1, [MS]), faulty(cell, 2, "failed", text)])
    run.cells[0].params.update({text: text, "OFFSET": -5})
    for exported in (cells_sheet(run), rows_sheet(Cells(run).rows)):
        fields = [field for line in csv.reader(io.StringIO(exported)) for field in line]
        formulas = [field for field in fields if field.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert all(re.fullmatch(r"-[\d.e+-]*", field) for field in formulas)
        assert not STEERING.findall(exported)
        assert "-5" in fields  # a number stays a number


def check_comparison(text: str) -> None:
    cell = cell_of("1", "3.14")
    a, b = ([measured(cell, 1, [MS]), faulty(cell, 2, "failed", text)] for _ in "AB")
    compared = compare_runs(members([View(run_of(a)), View(run_of(b))], (text, "after")), share=0.05)
    assert not STEERING.findall("".join(printable(ENGLISH.text(sentence(one))) for one in compared.cells))


RENDERERS: dict[str, Callable[[str], None]] = {
    "terminal": check_terminal,
    "html": check_html,
    "markdown": check_markdown,
    "csv": check_csv,
    "comparison": check_comparison,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_hostile_text_is_only_text(renderer: str, kind: str) -> None:
    RENDERERS[renderer](HOSTILE[kind])


def test_hostile_texts_are_only_texts_in_the_files_of_figures() -> None:
    every = [document(text).sections[0].figures[0] for text in HOSTILE.values()]
    figure = replace(every[0], panels=tuple(panel for one in every for panel in one.panels))
    svg = sheet(figure, page_panels(figure, ENGLISH), ENGLISH)
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert not tags & {"script", "img", "foreignObject"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_notes_errors_and_progress_do_not_steer_the_terminal(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = HOSTILE[kind]
    for say in (Output().note, Output().error, Output().print_line):
        say(message("It said: {text}", text=text))
        say(verbatim(text))
    with display() as progress:
        progress.cell_ended(faulty(cell_of("1", "3.14"), 1, "failed", text), 1, 2)
    captured = capsys.readouterr()
    expect_quiet(captured.out + captured.err)
