"""How the cells of a run were measured, as text: the method, the order, and what its latencies are.

The sections "Results", "Latency" and "Machine" of reports/sections/ show it. A cell is one
measurement, and a turn is a slice of time in which only one of the compared arms gets requests.
core/method.py explains the fields of a method. Text for a new field is a new line of `choices`, in
the order of the sentence.
"""

from collections.abc import Sequence

from analysis.cell_index import Row, is_open
from core.messages import NOTHING, Message, listed, message
from core.method import SAME, Method, size_text
from reports.view import View

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


def method_words(method: Method) -> Message:
    """Return the measurement method as text: warm-up, duration, the clients' runtime and pinned
    CPUs.
    """
    client = message("clients run under the service's runtime")
    if method.client_runtime != SAME:
        client = message("clients run under {runtime}", runtime=method.client_runtime)
    memory = method.limit_memory_bytes
    services, clients = (
        ", ".join(map(str, cpus)) for cpus in (method.pin_services, method.pin_clients)
    )
    warm = message("warm-up of {share:.0%} of the requests", share=method.warmup.share)
    if method.duration_s:
        warm = message("warm-up of {share:.0%} of this time", share=method.warmup.share)
    # whether each part applies, and the part
    choices = (
        # a warm-up that is a share stands after the duration to which it refers
        (not method.duration_s and method.warmup.share, warm),
        (method.warmup.seconds, message("warm-up of {seconds:g} s", seconds=method.warmup.seconds)),
        (
            method.duration_s,
            message("each measurement runs for {seconds:g} s or longer", seconds=method.duration_s),
        ),
        (method.duration_s and method.warmup.share, warm),
        (client, client),
        (services, message("services pinned to CPU {cpus}", cpus=services)),
        (clients, message("clients pinned to CPU {cpus}", cpus=clients)),
        (method.limit_cpus, message("services limited to {cpus:g} CPUs", cpus=method.limit_cpus)),
        (memory, message("services limited to {size} of memory", size=size_text(memory))),
    )
    return listed(words for is_chosen, words in choices if is_chosen)


def order_words(view: View) -> Message:
    """Return how a setting's runtimes were measured: in turns, or one after the other and why.

    NOTHING if the run has not recorded the order.
    """
    plan, turns = view.plan, [cell.turns for cell in view.run.cells if cell.turns.slices]
    alternating = [one for one in turns if one.slices > 1]
    if plan.method.slices and turns:
        # the shortest and the longest slice, or one length if all are equal
        lengths = sorted({one.length_ns for one in alternating or turns})
        seconds = " - ".join(
            f"{length_ns / 1e9:.2f}" for length_ns in dict.fromkeys((lengths[0], lengths[-1]))
        )
        if alternating:
            return message(
                "all runtimes or services take turns in time slices of {seconds} s", seconds=seconds
            )
        return message(
            "runtimes or services measured one after the other, for {seconds} s each: their "
            "requests take too long for time slices",
            seconds=seconds,
        )
    reason = plan.arm_order_reason
    return (
        message("runtimes or services measured one after the other: {reason}", reason=reason)
        if reason
        else NOTHING
    )


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
