"""The section "Memory" of a report: the memory of services and clients, and how that of services
grows.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from statistics import median

import numpy as np

from analysis.cell_index import Row, grouped, number, of_cells
from analysis.formats import MIB, mib, size
from analysis.metrics import METRICS, is_proportional, median_of, memory_bytes
from analysis.settings import about, labels
from analysis.stats import Estimate, least_squares
from core.cell import Value
from core.messages import NOTHING, Message, message, plural, verbatim
from record.comparison import Key, Setting, setting_key
from record.saved_run import CellResult
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
    estimate,
    traced,
)
from reports.tables import arm_col, col, table, tip
from reports.view import View

PLACE = 80  # in the order of sections (reports/sections/__init__.py)
NOTE = message(
    "Memory is the proportional set size (PSS) at the end of a measurement, while all connections "
    "are open. If the system does not report the PSS, memory is the peak resident set size. The "
    "memory per client is the slope of a line through all measurements by number of clients, and "
    "has a 95 % interval. A separate term of the fit keeps the effects of the first few clients, "
    "such as shared pages and first buffers, out of the slope."
)
CLIENTS = "NUM_CLIENTS"
# to fit a line: different numbers of clients, and measurements with known memory
FEWEST_COUNTS, FEWEST_POINTS = 3, 5
CURVE_POINTS = 60  # straight pieces of a drawn curve


def section(view: View) -> Section:
    """Return the report's section on memory: the memory of each setting and runtime, and what each
    client adds.
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
    return METRICS["service_memory_bytes"].median(row.good) or 0.0


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


@dataclass(frozen=True)
class MemoryGrowth:
    """The memory of all services under one runtime in a sweep of the number of clients.

    label: the setting without NUM_CLIENTS, if there are several; empty for one
    cells: by number of clients, ascending
    """

    label: Message
    arm: str
    cells: Mapping[int, Sequence[CellResult]]

    @cached_property
    def points(self) -> list[tuple[int, int]]:
        """Return the number of clients and the memory in bytes of each cell (measurement) with
        known memory, sorted.
        """
        known = [
            (count, memory_bytes(cell.services))
            for count, mine in self.cells.items()
            for cell in mine
        ]
        return sorted((count, size_bytes) for count, size_bytes in known if size_bytes is not None)

    @cached_property
    def services(self) -> int:
        """Return the number of services in a cell."""
        return number(self.cells[self.ends[0]][0], "NUM_API_SERVICES")

    @cached_property
    def fit(self) -> list[Estimate]:
        """Return the coefficients of the least-squares fit memory = a + b x clients + c / (clients
        + services).

        A proportional set size counts 1/n of a page that n processes share, so a service seems to
        shrink as clients are added. The third term keeps this effect out of the slope. Resident set
        sizes are fitted without it.
        """
        clients, sizes = np.array(self.points, dtype=np.float64).T
        has_shares = all(
            is_proportional(cell.services) for mine in self.cells.values() for cell in mine
        )
        shares = [1 / (clients + self.services)] if has_shares else []
        return least_squares([np.ones_like(clients), clients, *shares], sizes)

    @property
    def slope(self) -> Estimate:
        """Return the memory in bytes that each additional client needs. Shared pages count once."""
        return self.fit[1]

    def at(self, clients: float) -> float:
        """Return the memory in bytes that the fitted line gives for a number of clients."""
        terms = (1.0, clients, 1 / (clients + self.services))
        # strict=False: without shares, the fit has no third coefficient
        return sum(one.value * term for one, term in zip(self.fit, terms, strict=False))

    @property
    def ends(self) -> tuple[int, int]:
        """Return the lowest and the highest measured number of clients."""
        return self.points[0][0], self.points[-1][0]

    def measured(self, clients: int) -> float:
        """Return the median memory in bytes that was measured with so many clients."""
        return median(size_bytes for count, size_bytes in self.points if count == clients)


def growths(view: View) -> list[MemoryGrowth]:
    """Return how the memory of services grows in each sweep of at least three numbers
    of clients.
    """

    def others(row: Row) -> Key:
        params = {name: value for name, value in row.params.items() if name != CLIENTS}
        return setting_key(row.system, params)

    known = grouped((row for row in view.rows if row.good and CLIENTS in row.params), others)
    swept = {key: rows for key, rows in known.items() if len(_counts(rows)) >= FEWEST_COUNTS}
    every = [Setting(system=system, params=json.loads(params)) for system, params in swept]
    made = []
    for label, rows in zip(labels(every), swept.values(), strict=True):
        for arm in view.cells.arms:
            cells = {number(row.good[0], CLIENTS): row.good for row in rows if row.runtime == arm}
            made.append(MemoryGrowth(label, arm, dict(sorted(cells.items()))))
    return [
        growth
        for growth in made
        if len(dict(growth.points)) >= FEWEST_COUNTS and len(growth.points) >= FEWEST_POINTS
    ]


def _counts(rows: Iterable[Row]) -> set[Value]:
    """Return the different numbers of clients of *rows*."""
    return {row.params[CLIENTS] for row in rows}


def _growth_sentence(growth: MemoryGrowth) -> Message:
    """Return a sentence on the memory of the services under one runtime, and what each
    client adds.
    """
    slope = estimate(growth.slope, size)
    few, many = growth.ends
    sizes = message(
        "the memory of {who} is {least} with {few} and {most} with {many}",
        who=plural("the service", "the {count} services together", count=growth.services),
        least=size(growth.measured(few)),
        few=plural("{count} client", "{count} clients", count=few),
        most=size(growth.measured(many)),
        many=plural("{count} client", "{count} clients", count=many),
    )
    adds = message("each additional client adds {slope} of memory", slope=slope)
    if growth.slope.low <= 0 <= growth.slope.high:
        adds = message(
            "the memory does not grow significantly ({slope} per additional client)", slope=slope
        )
    sentence = message("{sizes}: {growth}.", sizes=sizes, growth=adds)
    cells = of_cells(chain.from_iterable(growth.cells.values()))
    return traced(about(sentence, growth.label, growth.arm), cells)


def _figure(mine: Sequence[MemoryGrowth], view: View) -> Figure:
    """Return a chart of the memory of services by number of clients, with a panel per setting."""
    most = max(size_bytes for growth in mine for _, size_bytes in growth.points) / MIB
    counts = [count for growth in mine for count in growth.ends]
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
        caption=message("Marks show single measurements. The line is fitted to all marks."),
        panels=panels,
    )


def _curve(growth: MemoryGrowth, view: View) -> Curve:
    """Return a runtime's curve of memory by number of clients: the fitted line, and a mark for each
    measurement.
    """
    marks = (
        Mark(
            x=count,
            y=taken / MIB,
            tip=tip(growth.arm, f"{mib(taken)} MiB"),
            cells=of_cells(growth.cells[count]),
        )
        for count, taken in growth.points
    )
    fitted = (
        (float(count), growth.at(count) / MIB)
        for count in np.linspace(*growth.ends, CURVE_POINTS + 1)
    )
    return Curve(
        name=growth.arm, look=view.looks[growth.arm], line=tuple(fitted), marks=tuple(marks)
    )
