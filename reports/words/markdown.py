"""The table as Markdown."""

from collections.abc import Callable, Mapping, Sequence

from core.result import Run
from reports.rows.arrangement import shown, varying
from reports.rows.columns import Column, columns
from reports.rows.summary import Row
from reports.words.notes import readings, troubles


def table_page(run: Run, all_rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """The run's rows, what failed, and how to read them. titles: of the systems, by number or name."""
    heading = f"# {run.plan['name']}: {run.run_id}"
    return "\n\n".join([heading, rows_table(all_rows, titles), notes_list(run, all_rows)]) + "\n"


def rows_table(all_rows: Sequence[Row], titles: Mapping[str, str], tell: Callable[[str], str] = str) -> str:
    """One line per row: system, the parameters that vary, runtime, the figures. tell: gives a text in a language."""
    names, figures = varying(all_rows), columns(all_rows)
    titled = any(row.title for row in all_rows)
    of_figures = [tell(column.head) for column in figures]
    heads = [tell("system"), *([tell("row")] if titled else []), *names, tell("runtime"), *of_figures, tell("status")]
    lines = [
        [
            _system(row.system, titles),
            *([row.title] if titled else []),
            *(shown(row, names).get(name, "") for name in names),
            row.runtime,
            *_texts(row, figures),
            tell(row.trouble or row.state),
        ]
        for row in all_rows
    ]
    return markdown_table(heads, lines, set(of_figures))


def notes_list(run: Run, all_rows: Sequence[Row], tell: Callable[[str], str] = str) -> str:
    """The notes below a table, as a list. tell: gives a text in a language."""
    return "\n".join(f"- {escaped(tell(line))}" for line in troubles(run, all_rows) + readings(run, all_rows))


def markdown_table(heads: Sequence[str], lines: Sequence[Sequence[str]], right: set[str] | None = None) -> str:
    """A table whose source is aligned too. right: heads of columns that hold numbers."""
    cells = [[escaped(text) for text in line] for line in (heads, *lines)]
    widths = [max(3, *(len(line[column]) for line in cells)) for column in range(len(heads))]
    numeric = [head in (right or set()) for head in heads]
    rule = [f"{'-' * (width - 1)}:" if number else "-" * width for width, number in zip(widths, numeric, strict=True)]
    padded = [
        [
            f"{text:>{width}}" if number else f"{text:<{width}}"
            for text, width, number in zip(line, widths, numeric, strict=True)
        ]
        for line in (cells[0], rule, *cells[1:])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def escaped(text: str) -> str:
    """Text that stands in a table cell or a list as it is: one line, and no mark-up of its own."""
    line = " ".join(text.split())
    for mark in ("\\", "|", "<", "*", "`"):
        line = line.replace(mark, f"\\{mark}")
    return line


def _system(system: str, titles: Mapping[str, str]) -> str:
    return f"{system} {titles[system]}" if system in titles else system


def _texts(row: Row, figures: Sequence[Column]) -> list[str]:
    return [column.of(row) for column in figures]
