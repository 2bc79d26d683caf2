"""Whether clients wait for answers (a closed loop) or send at a rate (an open one): what latency means then. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.messages import Message, message
from reports.facts.cells import Row

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
