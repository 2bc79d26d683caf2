"""What happens during a measurement (cell): unsteady throughput at the start, idle cores during
requests, and noise.

The facts come from the slices and CPU times in a run. Cells without such data are left out.
"""

from collections.abc import Iterable, Mapping
from math import inf
from statistics import median
from typing import Any

from analysis.cell_index import Row
from analysis.details import whole_slices
from analysis.metrics import cpu_ns
from analysis.unsteady_start import start_of

FEWEST_FOR_START = 8
MOST_IDLE = 0.1


def starts(rows: Iterable[Row]) -> list[tuple[Row, float, float]]:
    """Return the rows whose measurements have enough data to detect that throughput was unsteady at
    first.

    Each row is followed by the duration of its unsteady start in s, and by the share by which the
    start lowers the number of all answers. Both are 0 if throughput was steady when timing began.
    """
    found = []
    for row in rows:
        whole = whole_slices(row.good) if len(row.good) >= FEWEST_FOR_START else None
        if whole:
            count, loss = start_of(whole[0])
            found.append((row, count * whole[1], loss))
    return found


def idle_share(row: Row, cores: int) -> float | None:
    """Return the idle share (0..1) of the CPU cores that the concurrent requests of *row* could
    have kept busy.

    It is the median over the measurements of *row*.
    None if CPU times are unknown, if more than cores + 1 requests are in flight, or if requests
    come at a RATE.
    """
    spent = [
        (cpu_ns([*cell.services, *cell.clients]), cell.wall_ns) for cell in row.good if cell.clients
    ]
    under_way = _under_way(row.params)
    if (
        not spent
        or not under_way <= cores + 1
        or row.params.get("RATE")
        or not all(ns and wall for ns, wall in spent)
    ):
        return None
    return 1 - median((ns or 0) / wall_ns for ns, wall_ns in spent) / min(cores, under_way)


def _under_way(params: Mapping[str, Any]) -> float:
    """Return how many requests a closed loop has in flight at the same time; infinite
    if unknown.
    """
    sides: list[int] = [
        params.get(name) or 0 for name in ("NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES")
    ]
    each = params.get("NUM_CONNECTIONS_PER_CLIENT") or min(sides)
    return params.get("NUM_CLIENTS", 0) * each or inf
