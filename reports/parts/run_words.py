"""How the cells of a run were measured, what was not measured, and the commands to repeat the run
and to go on with it.

parts/answer.py, parts/contest.py and two sections of reports/sections/ show these texts. A cell is
one measurement, and a turn is a slice of time in which only one of the compared arms gets requests.
core/method.py explains the fields of a method. Text for a new field is a new line of `choices`, in
the order of the sentence. A runtime is missing if this machine lacks its interpreter (Run.missing).
A system is absent if it could not be measured under a runtime (SavedPlan.absent).
"""

import shlex
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from analysis.cell_index import Row, grouped, is_open
from analysis.settings import titled
from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.method import SAME, Method, size_text
from core.program import PROGRAM, RUNS_FOLDER
from core.resume import resume_command
from core.runtime import NATIVE
from record.saved_plan import Absent
from record.saved_run import Run
from reports.view import View

SILENT = ("--quiet", "--json")  # a command that somebody copies must show its result
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
    warmup, timed, memory = method.warmup, duration_words(method), method.limit_memory_bytes
    services, clients = (
        ", ".join(map(str, cpus)) for cpus in (method.pin_services, method.pin_clients)
    )
    of_requests = message("warm-up of {share:.0%} of the requests", share=warmup.share)
    of_time = message("warm-up of {share:.0%} of this time", share=warmup.share)
    # whether each part applies, and the part
    choices = (
        (warmup.share and not timed, of_requests),
        (warmup.seconds, message("warm-up of {seconds:g} s", seconds=warmup.seconds)),
        (timed, timed),
        (warmup.share and timed, of_time),
        (client, client),
        (services, message("services pinned to CPU {cpus}", cpus=services)),
        (clients, message("clients pinned to CPU {cpus}", cpus=clients)),
        (method.limit_cpus, message("services limited to {cpus:g} CPUs", cpus=method.limit_cpus)),
        (memory, message("services limited to {size} of memory", size=size_text(memory))),
    )
    return listed(words for is_chosen, words in choices if is_chosen)


def duration_words(method: Method) -> Message:
    """Return the duration of a measurement as text; NOTHING if it ends after a number of
    requests.
    """
    if not method.duration_s:
        return NOTHING
    return message("each measurement runs for {seconds:g} s or longer", seconds=method.duration_s)


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


# ---- what is missing ----------------------------------------------------------------------------


def missing_runtimes(view: View) -> list[Message]:
    """Return a sentence with the reason for each runtime that this machine lacks."""
    return [
        message("{runtime}: not measured. {reason}", runtime=runtime, reason=reason)
        for runtime, reason in view.run.missing.items()
    ]


def absent_sentences(view: View) -> list[Message]:
    """Return a sentence for each reason why systems of the plan were not measured, such as 'Netty
    (Java); uvloop under 3.11, 3.14t'.
    """
    sentences = []
    for reason, alike in grouped(view.plan.absent, attrgetter("reason")).items():
        by_system = grouped(alike, attrgetter("system"))
        systems = (_under(system, same, view) for system, same in by_system.items())
        sentences.append(
            message(
                "Not measured: {systems}. Reason: {reason}",
                systems=listed(systems, SEMICOLON),
                reason=reason,
            )
        )
    return sentences


def _under(system: str, absent: Sequence[Absent], view: View) -> Message:
    """Return the title of a system and the runtimes that it lacks as text. A native program has no
    runtime.
    """
    runtimes = [one.runtime for one in absent]
    title = (
        message("system {system}", system=system)
        if system.isdigit()
        else titled(system, view.titles)
    )
    if system in view.names:
        title = verbatim(view.names[system])
    under = message("{system} under {runtimes}", system=title, runtimes=listed(runtimes))
    return title if runtimes == [NATIVE] else under


# ---- commands -----------------------------------------------------------------------------------


def command_line(run: Run, *without: str) -> str:
    """Return the command line that started the run, quoted for a shell, without --out, SILENT and
    the flags *without*.

    without: flags with exactly one value, which is dropped, too, written as "--flag VALUE" or
        "--flag=VALUE"
    """
    # the first word of run.command is the program
    arguments = [argument for argument in run.command[1:] if argument not in SILENT]
    dropped = ("--out", *without)
    kept = [
        argument
        for before, argument in pairwise(["", *arguments])
        if before not in dropped and argument.partition("=")[0] not in dropped
    ]
    return " ".join([PROGRAM, *map(shlex.quote, kept)])


def repeat_command(run: Run) -> str:
    """Return the command line that repeats the run's measurements, in the order of its seed."""
    command = command_line(run)
    return command if " --seed" in command else f"{command} --seed {run.seed}"


def more_blocks_command(run: Run, blocks: int) -> str:
    """Return the command line that adds *blocks* blocks to the run. The measured
    blocks are kept.
    """
    folder = run.folder or f"{RUNS_FOLDER}/{run.run_id}"  # the default if none is known
    return resume_command(folder, run.command, run.plan.own, "--blocks", f"+{blocks}")


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
