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
from reports.facts.loops import is_open
from reports.facts.pairs import Pair
from reports.statistics.inside import Noise, noise_of, start_of
from reports.statistics.stats import FEWEST_FOR_INTERVAL, Floats

FEWEST_FOR_START = 8
FEWEST_SLICES = 8
MOST_IDLE = 0.1
PARTS = 4  # of a cell, for its noise


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
            start = start_of(sliced[0])
            if start.slices:
                uneven.append(UnevenStart(row=row, seconds=start.slices * sliced[1], loss=start.loss))
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


def noise(pair: Pair) -> Noise | None:
    """Of a step of one setting; None without blocks and slices enough, and where requests came at a RATE."""
    blocks = [*pair.ratios]
    if pair.over or pair.gate or is_open(pair.params) or len(blocks) < FEWEST_FOR_INTERVAL:
        return None
    sides = [whole_slices([cells[block] for block in blocks]) for cells in (pair.denominator, pair.numerator)]
    if not all(sides):
        return None
    logs = [_logs_of_parts(side[0]) for side in sides if side]
    if not all(np.isfinite(part).all() for part in logs):
        return None
    return noise_of(logs[1] - logs[0], median(cell.wall_ns for cell in pair.cells) / 1e9)


def _logs_of_parts(rates: Floats) -> Floats:
    """Of each cell, the logs of answers in PARTS parts of its time."""
    with np.errstate(divide="ignore"):
        means = [part.mean(axis=1) for part in np.array_split(rates, PARTS, axis=1)]
        return np.asarray(np.log(np.array(means, dtype=np.float64).T))
