"""What a row is shown by: its completion time, or its throughput where cells were timed for a duration. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from core.messages import Message, message
from core.result import CellResult
from reports.document.drawing import COUNT
from reports.document.model import Form, Strip
from reports.document.values import seconds, whole
from reports.facts.cells import Row
from reports.facts.figures import LESS, MORE, completion_ns, requests_per_s


@dataclass(frozen=True, kw_only=True)
class Measure:
    """read: of a cell, in the unit of *label*; form: how people see it; figure: what a page names it by.

    better: which way is better, as a sentence
    """

    label: Message
    read: Callable[[CellResult], float]
    form: Form
    figure: str
    better: Message

    def blocks(self, row: Row) -> list[float]:
        """Of each block that is ok."""
        return [self.read(cell) for cell in row.good]

    def median(self, row: Row) -> float:
        """Over the blocks that are ok."""
        return median(self.blocks(row))

    def most(self, rows: Iterable[Row]) -> float:
        """Of all blocks of *rows* that had clients; 1 if there is none."""
        return max((self.read(cell) for row in rows for cell in row.good if cell.clients), default=1.0)

    def strip(self, row: Row, most: float, look: int, name: str) -> Strip:
        """A bar to the median and a mark for each block, on a scale to *most*."""
        middle = self.median(row)
        return Strip(
            low=0.0,
            high=most,
            bars=((0.0, middle, f"bar r{look % COUNT} p{look % COUNT}"),),
            marks=tuple(self.blocks(row)),
            look=look,
            tip=f"{name}: {self.form(middle)}",
        )


COMPLETION = Measure(
    label=message("completion time [s]"),
    read=lambda cell: (completion_ns(cell) or 0) / 1e9,
    form=lambda value_s: seconds(value_s * 1e9),
    figure="completion_s",
    better=LESS,
)
THROUGHPUT = Measure(
    label=message("requests/s"),
    read=requests_per_s,
    form=whole,
    figure="requests_per_s",
    better=MORE,
)


def measure(*, is_timed: bool) -> Measure:
    """What rows are shown by. is_timed: whether cells were timed for a duration"""
    return THROUGHPUT if is_timed else COMPLETION
