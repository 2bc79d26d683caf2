"""A comparison of two saved runs as a document: the rows and the forest plot of the report of one run."""

from dataclasses import replace

from core.messages import NOTHING, Message, message, verbatim
from reports.compare.members import runs_section
from reports.compare.runs import Compared, ComparedCell
from reports.document.model import ABSENT, Column, Document, Group, Line, Section, Strip, Table, number, words
from reports.facts.traces import of_row
from reports.topics.comparisons import caption, columns, figures, ratio_scale

UNITS = (("s", 10**15), ("ms", 10**12), ("us", 10**9), ("ns", 10**6))


def time_text(time_fs: float | None) -> str:
    """Return femtoseconds for people, with four digits: '1.600 s', '84.21 us'; '-' for none."""
    if time_fs is None:
        return ABSENT
    unit, size = next((unit for unit in UNITS if time_fs >= unit[1]), UNITS[-1])
    return f"{f'{time_fs / size:#.4g}'.rstrip('.')} {unit}"


def document(compared: Compared) -> Document:
    """Return the runs, and the comparison of every cell that both have."""
    about = tuple(message("{letter}: {name}", letter=run.letter, name=run.title) for run in compared.runs)
    whys = dict.fromkeys(
        one.comparison.why for one in compared.cells if one.comparison.verdict in ("inconclusive", "invalid")
    )
    table, notes = _table(compared), (*compared.troubles, *compared.notes)
    brief = replace(table, columns=table.columns[:-1], caption=NOTHING)
    without = (message("No verdict: {why}.", why=why) for why in whys)
    title = message("Comparison")
    section = Section(
        key="comparison", title=title, sentences=notes, tables=(table,), terminal=(*about, brief, *without, *notes)
    )
    sections = (section, runs_section(compared.runs))
    return Document(name=str(title), title=title, about=about, sections=sections, has_cells=False)


def _table(compared: Compared) -> Table:
    """Return a line for each cell, those of a setting together, with the reason last."""
    scale = ratio_scale([one.comparison for one in compared.cells])
    first, *forest = columns(scale, message("Runtime"))
    groups: dict[Message, list[Line]] = {}
    for one in compared.cells:
        head = compared.settings.name(one.comparison.system, one.comparison.params)
        groups.setdefault(head, []).append(_line(one, compared, scale))
    return Table(
        name=message("Comparison"),
        columns=(
            first,
            *(Column(head=verbatim(run.letter), is_number=True) for run in compared.runs),
            *forest,
            Column(head=message("p"), is_number=True, rank=1),
            Column(head=message("Why")),
        ),
        groups=tuple(Group(head=head, lines=tuple(lines)) for head, lines in groups.items()),
        kind="forest", key="forest", caption=caption(),
    )  # fmt: skip


def _line(one: ComparedCell, compared: Compared, scale: Strip) -> Line:
    cells = [run.cells(of_row(row)) for run, row in zip(compared.runs, one.rows, strict=True)]
    return (
        words(one.rows[0].runtime),
        *(words(time_text(time_fs), cells=of) for time_fs, of in zip(one.medians_fs, cells, strict=True)),
        *figures(one.comparison, scale, " ".join(cells)),
        number(one.comparison.p, lambda p: f"{p:.2g}"),
        words(one.comparison.why),
    )
