"""Define the measure throughput, and explain latency in closed and open loops."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from analysis.cells import Row
from analysis.figures import MORE, requests_per_s
from analysis.formats import Form, whole
from core.messages import Message, message
from core.result import CellResult


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that table rows show, such as throughput.

    label:  the name with its unit
    read:   returns the value of a cell, in the unit of *label*
    form:   formats the value as text
    figure: the name in the page's data-figure attributes
    better: a sentence that says whether less or more is better
    """

    label: Message
    read: Callable[[CellResult], float]
    form: Form
    figure: str
    better: Message

    def blocks(self, row: Row) -> list[float]:
        """Return the value of each measurement in *row* that is ok."""
        return [self.read(cell) for cell in row.good]

    def median(self, row: Row) -> float:
        """Return the median of the values of those measurements in *row* that are ok."""
        return median(self.blocks(row))

    def most(self, rows: Iterable[Row]) -> float:
        """Return the largest value of the measurements in *rows* that are ok and had clients.

        Returns 1 if there is no such measurement.
        """
        return max((self.read(cell) for row in rows for cell in row.good if cell.clients), default=1.0)


THROUGHPUT = Measure(
    label=message("requests/s"),
    read=requests_per_s,
    form=whole,
    figure="requests_per_s",
    better=MORE,
)


NOTABLE = 0.001
WORDS = {  # by whether the loop is open: the sentence for the page, and that for a terminal
    False: (
        message(
            "Closed loop: a client sends its next request only after the previous answer, so a stalled service "
            "receives fewer requests. Latency percentiles leave out the requests that would have arrived during a "
            "stall."
        ),
        message("Latency was measured in a closed loop."),
    ),
    True: (
        message(
            "Open loop (RATE): latency is measured from the time when a request was due. It therefore includes delays "
            "caused by stalls of the service, and the wake-up latency of the client."
        ),
        message("Latency is measured from the time when a request was due (open loop, RATE)."),
    ),
}


def is_open(params: Mapping[str, Any]) -> bool:
    """Return whether clients send requests at a fixed rate (open loop)."""
    return bool(params.get("RATE"))


def loop_words(rows: Sequence[Row], *, is_brief: bool = False) -> list[Message]:
    """Return sentences that explain the latencies of *rows*, and a sentence on unsent requests if there were any.

    is_brief: whether to use the short sentences for a terminal
    """
    loops = {is_open(row.params) for row in rows if row.latency.count}
    words = [WORDS[opened][is_brief] for opened in sorted(loops)]
    clients = [client for row in rows for cell in row.good for client in cell.clients if "overdue" in client]
    overdue = sum(client["overdue"] for client in clients)
    due = overdue + sum(client["requests"] for client in clients)
    if overdue > NOTABLE * due:
        never = message(
            "{share:.1%} of the due requests were never sent, because clients or services could not keep up with RATE. "
            "The latency percentiles are therefore lower bounds.",
            share=overdue / due,
        )
        words.append(never)
    return words
