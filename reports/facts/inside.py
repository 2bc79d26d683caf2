"""What went on inside cells: uneven starts, cores that slept while a request was under way, and noise.

Pure, by slices, CPU times and readings that a run holds; of cells that do not say, nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

FEWEST_FOR_START = 8
MOST_IDLE = 0.1


@dataclass(frozen=True, kw_only=True)
class UnevenStart:
    """That the cells of a row begin unevenly: for how long, and what it cost of all answers, as a share."""

    row: Row
    seconds: float
    loss: float


def known_starts(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with cells enough to tell."""
    return [row for row in rows if len(row.good) >= FEWEST_FOR_START and whole_slices(row.good)]


def uneven_starts(rows: Sequence[Row]) -> list[UnevenStart]:
    """Return those of *rows* whose warm-up was too short."""
    sliced = [(row, whole_slices(row.good)) for row in rows if len(row.good) >= FEWEST_FOR_START]
    starts = [(row, *start_of(whole[0]), whole[1]) for row, whole in sliced if whole]
    return [UnevenStart(row=row, seconds=count * width_s, loss=loss) for row, count, loss, width_s in starts if count]


def idle_share(row: Row, cores: int) -> float | None:
    """Return the share of the cores that its few connections could keep busy which were idle, median over cells.

    None where cells do not say, more are under way than there are cores and one, or none need be: at a RATE.
    """
    spent = [(cpu_ns([*cell.services, *cell.clients]), cell.wall_ns) for cell in row.good if cell.clients]
    under_way = _under_way(row.params)
    if not spent or not under_way <= cores + 1 or row.params.get("RATE") or not all(ns and wall for ns, wall in spent):
        return None
    return 1 - median((ns or 0) / wall_ns for ns, wall_ns in spent) / min(cores, under_way)


def _under_way(params: Mapping[str, Any]) -> float:
    """Return how many requests are under way at a time in a closed loop; infinite where that is not known."""
    sides: list[int] = [params.get(name) or 0 for name in ("NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES")]
    each = params.get("NUM_CONNECTIONS_PER_CLIENT") or min(sides)
    return params.get("NUM_CLIENTS", 0) * each or inf


# ---- how many blocks of how long cells would find a difference, by the noise that comparisons recorded ------------


def typical_noise(compared: Sequence[Comparison]) -> Noise | None:
    """Return the medians over the steps of single settings, A/A too; None where none is known."""
    known = [one.noise for one in compared if one.noise]
    return Noise(**{name: median(noise[name] for noise in known) for name in known[0]}) if known else None


def design_of(run: Run, compared: Sequence[Comparison], size: float) -> Design | None:
    """Return what finds a true difference of *size*, a share, in the same cells; None if nothing does, or is known."""
    noise = typical_noise(compared)
    if noise is None:
        return None
    per_block = len({(cell.arm, cell.cell_id) for cell in run.cells})
    start_s = median(cell.overhead_ns for cell in run.cells if cell.status == "ok") / 1e9
    family = max(1, sum(one.step != "aa" for one in compared))
    return design_for(size, noise, per_block, start_s, family)


def design_words(design: Design, size: float, command: str) -> Message:
    """Return what *design* would find, and the command, or its flags, that measures by it."""
    return message(
        "Cells of {seconds:g} s x {blocks} would find {size:.0%} in {time}, in 80 % of runs: {command}",
        seconds=design.seconds,
        blocks=plural("{count} block", "{count} blocks", count=design.blocks),
        size=size,
        time=duration(design.spent_s),
        command=command,
    )
