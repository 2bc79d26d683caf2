"""Sections on a terminal, by rich: sentences in lines, tables that fit its width, with bars where there is room."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from core.languages import Language
from core.messages import Message
from reports.document.model import Column, Datum, Section, Table
from reports.terminal.console import shows_unicode, wrapped
from reports.terminal.textbars import bar

GAP = 2
LEAST_BAR, MOST_BAR = 8, 24
STYLES = {"faster": "green", "slower": "red", "failed": "red", "trouble": "red", "passed": "green"}


def print_section(section: Section, console: Console, language: Language) -> None:
    """What a terminal shows of a section; nothing of one that has nothing for it."""
    for part in section.terminal:
        if isinstance(part, Table):
            print_table(part, console, language)
        elif part:
            print_sentence(part, console, language)


def print_sentence(sentence: Message, console: Console, language: Language, style: str = "") -> None:
    """A sentence in as many lines as it takes."""
    console.print(Text(wrapped(printable(language.text(sentence)), console.width), style=style))


def print_table(table: Table, console: Console, language: Language) -> None:
    """The table with as many columns as there is room for, numbers never broken; a bar in what is left."""
    if not table:
        return
    kept, bar_width = _fitting(table, console.width, language)
    made = RichTable(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_edge=False, header_style="dim",
        title=language.text(table.name) if table.titled else None, title_justify="left", title_style="bold",
    )  # fmt: skip
    for index in kept:
        column = table.columns[index]
        made.add_column(
            _head(column, language), justify="right" if column.is_number else "left",
            no_wrap=index > 0 or column.is_number, overflow="fold",
        )  # fmt: skip
    if bar_width:
        made.add_column("", no_wrap=True)
    longest = _longest(table)
    for group in table.groups:
        if group.head and group.lines:
            made.add_section()
            made.add_row(Text(printable(language.text(group.head)), style="bold"))
        for line in group.lines:
            texts = [_cell(line, index, language) for index in kept]
            bars = [bar(_length(line) / longest, bar_width, unicode=shows_unicode(console))] if bar_width else []
            made.add_row(*texts, *bars)
    console.print(made)
    if table.caption:
        print_sentence(table.caption, console, language, "dim")


def _head(column: Column, language: Language) -> str:
    brief = language.text(column.brief or column.head)
    return f"{language.text(column.over)}\n{brief}" if column.over else brief


def _cell(line: Sequence[Datum], index: int, language: Language) -> Text:
    if index >= len(line):
        return Text("")
    datum = line[index]
    style = next((style for state, style in STYLES.items() if state in datum.state.split()), "")
    return Text(printable(datum.text(language)), style=style)


def _fitting(table: Table, width: int, language: Language) -> tuple[list[int], int]:
    """Indices of the columns that fit, those of the highest rank dropped first, and the width of the bars."""
    shown = [index for index, column in enumerate(table.columns) if not (column.is_strip or column.strip)]
    widths = {index: _width(table, index, language) for index in shown}
    has_bars = _longest(table) > 0
    while sum(widths[index] + GAP for index in shown) > width:
        droppable = [index for index in shown if table.columns[index].rank]
        if not droppable:
            break
        shown.remove(max(droppable, key=lambda index: table.columns[index].rank))
    room = min(MOST_BAR, width - sum(widths[index] + GAP for index in shown))
    return shown, room if has_bars and room >= LEAST_BAR else 0


def _width(table: Table, index: int, language: Language) -> int:
    column = table.columns[index]
    texts = [*_head(column, language).split("\n")]
    texts += [line[index].text(language) for line in table.lines if index < len(line)]
    return max(map(cell_len, texts))


def _longest(table: Table) -> float:
    return max((_length(line) for line in table.lines), default=0.0)


def _length(line: Sequence[Datum]) -> float:
    """How long the bar of a line is: that of its strip."""
    strip = next((datum.strip for datum in line if datum.strip), None)
    return max((end for _, end, _ in strip.bars), default=0.0) if strip else 0.0


def printable(text: str) -> str:
    """Text without control characters, which would steer the terminal."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)
