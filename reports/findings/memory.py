"""Memory of a service and of its clients against the number of clients, with a slope. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import median
from typing import Literal

import numpy as np
from scipy import stats

from core.result import CellResult, Run
from reports.rows.series import Series, about, is_proportional, labels, memory_bytes, number, series
from reports.statistics.scaling import line_fit
from reports.statistics.stats import CONFIDENCE, Estimate
from reports.words.markdown import escaped, markdown_table
from reports.words.told import Told, texts

CLIENTS = "NUM_CLIENTS"
FEWEST_COUNTS = 3
FEWEST_POINTS = 5
KIB = 2**10
MIB = 2**20

Side = Literal["services", "clients"]
SIDES: tuple[Side, ...] = ("services", "clients")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Memory of one side of a cell, all its processes together, under one arm.

    points: (clients, bytes), one per cell. services: how many there are
    slope: bytes for each further client, pages that processes share counted once
    fixed, shared: the rest of the fit: bytes = fixed + slope * clients + shared / (clients + services)
    cells: those that the points come from
    """

    label: str
    arm: str
    side: Side
    services: int
    points: tuple[tuple[int, int], ...]
    slope: Estimate
    fixed: float
    shared: float
    cells: tuple[CellResult, ...] = ()

    def at(self, clients: float) -> float:
        """What the fit says, in bytes."""
        return self.fixed + self.slope.value * clients + self.shared / (clients + self.services)

    def measured(self, clients: int) -> float:
        """The median over the blocks, in bytes."""
        return median(size for count, size in self.points if count == clients)

    @property
    def ends(self) -> tuple[int, int]:
        """The fewest clients and the most."""
        counts = [count for count, _ in self.points]
        return min(counts), max(counts)


def growths(run: Run) -> list[Growth]:
    """Both sides of every series with three numbers of clients or more, arm by arm."""
    every = grown(run)
    return [*chain.from_iterable(_growths(one, label) for one, label in zip(every, labels(every), strict=True))]


def grown(run: Run) -> list[Series]:
    """Cells that agree in everything but the number of clients, where there are three numbers or more."""
    return [one for one in series(run, (CLIENTS,)) if len(one.values(CLIENTS)) >= FEWEST_COUNTS]


def _growths(one: Series, label: str) -> Iterator[Growth]:
    services = one.params["NUM_API_SERVICES"]
    assert isinstance(services, int)
    for arm in one.arms:
        cells = [cell for cell in one.cells if cell.arm == arm]
        for side in SIDES:
            points = _points(cells, side)
            if len({count for count, _ in points}) >= FEWEST_COUNTS and len(points) >= FEWEST_POINTS:
                shares = services if all(is_proportional(_of(cell, side)) for cell in cells) else None
                slope, fixed, shared = fit(points, shares)
                yield Growth(
                    label=label,
                    arm=arm,
                    side=side,
                    services=services,
                    points=tuple(points),
                    slope=slope,
                    fixed=fixed,
                    shared=shared,
                    cells=tuple(cell for cell in cells if memory_bytes(_of(cell, side)) is not None),
                )


def _of(cell: CellResult, side: Side) -> Sequence[Mapping[str, object]]:
    return cell.services if side == "services" else cell.clients


def _points(cells: Sequence[CellResult], side: Side) -> list[tuple[int, int]]:
    sizes = [(number(cell, CLIENTS), memory_bytes(_of(cell, side))) for cell in cells]
    return sorted((count, size) for count, size in sizes if size is not None)


def fit(points: Sequence[tuple[int, int]], services: int | None) -> tuple[Estimate, float, float]:
    """Slope, constant, and the coefficient of 1 / (clients + services), by least squares with t intervals.

    points: (clients, bytes); services: how many share the interpreter's pages with the clients, or None where the
    memory told is not proportional. A proportional set size counts a page that n processes share as 1/n of it, so
    that a service seems to shrink as clients come: a plain line would take that for what clients cost.
    """
    if services is None:
        line = line_fit(points)
        return line.slope, line.intercept.value, 0.0
    clients, size = np.array(points, dtype=np.float64).T
    columns = np.column_stack([np.ones_like(clients), clients, 1 / (clients + services)])
    fixed, slope, shared = map(float, np.linalg.lstsq(columns, size)[0])
    freedom = clients.size - columns.shape[1]
    left = float(np.sum((size - columns @ [fixed, slope, shared]) ** 2)) / freedom
    error = sqrt(left * float(np.linalg.inv(columns.T @ columns)[1, 1]))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return Estimate(value=slope, low=slope - reach, high=slope + reach, count=clients.size), fixed, shared


def sentences(run: Run) -> list[str]:
    """A sentence for each setting and arm: what each further client costs the services, and what a client takes."""
    return texts(told(run))


def told(run: Run) -> list[Told]:
    """The sentences, each with its cells."""
    found: dict[tuple[str, str], list[Growth]] = {}
    for growth in growths(run):
        found.setdefault((growth.label, growth.arm), []).append(growth)
    return [
        Told(
            text=f"{about(*key)}{'; '.join(map(_words, both))}.",
            cells=tuple(cell for one in both for cell in one.cells),
        )
        for key, both in found.items()
    ]


def _words(growth: Growth) -> str:
    slope = growth.slope
    span = f"{size_text(slope.low)} to {size_text(slope.high)}"
    if growth.side == "clients":
        return f"a client takes {size_text(slope.value)} ({span})"
    sizes = " and ".join(f"{size_text(growth.measured(count))} at {_clients(count)}" for count in growth.ends)
    who = "the service takes" if growth.services == 1 else f"the {growth.services} services together take"
    if slope.low <= 0 <= slope.high:
        return f"{who} {sizes}: no growth can be told ({span} for each further client)"
    return f"{who} {sizes}: {size_text(slope.value)} ({span}) for each further client"


def _clients(count: int) -> str:
    return f"{count} client{'s' * (count != 1)}"


def size_text(size_bytes: float) -> str:
    """Bytes for people: 512 B, 12.1 KiB, 24.3 MiB."""
    if abs(size_bytes) < KIB:
        return f"{size_bytes:.0f} B"
    return f"{size_bytes / KIB:,.1f} KiB" if abs(size_bytes) < MIB else f"{size_bytes / MIB:,.1f} MiB"


def markdown(run: Run) -> str:
    """A line for each setting, arm and side; empty where no run of client numbers was measured."""
    found = growths(run)
    if not found:
        return ""
    lines = "\n".join(f"- {escaped(line)}" for line in [*sentences(run), _NOTE])
    heads = ["setting", "runtime", "memory of", *_SIZE_HEADS, "cells"]
    rows = [[growth.label or "-", growth.arm, f"all {growth.side}", *_figures(growth)] for growth in found]
    return f"## Memory against the number of clients\n\n{lines}\n\n{markdown_table(heads, rows, {*heads[3:]})}\n"


_SIZE_HEADS = ("at fewest clients [MiB]", "at most clients [MiB]", "per client [KiB]", "low [KiB]", "high [KiB]")
_NOTE = (
    "Memory is the proportional set size at the end of a cell, with all connections open, or the peak resident set "
    "where the system does not tell that. The slope is that of all cells, one point each, with its 95 % interval; what "
    "ends with the first clients (the interpreter's pages shared among more processes, first buffers) is fitted apart."
)


def _figures(growth: Growth) -> list[str]:
    sizes = [growth.measured(count) / MIB for count in growth.ends]
    slopes = [value / KIB for value in (growth.slope.value, growth.slope.low, growth.slope.high)]
    return [*(f"{value:,.1f}" for value in (*sizes, *slopes)), str(len(growth.points))]
