"""Sections and tables on a terminal: tables that fit its width, with bars if possible.

print_section() prints what a section has in its field `terminal`. Widths are in columns of the
terminal, and a Chinese character takes two. A bar is the first drawing (Strip) with bars in a line
of the table. console.py makes the console, and breaks lines.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from textwrap import indent
from typing import NamedTuple

from rich.align import VerticalAlignMethod
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from core.languages import Language, for_terminal, on_one_line
from core.messages import Message
from reports.document import Column, Line, Section, Strip, Table
from reports.render.console import wrapped

GAPS = (2, 1)  # between columns; the first that lets all columns fit is used
LEAST_BAR, MOST_BAR = 8, 24  # width of bars
BAR_RANK = 6  # a bar is preferred to columns with a higher rank (Column.rank)
INDENT = 2  # of lines below the title of their group
# styles of rich, by a CSS class of Datum.state; the first that matches counts
STYLES = {"faster": "green", "slower": "red", "failed": "red", "trouble": "red", "passed": "green"}
Columns = list[tuple[int, JustifyMethod]]  # width and alignment


def print_section(section: Section, console: Console, language: Language) -> None:
    """Print those sentences and tables of a section that are meant for a terminal."""
    for part in section.terminal:
        if isinstance(part, Table):
            print_table(part, console, language)
        else:
            print_sentence(part, console, language)


def print_sentence(
    sentence: Message, console: Console, language: Language, style: str = ""
) -> None:
    """Print a sentence, wrapped at the width of the console. Print nothing if the sentence is
    empty.
    """
    if sentence:
        console.print(
            Text(for_terminal(wrapped(language.text(sentence), console.width)), style=style)
        )


def print_table(table: Table, console: Console, language: Language) -> None:
    """Print a table with as many columns as fit, and bars in the remaining width. Numbers are never
    wrapped.

    If not even the most important columns fit, each figure is on a line of its own.
    """
    if not table:
        return
    layout = _layout(table, console.width, language)
    if table.titled:
        print_sentence(table.name, console, language, "bold")
    if layout is None:
        _print_lists(table, console, language)
    else:
        _print_grid(table, layout, console, language)
    print_sentence(table.caption, console, language, "dim")


def _print_lists(table: Table, console: Console, language: Language) -> None:
    """Print each line of a table as a list: its first cell, and below it the head and text of each
    other cell.
    """
    for head, lines in table.groups:
        if lines:
            print_sentence(head, console, language, "bold")
        for line in lines:
            heads = ["", *(_brief(column, language) for column in table.columns[1:])]
            for index, name in enumerate(heads[: len(line)]):
                text = _text(line, index, language)
                space = INDENT * bool(index)
                said = wrapped(f"{name}: {text}" if name else text, console.width - space)
                if text:
                    console.print(Text(indent(said, " " * space)), soft_wrap=True)


def _print_grid(table: Table, layout: "_Layout", console: Console, language: Language) -> None:
    """Print the columns of a table that *layout* has."""
    shared = _shared_heads(table, layout.widths, layout.gap, language)
    overs = [over for over, _, _ in shared]
    columns: Columns = [
        (width, ("left", "right")[table.columns[index].is_number])
        for index, width in layout.widths.items()
    ]
    heads = [
        wrapped(_brief(table.columns[index], language), width)
        for index, width in layout.widths.items()
    ]
    if any(overs):
        rooms: Columns = [(room, ("right", "center")[len(part) > 1]) for _, part, room in shared]
        _print_rows([map(Text, overs)], rooms, layout, console, "dim")
    if any(heads):
        _print_rows([map(Text, heads)], columns, layout, console, "dim")
    for head, lines in table.groups:
        if lines:
            print_sentence(head, console, language, "bold")
            rows = [_cells(line, layout, console, language) for line in lines]
            _print_rows(rows, columns, layout, console)


def _print_rows(
    rows: Iterable[Iterable[Text | str]],
    columns: Columns,
    layout: "_Layout",
    console: Console,
    style: str = "",
) -> None:
    """Print rows of texts in *columns*. Texts of heads, which are dim, end on the same line."""
    grid = RichTable.grid(padding=(0, layout.gap, 0, 0))
    for width, justify in columns:
        vertical: VerticalAlignMethod = "bottom" if style else "top"
        grid.add_column(width=width, justify=justify, overflow="fold", vertical=vertical)
    for row in rows:
        grid.add_row(*row, style=style)
    console.print(Padding(grid, (0, 0, 0, layout.indent)))


class _Layout(NamedTuple):
    """The layout of a table on a terminal, such as the width of each column in characters.

    indent: indentation of lines under a head; widths: width of each shown column, by index
    gap: space between columns; bar: width of the bars, 0 for none
    """

    indent: int
    widths: Mapping[int, int]
    gap: int
    bar: int


def _layout(table: Table, width: int, language: Language) -> _Layout | None:
    """Return a layout of the columns that fit into *width*. Columns with the highest rank are
    dropped first.

    Columns with a rank above BAR_RANK are dropped to make room for a bar. If even the last columns
    do not fit, their heads are wrapped, and then the widest column without numbers. Words are never
    broken: None if they would be.
    """
    indent = INDENT if any(head for head, _ in table.groups) else 0
    needs = {
        index: max(map(cell_len, _column_texts(table, index, language)))
        for index, column in enumerate(table.columns)
        if not column.is_strip
    }
    shown, has_bars = list(needs), any(_strip(line) for line in table.lines)
    while True:
        for gap in GAPS:
            least = {index: needs[index] for index in shown}
            widths, left = _fitted(table, least, gap, width - indent, language)
            if left >= (LEAST_BAR + gap if has_bars else 0):
                return _Layout(indent, widths, gap, min(MOST_BAR, left - gap) * has_bars)
        last = max(shown, key=lambda index: table.columns[index].rank)
        if table.columns[last].rank > (BAR_RANK if has_bars else 0):
            shown.remove(last)
        elif has_bars:
            shown, has_bars = list(needs), False
        else:
            return _wrapped_layout(table, indent, shown, width, language)


def _wrapped_layout(
    table: Table, indent: int, shown: Sequence[int], width: int, language: Language
) -> _Layout | None:
    """Return a layout with wrapped heads, and if needed a wrapped column of words; None if a word
    would be broken.

    shown: the indices of the columns
    """
    texts = {index: _column_texts(table, index, language) for index in shown}
    least = {
        index: max(_longest_word(head), *map(cell_len, cells))
        for index, (head, *cells) in texts.items()
    }
    gap = GAPS[-1]
    widths, left = _fitted(table, least, gap, width - indent, language)
    if left < 0:
        widest = max(shown, key=lambda index: (not table.columns[index].is_number, widths[index]))
        widths[widest] += left
        longest = max(map(_longest_word, texts[widest]))
        if table.columns[widest].is_number or widths[widest] < longest:
            return None
    for index in shown:
        more = min(max(left, 0), max(cell_len(texts[index][0]) - widths[index], 0))
        widths[index] += more
        left -= more
    return _Layout(indent, widths, gap, 0)


def _fitted(
    table: Table, least: Mapping[int, int], gap: int, width: int, language: Language
) -> tuple[dict[int, int], int]:
    """Return the widths of columns, and how much is left of *width*; less than 0 if they do not
    fit.

    least: the widths that the columns need, by index; titles that they share may need more
    """
    widths = dict(least)
    for over, part, room in _shared_heads(table, least, gap, language):
        widths[part[0]] += max(0, cell_len(over) - room)
    return widths, width - sum(widths.values()) - gap * (len(widths) - 1)


def _column_texts(table: Table, index: int, language: Language) -> list[str]:
    """Return the head of a column, and its text in each line."""
    head = _brief(table.columns[index], language)
    return [head, *(_text(line, index, language) for line in table.lines)]


def _longest_word(text: str) -> int:
    return max(map(cell_len, wrapped(text, 1).split("\n")))


def _shared_heads(
    table: Table, widths: Mapping[int, int], gap: int, language: Language
) -> list[tuple[str, list[int], int]]:
    """Return each title that neighbouring columns share, the indices of these columns, and their
    joint width.
    """
    found = []
    for over, indices in groupby(widths, lambda index: table.columns[index].over):
        part = [*indices]
        width = sum(map(widths.__getitem__, part)) + gap * (len(part) - 1)
        found.append((on_one_line(language.text(over)), part, width))
    return found


def _brief(column: Column, language: Language) -> str:
    return on_one_line(language.text(column.brief or column.head))


def _text(line: Line, index: int, language: Language) -> str:
    """Return the text of a table line in a column; empty if the line ends before the column."""
    return on_one_line(line[index].text(language)) if index < len(line) else ""


def _cells(line: Line, layout: _Layout, console: Console, language: Language) -> list[Text | str]:
    """Return the texts of a table line in the columns of *layout*, and its bar if there is room for
    bars.
    """
    cells: list[Text | str] = []
    for index in layout.widths:
        states = line[index].state.split() if index < len(line) else []
        style = next((style for state, style in STYLES.items() if state in states), "")
        cells.append(Text(_text(line, index, language), style=style))
    if strip := _strip(line):
        share = strip.place(strip.bars[0][1]) / 100
        cells += [bar(share, layout.bar, unicode=not console.options.ascii_only)] * bool(layout.bar)
    return cells


def _strip(line: Line) -> Strip | None:
    """Return the first drawing (strip) with a bar in a table line, or None."""
    return next((datum.strip for datum in line if datum.strip and datum.strip.bars), None)


EIGHTHS = " ▏▎▍▌▋▊▉█"  # of a character: index is the number of filled eighths


def bar(share: float, width: int, *, unicode: bool = True) -> str:
    """Return a text bar that fills *share* (0 to 1) of *width* characters. It is not empty if
    *share* is above 0.
    """
    share = min(1.0, max(0.0, share))
    if not unicode:
        return "#" * max(round(share * width), int(share > 0))
    eighths = max(round(share * width * 8), int(share > 0))
    whole, rest = divmod(eighths, 8)
    return EIGHTHS[8] * whole + EIGHTHS[rest] * (rest > 0)
