"""What happens during a measurement (cell): unsteady throughput at the start, idle cores during requests, and noise.

The facts come from the slices and CPU times in a run. Cells without such data are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from statistics import median
from typing import Any

from core.messages import Message, message, plural
from core.result import Run
from reports.document.values import duration
from reports.facts.cells import Row
from reports.facts.comparisons import Comparison
from reports.facts.details import whole_slices
from reports.facts.figures import cpu_ns
from reports.statistics.inside import Design, Noise, design_for, start_of
from reports.statistics.significance import SHARES

FEWEST_FOR_START = 8
MOST_IDLE = 0.1


def starts(rows: Iterable[Row]) -> list[tuple[Row, float, float]]:
    """Return the rows whose measurements have enough data to detect that throughput was unsteady at first.

    Each row is followed by the duration of its unsteady start in s, and by the share by which the start lowers the
    number of all answers. Both are 0 if throughput was steady when timing began.
    """
    found = []
    for row in rows:
        whole = whole_slices(row.good) if len(row.good) >= FEWEST_FOR_START else None
        if whole:
            count, loss = start_of(whole[0])
            found.append((row, count * whole[1], loss))
    return found


def idle_share(row: Row, cores: int) -> float | None:
    """Return the idle share (0..1) of the CPU cores that the concurrent requests of *row* could have kept busy.

    It is the median over the measurements of *row*.
    None if CPU times are unknown, if more than cores + 1 requests are in flight, or if requests come at a RATE.
    """
    spent = [(cpu_ns([*cell.services, *cell.clients]), cell.wall_ns) for cell in row.good if cell.clients]
    under_way = _under_way(row.params)
    if not spent or not under_way <= cores + 1 or row.params.get("RATE") or not all(ns and wall for ns, wall in spent):
        return None
    return 1 - median((ns or 0) / wall_ns for ns, wall_ns in spent) / min(cores, under_way)


def _under_way(params: Mapping[str, Any]) -> float:
    """Return how many requests a closed loop has in flight at the same time; infinite if unknown."""
    sides: list[int] = [params.get(name) or 0 for name in ("NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES")]
    each = params.get("NUM_CONNECTIONS_PER_CLIENT") or min(sides)
    return params.get("NUM_CLIENTS", 0) * each or inf


# ---- designs: how many blocks of what length detect a difference, given the recorded noise -------------------------


def typical_noise(compared: Sequence[Comparison]) -> Noise | None:
    """Return the typical noise of a comparison at a single setting; None if unknown.

    It is the median over all of these comparisons in *compared*, including A/A.
    """
    known = [one.noise for one in compared if one.noise]
    return Noise(**{name: median(noise[name] for noise in known) for name in known[0]}) if known else None


def design_of(run: Run, compared: Sequence[Comparison], size: float) -> Design | None:
    """Return the shortest run that can detect a difference of *size* (0.05: 5 %) in the same cells; None if unknown."""
    noise = typical_noise(compared)
    if noise is None:
        return None
    per_block = len({(cell.arm, cell.cell_id) for cell in run.cells})
    start_s = median(cell.overhead_ns for cell in run.cells if cell.status == "ok") / 1e9
    family = max(1, sum(one.step != "aa" for one in compared)) / SHARES["throughput"]
    return design_for(size, noise, per_block, start_s, family)


def design_words(design: Design, size: float, command: str) -> Message:
    """Return a sentence: the difference that a run of *design* can detect, its duration, and its *command*."""
    return message(
        "To detect a difference of {size:.0%} with a probability of 80 %, measure {blocks} with cells of {seconds:g} s "
        "each. The run takes {time}. Start it with: {command}",
        seconds=design.seconds,
        blocks=plural("{count} block", "{count} blocks", count=design.blocks),
        size=size,
        time=duration(design.spent_s),
        command=command,
    )
