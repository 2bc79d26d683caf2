"""What a row is shown by, completion time or throughput, and what its latency means: closed loop or open. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

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


NOTABLE = 0.001
WORDS = {  # by whether the loop is open: for the page, for a terminal
    False: (
        message(
            "Closed loop: a client sends its next request when it has the answer, so a service that stalls is asked "
            "less. Percentiles leave out those who would have come meanwhile."
        ),
        message("Latency of a closed loop."),
    ),
    True: (
        message(
            "Open loop (RATE): latency counts from the time a request was due, so those that a stall held up are in "
            "it, and so is how late the client woke."
        ),
        message("Latency from when a request was due (RATE)."),
    ),
}


def is_open(params: Mapping[str, Any]) -> bool:
    """Return whether clients send at a rate."""
    return bool(params.get("RATE"))


def loop_words(rows: Sequence[Row], *, is_brief: bool = False) -> list[Message]:
    """Return what the latencies of *rows* are, and whether requests that were due were never sent.

    is_brief: in a line, for a terminal
    """
    loops = {is_open(row.params) for row in rows if row.latency.count}
    words = [WORDS[opened][is_brief] for opened in sorted(loops)]
    clients = [client for row in rows for cell in row.good for client in cell.clients if "overdue" in client]
    overdue = sum(client["overdue"] for client in clients)
    due = overdue + sum(client["requests"] for client in clients)
    if overdue > NOTABLE * due:
        never = message(
            "{share:.1%} of the requests that were due were never sent: clients or services cannot keep up with RATE, "
            "and percentiles are lower bounds.",
            share=overdue / due,
        )
        words.append(never)
    return words
