"""What went on inside cells: uneven starts, where noise comes from, cores that slept while a request was under way.

Pure, by slices, CPU times and readings that a run holds; of cells that do not say, nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

import numpy as np

from core.cell import Value
from core.result import CellResult
from reports.facts.cells import Row
from reports.facts.figures import cpu_ns
from reports.statistics.inside import start_of
from reports.statistics.stats import Floats

FEWEST_FOR_START = 8
FEWEST_SLICES = 8
MOST_IDLE = 0.1


def whole_slices(cells: Sequence[CellResult]) -> tuple[Floats, float] | None:
    """Answers in the slices that every one of *cells* has whole, shape (cells, slices), and how many seconds each is.

    None where a cell does not say, has others, or fewer than 8.
    """
    if not cells or not all(cell.slices for cell in cells):
        return None
    width_ns = cells[0].slices["width_ns"]
    whole = [cell.slices["counts"][1:-1] for cell in cells]
    count = min(map(len, whole))
    if count < FEWEST_SLICES or any(cell.slices["width_ns"] != width_ns for cell in cells):
        return None
    rates = np.array([counts[:count] for counts in whole], dtype=np.float64)
    return (rates, width_ns / 1e9) if rates.sum(axis=1).all() else None


@dataclass(frozen=True, kw_only=True)
class UnevenStart:
    """That the cells of a row begin unevenly: for how long, and what it cost of all answers, as a share."""

    row: Row
    seconds: float
    loss: float


def known_starts(rows: Sequence[Row]) -> list[Row]:
    """Rows with cells enough to tell."""
    return [row for row in rows if len(row.good) >= FEWEST_FOR_START and whole_slices(row.good)]


def uneven_starts(rows: Sequence[Row]) -> list[UnevenStart]:
    """Of *rows*, those whose warm-up was too short."""
    uneven = []
    for row in known_starts(rows):
        if sliced := whole_slices(row.good):
            slices, loss = start_of(sliced[0])
            if slices:
                uneven.append(UnevenStart(row=row, seconds=slices * sliced[1], loss=loss))
    return uneven


def idle_share(row: Row, cores: int) -> float | None:
    """Share of the cores that its few connections could keep busy which were idle, median over cells.

    None where cells do not say, more are under way than there are cores and one, or none need be: at a RATE.
    """
    spent = [(cpu_ns([*cell.services, *cell.clients]), cell.wall_ns) for cell in row.good if cell.clients]
    under_way = _under_way(row.params)
    if not spent or not under_way <= cores + 1 or row.params.get("RATE") or not all(ns and wall for ns, wall in spent):
        return None
    return 1 - median((ns or 0) / wall_ns for ns, wall_ns in spent) / min(cores, under_way)


def _under_way(params: Mapping[str, Value]) -> float:
    """How many requests are under way at a time in a closed loop; infinite where that is not known."""
    threads, services = params.get("NUM_THREADS_PER_CLIENT"), params.get("NUM_API_SERVICES")
    each = params.get("NUM_CONNECTIONS_PER_CLIENT")
    if isinstance(threads, int) and isinstance(services, int):
        each = each or min(threads, services)
    clients = params.get("NUM_CLIENTS")
    return clients * each if isinstance(clients, int) and isinstance(each, int) else inf
