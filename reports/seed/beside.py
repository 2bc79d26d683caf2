"""Our rows beside those of the seed's record. Pure."""

from collections.abc import Sequence

from core.cell import PARAMETERS
from core.messages import NOTHING, Message, listed, message, plural
from reports.document.model import ABSENT, Datum, Line, Section, Table, plain_table, words
from reports.document.values import seconds
from reports.facts.cells import Row, runtimes
from reports.facts.traces import of_rows
from reports.seed.published import INTERPRETERS, MACHINE, REQUESTS, SYSTEMS, SeedRow, SeedSystem, SeedTable
from reports.view import View

TO = message("{start} to {end}")


def covers_the_seed(rows: Sequence[Row]) -> bool:
    """Whether *rows* hold every row that the seed has a table for."""
    published = [(system.system, row) for system in SYSTEMS for table in system.tables for row in table.rows]
    return all(any(_fits(row, system, wanted) for row in rows) for system, wanted in published)


def ours(rows: Sequence[Row], system: str, wanted: SeedRow, runtime: str) -> Row | None:
    """Of *rows*, the one that stands beside the seed's row: it fits, and is most like it; None if none fits."""
    fitting = [row for row in rows if row.runtime == runtime and _fits(row, system, wanted)]
    return max(fitting, key=_likeness, default=None)


def _fits(row: Row, system: str, wanted: SeedRow) -> bool:
    return row.system == system and all(
        name in row.params and row.params[name] == value for name, value in wanted.params.items()
    )


def _likeness(row: Row) -> int:
    """In how many parameters a row agrees with the seed, whose settings are the defaults."""
    return sum(value == PARAMETERS[name].default for name, value in row.params.items() if name in PARAMETERS)


def size_warning(view: View) -> Message:
    """That our cells are not of the seed's size; nothing where they are, or none was measured."""
    sizes = sorted({cell.requests for row in view.rows for cell in row.cells})
    if view.plan.scale == 1 and sizes in ([], [REQUESTS]):
        return NOTHING
    ends = [f"{size:,}" for size in dict.fromkeys((*sizes[:1], *sizes[-1:]))]
    return message(
        "A cell here has {ours} requests, one of the seed's {theirs:,}: the seconds cannot be compared.",
        ours=listed(ends, TO) or message("fewer"),
        theirs=REQUESTS,
    )


def beside_the_seed(view: View) -> Section:
    """Every table of the seed of which the run has a row."""
    made = [_table(system, table, view) for system in SYSTEMS for table in system.tables]
    tables = tuple(table for table in made if table)
    if not tables:
        return Section(key="seed", title=NOTHING)
    note = message(
        "Ours: the median over the clients, in brackets the slowest client, in seconds; {blocks}. The seed's figures "
        "are another machine's ({machine}), one run for each, and no target.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine=MACHINE,
    )
    warning = size_warning(view)
    sentences = (note, warning) if warning else (note,)
    return Section(key="seed", title=message("Beside the seed's record"), sentences=sentences, tables=tables)


def _table(system: SeedSystem, table: SeedTable, view: View) -> Table:
    arms = runtimes(view.run)
    theirs = [message("seed: {interpreter}", interpreter=INTERPRETERS[name]) for name in table.interpreters]
    heads = [*(listed([arm]) for arm in arms), *theirs]
    lines = [line for wanted in table.rows if (line := _line(system.system, table, wanted, view))]
    name = message("{system}. {table}", system=view.settings.head(system.system), table=table.heading)
    return plain_table(name, (NOTHING,), lines, heads, kind="seed", titled=True)


def _line(system: str, table: SeedTable, wanted: SeedRow, view: View) -> Line:
    """Nothing where the run has no figure of it."""
    rows = [ours(view.rows, system, wanted, arm) for arm in runtimes(view.run)]
    if not any(row and row.figures for row in rows):
        return ()
    theirs = [words(wanted.seconds.get(name, ABSENT), state="theirs") for name in table.interpreters]
    return words(wanted.what), *map(_times, rows), *theirs


def _times(row: Row | None) -> Datum:
    return words(times(row), cells=of_rows([row]), figure="completion_s") if row and row.figures else words(ABSENT)


def times(row: Row, unit: str = "") -> str:
    """Completion time, and in brackets the slowest client's; of a row with figures."""
    assert row.figures is not None
    middle, most = (seconds(row.figures[name]) for name in ("completion_median_ns", "completion_max_ns"))
    return f"{middle}{unit} ({most})"
