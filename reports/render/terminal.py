"""The renderer of sections on a terminal: wrapped sentences, and tables that fit its width, with bars if possible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from core.languages import Language, for_terminal, on_one_line
from core.messages import Message
from reports.document.model import Column, Datum, Group, Section, Strip, Table
from reports.render.console import shows_unicode, wrapped
from reports.render.strips import place

GAPS = (2, 1)
LEAST_BAR, MOST_BAR = 8, 24
BAR_RANK = 6
INDENT = 2
STYLES = {"faster": "green", "slower": "red", "failed": "red", "trouble": "red", "passed": "green"}


def print_section(section: Section, console: Console, language: Language) -> None:
    """Print those sentences and tables of a section that are meant for a terminal."""
    for part in section.terminal:
        if isinstance(part, Table):
            print_table(part, console, language)
        elif part:
            print_sentence(part, console, language)


def print_sentence(sentence: Message, console: Console, language: Language, style: str = "") -> None:
    """Print a sentence, wrapped at the width of the console."""
    console.print(Text(for_terminal(wrapped(language.text(sentence), console.width)), style=style))


def print_table(table: Table, console: Console, language: Language) -> None:
    """Print a table with as many columns as fit, and bars in the remaining width. Numbers are never wrapped."""
    if not table:
        return
    layout = _layout(table, console.width, language)
    if table.titled:
        print_sentence(table.name, console, language, "bold")
    for heads in _heads(table, layout, language):
        console.print(Text(heads, style="dim"))
    for group in table.groups:
        if group.head and group.lines:
            print_sentence(group.head, console, language, "bold")
        if group.lines:
            console.print(_rows(table, group, layout, console, language))
    if table.caption:
        print_sentence(table.caption, console, language, "dim")


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """The layout of a table on a terminal, such as the width of each column in characters.

    indent: indentation of lines under a head; widths: width of each shown column, by index
    gap: space between columns; bar: width of the bars, 0 for none
    """

    indent: int
    widths: Mapping[int, int]
    gap: int
    bar: int


def _layout(table: Table, width: int, language: Language) -> _Layout:
    """Return a layout of the columns that fit into *width*. Columns with the highest rank are dropped first.

    Columns with a rank above BAR_RANK are dropped to make room for a bar.
    """
    indent = INDENT if any(group.head for group in table.groups) else 0
    every = [index for index, column in enumerate(table.columns) if not (column.is_strip or column.strip)]
    has_bars = any(_strip(line) for line in table.lines)
    shown = list(every)
    while True:
        for gap in GAPS:
            widths = _widths(table, shown, gap, language)
            room = width - indent - sum(widths.values()) - gap * (len(widths) - 1)
            if room >= (LEAST_BAR + gap if has_bars else 0):
                return _Layout(indent=indent, widths=widths, gap=gap, bar=min(MOST_BAR, room - gap) * has_bars)
        last = max(shown, key=lambda index: table.columns[index].rank)
        if table.columns[last].rank > (BAR_RANK if has_bars else 0):
            shown.remove(last)
        elif has_bars:
            has_bars, shown = False, list(every)
        else:
            widths = _widths(table, shown, GAPS[-1], language)
            return _narrowed(table, _Layout(indent=indent, widths=widths, gap=GAPS[-1], bar=0), width)


def _narrowed(table: Table, layout: _Layout, width: int) -> _Layout:
    """Return *layout* with one column narrowed to fit *width*: the widest one, preferably without numbers."""
    texts = [index for index in layout.widths if not table.columns[index].is_number] or [*layout.widths]
    widest = max(texts, key=lambda index: layout.widths[index])
    others = sum(layout.widths[index] + layout.gap for index in layout.widths if index != widest)
    room = width - layout.indent - others
    return replace(layout, widths={**layout.widths, widest: max(1, room)})


def _widths(table: Table, shown: Sequence[int], gap: int, language: Language) -> dict[int, int]:
    """Return the width that each column needs for its texts, its title and a title shared with its neighbours."""
    widths = {}
    for over, indices in _under_one_head(table, shown):
        for index in indices:
            texts = [on_one_line(line[index].text(language)) for line in table.lines if index < len(line)]
            widths[index] = max(map(cell_len, [_brief(table.columns[index], language), *texts]))
        joint = sum(widths[index] for index in indices) + gap * (len(indices) - 1)
        widths[indices[0]] += max(0, cell_len(on_one_line(language.text(over))) - joint) if over else 0
    return widths


def _under_one_head(table: Table, shown: Sequence[int]) -> list[tuple[Message, list[int]]]:
    return [(over, list(indices)) for over, indices in groupby(shown, lambda index: table.columns[index].over)]


def _brief(column: Column, language: Language) -> str:
    return on_one_line(language.text(column.brief or column.head))


def _heads(table: Table, layout: _Layout, language: Language) -> list[str]:
    """Return the lines of column titles: two lines if neighbouring columns share a title, else one."""
    gap, upper = " " * layout.gap, []
    for over, indices in _under_one_head(table, list(layout.widths)):
        room = sum(layout.widths[index] for index in indices) + layout.gap * (len(indices) - 1)
        text = on_one_line(language.text(over)) if over else ""
        before = (room - cell_len(text)) // (1 if len(indices) == 1 else 2)
        upper.append(" " * before + text + " " * (room - cell_len(text) - before))
    lower = [
        _aligned(_brief(table.columns[index], language), width, is_right=table.columns[index].is_number)
        for index, width in layout.widths.items()
    ]
    lines = (" " * layout.indent + gap.join(line) for line in (upper, lower))
    return [line.rstrip() for line in lines if line.strip()]


def _aligned(text: str, width: int, *, is_right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if is_right else text + space


def _rows(table: Table, group: Group, layout: _Layout, console: Console, language: Language) -> Padding:
    grid = RichTable.grid(padding=(0, layout.gap, 0, 0))
    for index, width in layout.widths.items():
        justify: JustifyMethod = "right" if table.columns[index].is_number else "left"
        grid.add_column(width=width, justify=justify, overflow="fold")
    for line in group.lines:
        strip = _strip(line)
        length = bar(place(strip, strip.bars[0][1]) / 100, layout.bar, unicode=shows_unicode(console)) if strip else ""
        grid.add_row(*(_cell(line, index, language) for index in layout.widths), *[length] * bool(layout.bar))
    return Padding(grid, (0, 0, 0, layout.indent))


def _strip(line: Sequence[Datum]) -> Strip | None:
    """Return the first drawing (strip) in a table line that contains a bar; None if there is none."""
    return next((datum.strip for datum in line if datum.strip and datum.strip.bars), None)


def _cell(line: Sequence[Datum], index: int, language: Language) -> Text:
    if index >= len(line):
        return Text("")
    datum = line[index]
    style = next((style for state, style in STYLES.items() if state in datum.state.split()), "")
    return Text(on_one_line(datum.text(language)), style=style)


EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int, *, unicode: bool = True) -> str:
    """Return a text bar that fills *share* (0 to 1) of *width* characters. It is not empty if *share* is above 0."""
    share = min(1.0, max(0.0, share))
    if not unicode:
        return "#" * max(round(share * width), int(share > 0))
    eighths = max(round(share * width * 8), int(share > 0))
    whole, rest = divmod(eighths, 8)
    return EIGHTHS[8] * whole + EIGHTHS[rest] * (rest > 0)
