"""Memory of services and of clients against the number of clients, with a slope: facts of a memory run. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any, Literal

import numpy as np

from core.messages import Message
from core.result import CellResult, Run
from reports.facts.cells import Series, is_proportional, memory_bytes, number, series
from reports.facts.settings import labels
from reports.statistics.stats import Estimate, least_squares, line_fit

CLIENTS = "NUM_CLIENTS"
FEWEST_COUNTS = 3
FEWEST_POINTS = 5

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

    label: Message
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
    every = [swept for swept in series(run, (CLIENTS,)) if len(swept.values(CLIENTS)) >= FEWEST_COUNTS]
    return [*chain.from_iterable(_growths(swept, label) for swept, label in zip(every, labels(every), strict=True))]


def _growths(swept: Series, label: Message) -> Iterator[Growth]:
    services = swept.params["NUM_API_SERVICES"]
    assert isinstance(services, int)
    for arm in swept.arms:
        cells = [cell for cell in swept.cells if cell.arm == arm]
        for side in SIDES:
            points = _points(cells, side)
            if len({count for count, _ in points}) >= FEWEST_COUNTS and len(points) >= FEWEST_POINTS:
                shares = services if all(is_proportional(of_side(cell, side)) for cell in cells) else None
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
                    cells=tuple(cell for cell in cells if memory_bytes(of_side(cell, side)) is not None),
                )


def of_side(cell: CellResult, side: Side) -> Sequence[Mapping[str, Any]]:
    """The services or the clients of a cell."""
    return cell.services if side == "services" else cell.clients


def _points(cells: Sequence[CellResult], side: Side) -> list[tuple[int, int]]:
    sizes = [(number(cell, CLIENTS), memory_bytes(of_side(cell, side))) for cell in cells]
    return sorted((count, size) for count, size in sizes if size is not None)


def fit(points: Sequence[tuple[int, int]], services: int | None) -> tuple[Estimate, float, float]:
    """Slope, constant, and the coefficient of 1 / (clients + services), by least squares with t intervals.

    points: (clients, bytes); services: how many share the interpreter's pages with the clients, or None where the
    memory is not proportional. A proportional set size counts a page that n processes share as 1/n of it, so
    that a service seems to shrink as clients come: a plain line would take that for what clients cost.
    """
    if services is None:
        line = line_fit(points)
        return line.slope, line.intercept.value, 0.0
    clients, size = np.array(points, dtype=np.float64).T
    fixed, slope, shared = least_squares([np.ones_like(clients), clients, 1 / (clients + services)], size)
    return slope, fixed.value, shared.value
