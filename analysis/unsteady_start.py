"""Unsteady starts: time slices at the beginning of measurements in which throughput was not steady
yet.

reports/parts/checks.py warns of them. A row (analysis/cell_index.py: Row) is one setting under one
runtime, with a cell for each block. A slice is a part of a cell's timed window.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.cell_index import Row
from analysis.significance import sign_flip_p
from analysis.stats import Floats
from record.saved_run import CellResult

STEADY_ALPHA = 0.01  # level of the sign-flip test on the cells' losses
LEAST_LOSS = 0.01  # of a cell's answers
FEWEST_FOR_START = 8  # cells of a row; 8 signs can give p = 2 ** -7, which is below STEADY_ALPHA
FEWEST_SLICES = 4  # complete slices of a cell


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


def start_of(rates: Floats) -> tuple[int, float]:
    """Return how many first time slices have unsteady throughput, and by what share they lower the
    count of answers.

    rates: answers per time slice, shape (cells, slices)
    The start ends where the standard error of the remaining mean is smallest (MSER), within the
    first half. It counts if the sign-flip p of the cells' losses is at most 1 % and they lose 1 %
    or more; else the result is (0, 0.0).
    Source: White (1997), "An effective truncation heuristic
    for bias reduction in simulation output".
    """
    count = rates.shape[1]
    if (
        not rates[:, count // 2 :].any(axis=1).all()
    ):  # a cell has no steady rate, because it got no answers later
        return 0, 0.0
    shares = rates / rates.mean(axis=1, keepdims=True)
    profile = shares.mean(axis=0)
    cut = int(np.argmin([profile[cut:].var() / (count - cut) for cut in range(count // 2 + 1)]))
    # of each cell: missing answers as a share of its answers; below 0 if the start was faster
    losses = (1 - shares[:, :cut] / shares[:, cut:].mean(axis=1, keepdims=True)).sum(axis=1) / count
    loss = float(np.median(losses))
    shown = cut and abs(loss) >= LEAST_LOSS and sign_flip_p(losses) <= STEADY_ALPHA
    return (cut, loss) if shown else (0, 0.0)


def whole_slices(cells: Sequence[CellResult]) -> tuple[Floats, float] | None:
    """Return the number of answers in each complete time slice of each measurement, and the slices'
    width in s.

    For a cell whose arm took turns with others, a slice is one turn.
    None if a cell has no slices, slices of another width, or fewer than 4 complete slices.
    """
    known = [_counts(cell) for cell in cells]
    widths = {width_ns for width_ns, _ in known}
    count = min((len(counts) for _, counts in known), default=0)
    if count < FEWEST_SLICES or len(widths) > 1:
        return None
    rates = np.array([counts[:count] for _, counts in known], dtype=np.float64)
    return (rates, widths.pop() / 1e9) if rates.sum(axis=1).all() else None


def _counts(cell: CellResult) -> tuple[int, Sequence[int]]:
    """Return the width of a cell's slices of time in ns, and the answers in each complete slice."""
    if cell.turns.slices > 1:
        return cell.turns.length_ns, cell.turns.answered
    # the first and the last slice are incomplete
    return cell.slices.width_ns, cell.slices.counts[1:-1]
