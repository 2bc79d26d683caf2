"""Our rows beside those of the seed's record."""

from collections.abc import Sequence

from core.cell import PARAMETERS
from core.messages import NOTHING, Message, listed, message, plural, verbatim
from reports.document.model import ABSENT, Datum, Section, Table, plain_table, words
from reports.document.values import seconds
from reports.facts.cells import Row, runtimes
from reports.facts.traces import of_row
from reports.seed.published import INTERPRETERS, MACHINE, REQUESTS, SYSTEMS, SeedRow, SeedSystem, SeedTable
from reports.view import View


def covers_the_seed(rows: Sequence[Row]) -> bool:
    """Return whether *rows* hold every row that the seed has a table for."""
    published = [(system.system, wanted) for system in SYSTEMS for table in system.tables for wanted in table.rows]
    return all(any(_fits(row, system, wanted) for row in rows) for system, wanted in published)


def ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> Row | None:
    """Return the row that fits the seed's, and is most like its settings, which are the defaults; None if none fits."""

    def likeness(row: Row) -> int:
        return sum(value == PARAMETERS[name].default for name, value in row.params.items() if name in PARAMETERS)

    fitting = [row for row in rows if row.runtime == runtime and _fits(row, system, wanted)]
    return max(fitting, key=likeness, default=None)


def _fits(row: Row, system: str, wanted: SeedRow) -> bool:
    return row.system == system and wanted.params.items() <= row.params.items()


def size_warning(view: View) -> Message:
    """Return that our cells are not of the seed's size; nothing if they are, or none was measured."""
    sizes = sorted({cell.requests for row in view.rows for cell in row.cells})
    if view.plan.scale == 1 and sizes in ([], [REQUESTS]):
        return NOTHING
    ends = [f"{size:,}" for size in dict.fromkeys((*sizes[:1], *sizes[-1:]))]
    return message(
        "A cell here has {ours} requests, one of the seed's {theirs:,}: the seconds cannot be compared.",
        ours=listed(ends, message("{start} to {end}")) or message("fewer"),
        theirs=REQUESTS,
    )


def beside_the_seed(view: View) -> Section:
    """Return every table of the seed of which the run has a row."""
    tables = tuple(filter(None, (_table(system, table, view) for system in SYSTEMS for table in system.tables)))
    if not tables:
        return Section(key="seed", title=NOTHING)
    note = message(
        "Ours: the median over the clients, in brackets the slowest client, in seconds; {blocks}. The seed's figures "
        "are another machine's ({machine}), one run for each, and no target.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=MACHINE,
    )
    sentences = tuple(filter(None, (note, size_warning(view))))
    return Section(key="seed", title=message("Beside the seed's record"), sentences=sentences, tables=tables)


def _table(system: SeedSystem, table: SeedTable, view: View) -> Table:
    arms = runtimes(view.run)
    lines = []
    for wanted in table.rows:
        rows = [ours(view.rows, system.system, wanted, arm) for arm in arms]
        if any(row and row.figures for row in rows):
            figures = (words(figure, state="theirs") for figure in wanted.seconds.values())
            lines.append((wanted.what, *map(_times, rows), *figures))
    theirs = [message("seed: {interpreter}", interpreter=INTERPRETERS[name]) for name in table.interpreters]
    name = message("{system}. {table}", system=view.settings.head(system.system), table=table.heading)
    return plain_table(name, (NOTHING,), lines, [*map(verbatim, arms), *theirs], kind="seed", titled=True)


def _times(row: Row | None) -> Datum | str:
    return words(times(row), cells=of_row(row), figure="completion_s") if row and row.figures else ABSENT


def times(row: Row, unit: str = "") -> str:
    """Return the completion time of a row with figures, and in brackets the slowest client's."""
    assert row.figures is not None
    middle, most = (seconds(row.figures[name]) for name in ("completion_median_ns", "completion_max_ns"))
    return f"{middle}{unit} ({most})"
