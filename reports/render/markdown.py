"""The renderer of a document as Markdown. Only this module escapes texts for Markdown.

reports/write.py writes it as a file of a run, and the commands stress and audit print it.
templates/document.md has the order of the blocks, and leaves out a section's flame graphs and the
texts that it has for a terminal.
"""

import re
from collections.abc import Sequence

from core.languages import Language, Printable
from core.messages import Message
from reports.document import Document, Line, Table
from reports.render.html import environment

# characters that mean something within a line: an underscore does not within a word, an ampersand
# only at the start of an entity
_INLINE = re.compile(r"([\\|<*`~\[]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?[0-9A-Za-z]+;))")
# what means something at the start of a line, such as a heading, a list or its number
_BLOCK = re.compile(r"^([#>+=~-](?=[\s#>=~-]|$)|[0-9]{1,9}(?=[.)]\s))")


def markdown(document: Document, language: Language) -> str:
    """Return the document as Markdown, in which figures are links to picture files in plots/, which
    reports/write.py writes.

    Sections with a filtered table, the table of all cells, are left out, because cells.csv has its
    figures.
    """
    language = Printable(language)

    def text(words: Message) -> str:
        return _escaped(language.text(words))

    def fenced(words: Message) -> str:
        """Return a fenced code block, whose fence is longer than every row of backticks in it."""
        block = language.text(words)
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block)), default=0))
        return f"{fence}\n{block}\n{fence}"

    def grid(table: Table, lines: Sequence[Line]) -> str:
        return _grid(table, lines, language)

    template = environment().get_template("document.md")
    return template.render(document=document, text=text, fenced=fenced, grid=grid) + "\n"


def _grid(table: Table, lines: Sequence[Line], language: Language) -> str:
    """Return lines of a table as a Markdown table whose columns are also aligned in its source.

    Columns of drawings are dropped.
    """
    kept = [index for index, column in enumerate(table.columns) if not column.is_strip]
    heads = [language.text(table.columns[index].head) for index in kept]
    shown = [_texts(line, kept, language) for line in lines]
    rows = [[*map(_in_line, row)] for row in (heads, *shown)]
    columns = []
    for index, (head, *texts) in zip(kept, zip(*rows, strict=True), strict=True):
        is_number = table.columns[index].is_number
        # a rule has at least three characters
        width = max(3, *map(len, [head, *texts]))
        rule = "-" * (width - 1) + ":" if is_number else "-" * width
        align = str.rjust if is_number else str.ljust
        columns.append([align(text, width) for text in (head, rule, *texts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in zip(*columns, strict=True))


def _texts(line: Line, kept: Sequence[int], language: Language) -> list[str]:
    """Return the texts of a table line in the columns that Markdown shows. A text in a column of
    drawings moves to the next column that is kept.

    kept: the indices of the shown columns
    """
    texts = {index: datum.text(language) for index, datum in enumerate(line) if datum.strip is None}
    moved, last = {}, max(texts)
    for place, text in texts.items():
        moved[next((index for index in kept if index >= place), last)] = text
    return [moved.get(index, "") for index in kept]


def _escaped(text: str) -> str:
    """Return text escaped for the start of a line, where it must not become a heading, quotation,
    list or rule.
    """
    return _BLOCK.sub(
        lambda mark: f"{mark[0]}\\" if mark[0].isdigit() else f"\\{mark[0]}", _in_line(text)
    )


def _in_line(text: str) -> str:
    """Return text on one line, escaped for use within a line, such as in a table cell."""
    return _INLINE.sub(r"\\\1", " ".join(text.split()))
