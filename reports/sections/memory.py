"""The section "Memory" of a report: the memory of services and clients, and how that of services
grows with the number of clients.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from analysis.cell_index import Row, grouped, number, of_cells, together
from analysis.formats import MIB, mib, size
from analysis.metrics import METRICS, median_of, memory_bytes
from analysis.settings import about, labels
from core.cell import Value
from core.messages import NOTHING, Message, message, plural, verbatim
from record.comparison import Key, Setting, setting_key
from reports.document import (
    COUNT,
    Axis,
    Curve,
    Datum,
    Figure,
    Mark,
    Panel,
    Section,
    Strip,
    Table,
    traced,
)
from reports.tables import arm_col, col, table, tip
from reports.view import View

PLACE = 80  # in the order of sections (reports/sections/__init__.py)
NOTE = message(
    "Memory is the proportional set size (PSS) at the end of a measurement, while all connections "
    "are open. If the system does not report the PSS, memory is the peak resident set size. "
    "Services share pages with their clients, so the PSS of a service can fall when clients are "
    "added."
)
CLIENTS, MEMORY = "NUM_CLIENTS", METRICS["service_memory_bytes"]
FEWEST_COUNTS = 3  # numbers of clients with known memory


def section(view: View) -> Section:
    """Return the report's section on memory: the memory of each setting and runtime, and its
    growth with the number of clients.
    """
    swept = growths(view)
    sentences = tuple(map(_growth_sentence, swept))
    return Section(
        key="memory",
        folded=True,
        title=message("Memory"),
        sentences=sentences,
        figures=(_figure(swept, view),) if swept else (),
        tables=(_size_table(view),),
        notes=(NOTE,) if swept else (),
        terminal=sentences,
    )


# ---- every row -----------------------------------------------------------------------------------


def _services_bytes(row: Row) -> float:
    return MEMORY.median(row.good) or 0.0


def _clients_bytes(row: Row) -> float | None:
    return median_of(lambda cell: memory_bytes(cell.clients), row.good)


def _size_table(view: View) -> Table:
    """Return a table of the memory that services and clients use, with a line per setting and
    runtime.
    """
    groups = view.groups_with(_services_bytes)
    # Each setting has its own scale.
    longest = {rows[0].key: max(map(_services_bytes, rows)) for _, rows in groups if rows}

    def bar(row: Row) -> Datum:
        length, look = _services_bytes(row), view.looks[row.runtime]
        drawn = (0.0, length, f"bar r{look % COUNT} p{look % COUNT}")
        shown = f"{row.runtime}: {mib(length)} MiB"
        strip = Strip(high=longest[row.key], bars=(drawn,), tip=shown)
        return Datum(strip=strip, cells=row.trace)

    return table(
        message("Memory"),
        [
            arm_col("runtime", view.looks),
            col(NOTHING, bar, is_strip=True),
            col("Services [MiB]", _services_bytes, mib, "memory services"),
            col("Clients [MiB]", _clients_bytes, mib, "memory clients"),
        ],
        groups,
        kind="bars",
        key="memory-sizes",
        caption=message(
            "Proportional set size (PSS) of all services and of all clients at the end of a "
            "measurement, as a median over the blocks (rounds of measurement)."
        ),
    )


# ---- against the number of clients ---------------------------------------------------------------


class MemoryGrowth(NamedTuple):
    """The memory of all services under one runtime in a sweep of the number of clients.

    label: what distinguishes the setting from other swept settings; empty for one
    services: their number
    sizes: the memory in bytes of each measurement with known memory, by number of clients,
        ascending
    cells: names of the measurements, by number of clients
    """

    label: Message
    arm: str
    services: int
    sizes: Mapping[int, Sequence[float]]
    cells: Mapping[int, str]

    @property
    def medians(self) -> dict[int, float]:
        """Return the median memory in bytes by number of clients."""
        return {count: median(sizes) for count, sizes in self.sizes.items()}


def growths(view: View) -> list[MemoryGrowth]:
    """Return how the memory of services grows in each sweep of at least three numbers
    of clients.
    """

    def others(row: Row) -> Key:
        params = {name: value for name, value in row.params.items() if name != CLIENTS}
        return setting_key(row.system, params)

    known = grouped((row for row in view.rows if row.good and CLIENTS in row.params), others)
    swept = {key: rows for key, rows in known.items() if len(_counts(rows)) >= FEWEST_COUNTS}
    made = []
    for label, rows in zip(labels([*map(Setting.of_key, swept)]), swept.values(), strict=True):
        for arm, mine in grouped(rows, attrgetter("runtime")).items():
            made.append(_growth(label, arm, mine))
    return [growth for growth in made if len(growth.sizes) >= FEWEST_COUNTS]


def _counts(rows: Iterable[Row]) -> set[Value]:
    """Return the different numbers of clients of *rows*."""
    return {row.params[CLIENTS] for row in rows}


def _growth(label: Message, arm: str, rows: Sequence[Row]) -> MemoryGrowth:
    by_count = {number(row.good[0], CLIENTS): row for row in rows}
    known = {
        count: [*filter(None, map(MEMORY.read, row.good))]
        for count, row in sorted(by_count.items())
    }
    return MemoryGrowth(
        label,
        arm,
        services=number(rows[0].good[0], "NUM_API_SERVICES"),
        sizes={count: sizes for count, sizes in known.items() if sizes},
        cells={count: of_cells(row.good) for count, row in by_count.items()},
    )


def _growth_sentence(growth: MemoryGrowth) -> Message:
    """Return a sentence on the memory of the services under one runtime, with the fewest and with
    the most clients.
    """
    (few, least), *_, (many, most) = growth.medians.items()
    sentence = message(
        "the memory of {who} is {least} with {few} and {most} with {many}.",
        who=plural("the service", "the {count} services together", count=growth.services),
        least=size(least),
        few=plural("{count} client", "{count} clients", count=few),
        most=size(most),
        many=plural("{count} client", "{count} clients", count=many),
    )
    return traced(about(sentence, growth.label, growth.arm), together(growth.cells.values()))


def _figure(mine: Sequence[MemoryGrowth], view: View) -> Figure:
    """Return a chart of the memory of services by number of clients, with a panel per setting."""
    most = max(max(sizes) for growth in mine for sizes in growth.sizes.values()) / MIB
    counts = [count for growth in mine for count in growth.sizes]
    room = 0.04 * (max(counts) - min(counts))
    across = Axis(label=verbatim(CLIENTS), low=min(counts) - room, high=max(counts) + room)
    up = Axis(label=message("memory [MiB]"), low=0.0, high=1.05 * most)
    panels = []
    for label, of_setting in grouped(mine, attrgetter("label")).items():
        curves = [_curve(growth, view) for growth in of_setting]
        panels.append(Panel(title=label, across=across, up=up, curves=curves))
    return Figure(
        key="memory-services",
        title=message("Memory of all services by number of clients"),
        caption=message("Marks show single measurements. The line connects their medians."),
        panels=panels,
    )


def _curve(growth: MemoryGrowth, view: View) -> Curve:
    """Return a runtime's curve of memory by number of clients: a line through the medians, and a
    mark for each measurement.
    """
    marks = tuple(
        Mark(
            x=count,
            y=taken / MIB,
            tip=tip(growth.arm, f"{mib(taken)} MiB"),
            cells=growth.cells[count],
        )
        for count, sizes in growth.sizes.items()
        for taken in sorted(sizes)
    )
    line = tuple((float(count), taken / MIB) for count, taken in growth.medians.items())
    return Curve(name=growth.arm, look=view.looks[growth.arm], line=line, marks=marks)
