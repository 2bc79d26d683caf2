"""Whether clients wait for answers (a closed loop) or send at a rate (an open one): what latency means then. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.messages import Message, message
from reports.facts.cells import Row

NOTABLE = 0.001
CLOSED = message(
    "Closed loop: a client sends its next request when it has the answer, so a service that stalls is asked less. "
    "Percentiles leave out those who would have come meanwhile."
)
OPEN = message(
    "Open loop (RATE): latency counts from the time a request was due, so those that a stall held up are in it, and so "
    "is how late the client woke."
)
CLOSED_BRIEF = message("Latency of a closed loop.")
OPEN_BRIEF = message("Latency from when a request was due (RATE).")


def is_open(params: Mapping[str, Any]) -> bool:
    """Whether clients send at a rate."""
    return bool(params.get("RATE"))


def loop_words(rows: Sequence[Row]) -> list[Message]:
    """What the latencies of *rows* are, and whether requests that were due were never sent."""
    loops = [words for words, opened in ((CLOSED, False), (OPEN, True)) if _any(rows, opened)]
    return [*loops, *_overdue(rows)]


def brief_loop_words(rows: Sequence[Row]) -> list[Message]:
    """The same in a line, for a terminal."""
    loops = [words for words, opened in ((CLOSED_BRIEF, False), (OPEN_BRIEF, True)) if _any(rows, opened)]
    return [*loops, *_overdue(rows)]


def _any(rows: Sequence[Row], opened: bool) -> bool:
    return any(row.latency.count and is_open(row.params) == opened for row in rows)


def _overdue(rows: Sequence[Row]) -> list[Message]:
    clients = [client for row in rows for cell in row.good for client in cell.clients if "overdue" in client]
    overdue = sum(client["overdue"] for client in clients)
    due = overdue + sum(client["requests"] for client in clients)
    if overdue <= NOTABLE * due:
        return []
    return [
        message(
            "{share:.1%} of the requests that were due were never sent: clients or services cannot keep up with RATE, "
            "and percentiles are lower bounds.",
            share=overdue / due,
        )
    ]
