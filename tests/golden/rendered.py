"""What a reader gets of a run: page, Markdown, terminal and exports, as lines that can be reviewed."""

import csv
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from io import StringIO
from itertools import groupby
from pathlib import Path

from msgspec import structs
from rich.console import Console

from core.languages import Language, Printable, language
from core.messages import BadInput
from core.program import VERSION
from lab.run.runs import titles
from record.saved_run import CellResult, Run
from reports.compare import members
from reports.compare.compared_runs import compare_runs
from reports.compare.compared_runs import document as comparison_document
from reports.document import Document, Figure
from reports.exports.pyperf_files import export
from reports.exports.texts import cells_sheet, rows_sheet
from reports.render import html
from reports.render.markdown import markdown
from reports.render.terminal import print_section
from reports.view import View
from reports.write import report
from tests.golden.facts import digest, elided, facts
from tests.golden.runs import DOCUMENTS, ROOT, RUNS

LANGUAGES = ("en", "zh")
WIDTHS = (80, 140)
# Of runs with more cells than these, the page is in English and has a line for each section: the Markdown, which is in
# English too, has its sentences. The terminal is always in every language.
LARGE = 50
WHOLE_ROWS, FIRST_ROWS = 8, 4
WHOLE_LINES, FIRST_LINES = 60, 40
PATH = re.compile(r"/(?:home|opt|root|tmp|usr|var)/[\w./+~-]*")
IGNORED = re.compile(r"<(script|style|svg|head)\b.*?</\1>")
BLOCK = re.compile(
    r"</?(h[1-4]|p|li|tr|dt|dd|pre|nav|table|div|section|header|footer|summary|figcaption|caption|details)\b[^>]*>"
)
Files = dict[str, str]


def outputs(name: str) -> Files:
    """Return what is kept of the run or document *name*, by file name."""
    made = _of_document(DOCUMENTS[name]()) if name in DOCUMENTS else _of_run(RUNS[name]())
    return {file: normalised(text) for file, text in made.items()}


def normalised(text: str) -> str:
    """Return *text* without what differs between versions and machines, and without spaces at the ends of lines."""
    text = PATH.sub("PATH", text.replace(str(ROOT), "ROOT").replace(VERSION, "VERSION"))
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines()).strip("\n") + "\n"


def _of_document(document: Document, *, is_large: bool = False) -> Files:
    files = {"facts.txt": "\n".join(facts(document))}
    for name in LANGUAGES:
        spoken = language(name)
        terminals = (f"{width} columns\n{printed(document, spoken, width)}" for width in WIDTHS)
        files[f"terminal.{name}.txt"] = "\n".join(terminals)
        if not is_large or name == "en":
            files[f"page.{name}.txt"] = "\n".join(page_lines(document, spoken, is_large=is_large))
            files[f"findings.{name}.txt"] = "\n".join(short_tables(markdown(document, spoken).split("\n")))
    return files


def _of_run(run: Run) -> Files:
    view = View(run, titles(run))
    document = report(view)
    files = _of_document(document, is_large=len(run.cells) > LARGE)
    if len(run.cells) <= LARGE:
        files |= compared(run)
    files["exports.txt"] = "\n".join(exported(view))
    return files


# ---- the page -----------------------------------------------------------------------------------------------


def page_lines(document: Document, spoken: Language, *, is_large: bool) -> list[str]:
    """Return the texts of the page, an element a line, with its tags as one digest for each section.

    A row of a table is one text. Scripts, styles and drawings are left out.
    """
    page = html.page(document, spoken, panels=lambda figure: _panels(figure, Printable(spoken)))
    lines: list[str] = []
    for part in re.split("(?=<section)", IGNORED.sub("", " ".join(page.split()))):
        title, tags = re.match('<section[^>]*id="([^"]*)', part), re.findall("<[^/][^>]*>", part)
        plain = re.sub("<[^>]*>", "", BLOCK.sub("\n", re.sub(r"<t[dh]\b[^>]*>", "| ", part)))
        texts = [text for line in plain.split("\n") if (text := " ".join(unescape(line).split()))]
        lines.append(f"== {title[1] if title else 'page'}: {len(texts)} texts, {len(tags)} tags {digest(*tags)}")
        lines += [f"texts {digest(*texts)}"] if is_large else short_tables(texts)
    return lines


def _panels(figure: Figure, spoken: Language) -> list[str]:
    """Return the words of each panel in place of its drawing."""
    return [
        "<p>" + " | ".join(
            spoken.text(words).replace("<", "&lt;")
            for words in (panel.across.label, panel.up.label, *(curve.name for curve in panel.curves))
        ) + "</p>"
        for panel in figure.panels
        if panel.curves
    ]  # fmt: skip


def short_tables(texts: Sequence[str]) -> Iterator[str]:
    """Yield the texts; the rows of a long table as the first of them and a digest."""
    for is_table, some in groupby(texts, lambda text: text.startswith("| ")):
        lines = [*some]
        yield from elided(lines, WHOLE_ROWS, FIRST_ROWS, "| {} more rows") if is_table else lines


# ---- the terminal -------------------------------------------------------------------------------------------


def printed(document: Document, spoken: Language, width: int) -> str:
    """Return what a terminal of *width* columns shows, the verdict last."""
    out = StringIO()
    console = Console(
        file=out, width=width, highlight=False, color_system=None, force_terminal=False, legacy_windows=False
    )
    for section in sorted(document.sections, key=lambda section: section.key == "verdict"):
        if section.terminal:
            print_section(section, console, spoken)
            console.print()
    return out.getvalue()


# ---- files for other programs -------------------------------------------------------------------------------


def compared(run: Run) -> Files:
    """Return how the run compares with itself a tenth slower, on a terminal."""
    runs = (run, replace(run, cells=[_slower(cell) for cell in run.cells]))
    try:
        both = compare_runs(members([View(one, titles(one)) for one in runs], "AB"), share=0.05)
    except BadInput as refusal:
        return {"compare.en.txt": str(refusal)}
    page = comparison_document(both)
    files = {}
    for name in LANGUAGES:
        spoken = language(name)
        files[f"compare.{name}.txt"] = "\n".join(_first(printed(page, spoken, WIDTHS[1]).splitlines()))
    return files


def _slower(cell: CellResult) -> CellResult:
    """Return the cell with times that are a tenth longer, and in even blocks a fifth."""
    tenths = 12 if cell.block % 2 == 0 else 11
    clients = [structs.replace(client, completion_ns=client.completion_ns * tenths // 10) for client in cell.clients]
    return replace(cell, wall_ns=cell.wall_ns * tenths // 10, clients=clients)


def exported(view: View) -> Iterator[str]:
    """Yield what the CSV files and the files for pyperf have: a line for each column, or the beginning of a text."""
    yield from _of_files("csv", {"cells.csv": cells_sheet(view.run), "table.csv": rows_sheet(view.rows)})
    with tempfile.TemporaryDirectory() as folder:
        try:
            paths, left_out = export(view, Path(folder))
        except BadInput as refusal:
            yield f"pyperf: refused: {refusal}"
            return
        yield from (f"pyperf left out: {line}" for line in left_out)
        yield from _of_files("pyperf", {path.name: path.read_text() for path in sorted(paths)})


def _of_files(kind: str, texts: Mapping[str, str]) -> Iterator[str]:
    for number, (name, text) in enumerate(texts.items()):
        lines = _columns(text) if name.endswith(".csv") else _values(text)
        yield f"{kind} {name}: {len(lines)} lines {digest(*lines)}"
        if number < 2:
            yield from (f"{kind} {name}: {line}" for line in _first(lines))


def _columns(text: str) -> list[str]:
    heads, *rows = list(csv.reader(text.splitlines())) or [[]]
    lines = []
    for place, head in enumerate(heads):
        values = [row[place] for row in rows]
        shown = f"{values[0][:40]} .. {values[-1][:40]}" if values else ""
        lines.append(f"{head}: {len(values)} values {digest(*values)} {shown}")
    return lines


def _values(text: str) -> list[str]:
    """Return the lines of a JSON document, whose numbers have 9 digits."""
    known = json.loads(text, parse_float=lambda digits: float(f"{float(digits):.9g}"))
    return json.dumps(known, indent=1).splitlines()


def _first(lines: Sequence[str]) -> list[str]:
    return elided(lines, WHOLE_LINES, FIRST_LINES)
