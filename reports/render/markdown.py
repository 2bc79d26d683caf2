"""The renderer of a document as Markdown. Only this module escapes texts for Markdown.

reports/write.py writes it as a file of a run, and the commands stress and audit print it.
A section's flame graphs, and the texts that it has for a terminal, are left out.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from core.languages import Language, Printable
from core.messages import Message
from reports.document.model import Document, Line, Section, Table

PICTURE = "plots/{key}.svg"  # reports/write.py writes these files
# characters that mean something within a line: an underscore does not within a word, an ampersand
# only at the start of an entity
_INLINE = re.compile(r"([\\|<*`~\[]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?[0-9A-Za-z]+;))")
# what means something at the start of a line, such as a heading, a list or its number
_BLOCK = re.compile(r"^([#>+=~-](?=[\s#>=~-]|$)|[0-9]{1,9}(?=[.)]\s))")


def markdown(document: Document, language: Language) -> str:
    """Return the document as Markdown, in which figures are links to picture files in plots/.

    Sections with a filtered table, the table of all cells, are left out, because cells.csv has its
    figures.
    """
    language = Printable(language)
    parts = [f"# {_escaped(language.text(document.title))}"]
    parts += [_escaped(language.text(line)) for line in document.about if line]
    shown = (
        section
        for section in document.sections
        if not any(map(attrgetter("filters"), section.tables))
    )
    parts += [text for section in shown for text in _section(section, language, 2)]
    parts += [_escaped(language.text(document.foot))] if document.foot else []
    return "\n\n".join(parts) + "\n"


def _section(section: Section, language: Language, level: int) -> list[str]:
    def texts(messages: Iterable[Message]) -> list[str]:
        return [_escaped(language.text(words)) for words in messages if words]

    listed = texts([*section.answer, *section.sentences])
    pictures = []
    for figure in section.figures:
        # the alternative text of a picture ends at the first bracket
        words = _escaped(language.text(figure.title or figure.caption)).replace("]", "\\]")
        pictures.append(f"![{words}]({PICTURE.format(key=figure.key)})")
    tables = [*(figure.table for figure in section.figures if figure.table), *section.tables]
    body = [
        *(["\n".join(f"- {line}" for line in listed)] if len(listed) > 1 else listed),
        *pictures,
        *(text for made in tables if made for text in _table(made, language, level + 1)),
        *(text for part in section.parts if part for text in _section(part, language, level + 1)),
        *(_block(language.text(block)) for block in section.texts),
        *texts(section.notes),
    ]
    head = _escaped(language.text(section.title))
    return [*([f"{'#' * level} {head}"] if head else []), *body] if body else []


def _table(made: Table, language: Language, level: int) -> list[str]:
    """Return a table as Markdown: a Markdown table for each group of its lines, below the title of
    the group.

    The reason is that Markdown has no titles within a table.
    """
    kept = [index for index, column in enumerate(made.columns) if not column.is_strip]
    heads = [language.text(made.columns[index].head) for index in kept]
    numeric = [made.columns[index].is_number for index in kept]
    parts = (
        [f"{'#' * level} {_escaped(language.text(made.name))}"]
        if made.titled or made.folded
        else []
    )
    for head, lines in made.groups:
        if lines:
            parts += [f"**{_escaped(language.text(head))}**"] if head else []
            parts.append(aligned(heads, [_texts(line, kept, language) for line in lines], numeric))
    return [*parts, *([_escaped(language.text(made.caption))] if made.caption else [])]


def _texts(line: Line, kept: Sequence[int], language: Language) -> list[str]:
    """Return the texts of a table line in the columns that Markdown shows.

    Columns of drawings are dropped. A text in such a column moves to the next column that is kept.
    kept: the indices of the shown columns
    """
    texts = {index: datum.text(language) for index, datum in enumerate(line) if datum.strip is None}
    moved, last = {}, max(texts)
    for place, text in texts.items():
        moved[next((index for index in kept if index >= place), last)] = text
    return [moved.get(index, "") for index in kept]


def aligned(heads: Sequence[str], lines: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Return a Markdown table whose columns are also aligned in its source.

    numeric: whether each column has numbers, which are aligned to the right
    """
    rows = [[*map(_in_line, line)] for line in (heads, *lines)]
    columns = []
    for right, (head, *texts) in zip(numeric, zip(*rows, strict=True), strict=True):
        # a rule has at least three characters
        width = max(3, *map(len, [head, *texts]))
        rule = "-" * (width - 1) + ":" if right else "-" * width
        align = str.rjust if right else str.ljust
        columns.append([align(text, width) for text in (head, rule, *texts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in zip(*columns, strict=True))


def _block(text: str) -> str:
    """Return text as a fenced code block. Its fence is longer than every row of backticks in the
    text.
    """
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


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
