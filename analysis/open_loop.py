"""Explain latency in closed loops, and in open loops, in which clients send at a fixed rate.

The parameter RATE of a cell is the requests/s of each client; a closed loop has none, or 0. Many
modules ask is_open(), because throughput is no result at a fixed rate. reports/sections shows the
sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.cell_index import Row
from core.messages import Message, message

NOTABLE = 0.001  # of the due requests; a larger share of unsent requests is mentioned
WORDS = {  # by whether the loop is open: the sentence for the page, and that for a terminal
    False: (
        message(
            "Closed loop: a client sends its next request only after the previous answer, so a "
            "stalled service receives fewer requests. Latency percentiles leave out the requests "
            "that would have arrived during a stall."
        ),
        message("Latency was measured in a closed loop."),
    ),
    True: (
        message(
            "Open loop (RATE): latency is measured from the time when a request was due. It "
            "therefore includes delays caused by stalls of the service, and the wake-up latency of "
            "the client."
        ),
        message("Latency is measured from the time when a request was due (open loop, RATE)."),
    ),
}


def is_open(params: Mapping[str, Any]) -> bool:
    """Return whether clients send requests at a fixed rate (open loop)."""
    return bool(params.get("RATE"))


def loop_words(rows: Sequence[Row], *, is_brief: bool = False) -> list[Message]:
    """Return sentences that explain the latencies of *rows*, and a sentence on unsent requests if
    there were any.

    is_brief: whether to use the short sentences for a terminal
    """
    loops = {is_open(row.params) for row in rows if row.latency.count}
    words = [WORDS[opened][is_brief] for opened in sorted(loops)]
    clients = [
        client
        for row in rows
        for cell in row.good
        for client in cell.clients
        if client.overdue is not None
    ]
    overdue = sum(client.overdue or 0 for client in clients)
    due = overdue + sum(client.requests for client in clients)
    if overdue > NOTABLE * due:
        never = message(
            "{share:.1%} of the due requests were never sent, because clients or services could "
            "not keep up with RATE. The latency percentiles are therefore lower bounds.",
            share=overdue / due,
        )
        words.append(never)
    return words
