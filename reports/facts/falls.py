"""Whether throughput falls again at the end of a sweep of workers, clients or sockets. Pure."""

from dataclasses import dataclass
from functools import partial

from core.messages import Message
from core.result import CellResult, Run
from reports.facts.cells import Series, series
from reports.facts.comparisons import is_anytime
from reports.facts.figures import requests_per_s
from reports.facts.settings import labels
from reports.facts.topologies import WORKERS
from reports.statistics.verdict import Verdict, falls

NAMES = (WORKERS, "NUM_CLIENTS", "NUM_MULTI_SOCKET")
FEWEST_VALUES = 6


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The end of one arm's sweep of parameter *name*, whose largest value is *last*.

    fall: the value at which throughput is most above that at the last one, and the verdict; None where none is shown
    """

    name: str
    label: Message
    arm: str
    last: int
    fall: tuple[int, Verdict] | None
    cells: tuple[CellResult, ...]


def endings(run: Run) -> list[Ending]:
    """Of every arm and sweep with at least 6 values; all comparisons with the last value are one family."""
    made = [
        (partial(Ending, name=name, label=label, arm=arm), cells)
        for name in NAMES
        for swept, label in _sweeps(run, name)
        for arm in swept.arms
        if len(cells := _timed(swept, name, arm)) >= FEWEST_VALUES
    ]
    rates = {
        place: {n: {cell.block: requests_per_s(cell) for cell in mine} for n, mine in cells.items()}
        for place, (_, cells) in enumerate(made)
    }
    found = falls(rates, anytime=is_anytime(run), seed=run.seed)
    return [
        ending(last=max(cells), fall=found.get(place), cells=tuple(cell for mine in cells.values() for cell in mine))
        for place, (ending, cells) in enumerate(made)
    ]


def _sweeps(run: Run, name: str) -> list[tuple[Series, Message]]:
    """The series of cells in which parameter *name* takes several values, each with the label that reports give it."""
    every = [each for each in series(run, (name,)) if len(each.values(name)) > 1]
    return list(zip(every, labels(every), strict=True))


def _timed(swept: Series, name: str, arm: str) -> dict[int, list[CellResult]]:
    """The cells of each value at which something was timed: with 0 clients nothing is."""
    return {value: cells for value, cells in swept.by_value(name, arm).items() if value > 0}
