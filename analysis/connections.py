"""Write the report's notes on closed connections, on requests that were sent twice, and on delays
by TCP.

analysis/comparing.py adds the notes to a comparison. analysis/pair_verdicts.py withdraws
blocks_needed if TCP delays the answers, because more blocks do not help. An arm is a
runtime, or a service that already runs.
"""

from collections.abc import Sequence
from math import inf
from operator import attrgetter
from statistics import median

from analysis.cell_index import grouped, is_open
from analysis.formats import whole
from analysis.metrics import cores_used, median_of, replaced, requests_per_connection
from analysis.others import MOST_BUSY, others
from core.messages import NOTHING, Message, listed, message
from core.request_plan import Request, RequestPlan
from core.wire import SWITCHING
from record.saved_run import CellResult, Run

FEW_ANSWERS = 100  # of a connection: with fewer, connecting is a notable part of the work
ABOUT_ONE = 1.5  # answers of a connection: with fewer, it was closed after every answer
DELAYED_ACK_NS = range(
    39_500_000, 50_000_000
)  # TCP_DELACK_MIN is 40 ms; with HZ=250, 44 ms were measured
MOST_IDLE_CORES = 0.5  # cores: a service that uses fewer is idle for most of the time
MOST_BLOCKS = 0.75  # least share of an arm's blocks at a setting that are delayed
# after this time, a first packet that was dropped is sent again (RFC 6298, 2.1)
CONNECT_AGAIN_NS = 1_000_000_000


def connection_notes(cells: Sequence[CellResult], run: Run) -> list[Message]:
    """Return notes on connections that a user's service closed, on requests sent twice, and on
    delays by TCP.
    """
    service = run.plan.user_service
    by_note: dict[Message, list[str]] = {}
    for arm, of_arm in _good(cells).items():
        found = (
            [_closed(of_arm, service.requests), _resent(of_arm), _queued(of_arm)] if service else []
        )
        for note in filter(None, [*found, _delay(of_arm)]):
            by_note.setdefault(note, []).append(arm)
    return [
        message("{arms}: {note}", arms=listed(arms), note=note) for note, arms in by_note.items()
    ]


def delay_by_tcp(cells: Sequence[CellResult]) -> Message:
    """Return a note if TCP probably delayed most answers of an arm in *cells*; NOTHING
    otherwise.
    """
    return next(filter(None, map(_delay, _good(cells).values())), NOTHING)


def _good(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Return the cells that are ok, by arm."""
    return grouped((cell for cell in cells if cell.status == "ok"), attrgetter("arm"))


def _closed(cells: Sequence[CellResult], plan: RequestPlan) -> Message:
    """Return how many answers the service sent on a connection before it closed the connection, if
    they are few.
    """
    answers = median(requests_per_connection(cell) or inf for cell in cells)
    if answers >= FEW_ANSWERS or any(map(_asks_to_close, plan.requests)):
        return NOTHING
    note = message(
        "the service closed the connection after about {count} answers", count=whole(answers)
    )
    if answers < ABOUT_ONE:
        note = message("the service closed the connection after every answer")
    is_at_rate = any(is_open(cell.params) for cell in cells)
    if is_at_rate or plan.think_time_s:
        note = message("{note}, or while it was idle", note=note)
    elif any(map(_may_be_idle, cells)):
        note = message(
            "{note}, or while it was idle because another setting was measured", note=note
        )
    contains = message("Throughput includes the time to connect, but latency does not")
    if is_at_rate:
        contains = message(
            "Latency includes the time to connect, because it is measured from the time when a "
            "request was due"
        )
    return message("{note}. {contains}", note=note, contains=contains)


def _asks_to_close(request: Request) -> bool:
    """Return whether a connection ends after the answer to *request* because of the request, not of
    the service.
    """
    values = [
        str(value).lower()
        for name, value in request.headers.items()
        if name.lower() == "connection"
    ]
    return "close" in values or request.expect_status == SWITCHING


def _may_be_idle(cell: CellResult) -> bool:
    """Return whether the service may have closed connections only while they were idle, between two
    time slices.
    """
    connections = sum(client.connections or 0 for client in cell.clients)
    return 0 < replaced(cell) <= cell.turns.slices * connections


def _resent(cells: Sequence[CellResult]) -> Message:
    """Return how many requests were sent twice, if any were."""
    resent = sum(client.resent or 0 for cell in cells for client in cell.clients)
    if not resent:
        return NOTHING
    return message(
        "the service closed keep-alive connections instead of answering, so {count} of {all} "
        "requests were sent twice. Their latency includes both attempts",
        count=whole(resent), all=whole(sum(cell.answered for cell in cells)),
    )  # fmt: skip


def _queued(cells: Sequence[CellResult]) -> Message:
    """Return what it means if a connection took 1 s or longer to open; NOTHING if none did."""
    if max(cell.connect.max_ns for cell in cells) < CONNECT_AGAIN_NS:
        return NOTHING
    return message(
        "some connections took 1 s or longer to open. This usually means that the service's listen "
        "queue (backlog) was full: the kernel then drops the first packet, and the client's kernel "
        "sends it again after 1 s. Throughput includes this time. Give the server a larger "
        "backlog, or let it keep connections open"
    )


def _delay(cells: Sequence[CellResult]) -> Message:
    """Return what a median latency of 40 ms means if the service used hardly any CPU time; NOTHING
    for others.

    On a busy machine, answers take long for other reasons. So nothing is said there, nor of a few
    slow blocks.
    """
    busy = others(cells)
    settings = grouped(cells, attrgetter("cell_id")).values()
    delayed = [cell for of_one in settings if _are_mostly_delayed(of_one) for cell in of_one]
    if not delayed or (busy and busy.share > MOST_BUSY):
        return NOTHING
    p50_ns = median_of(lambda cell: cell.latency.percentile("p50"), delayed) or 0
    return message(
        "half of the answers took {p50} ms or longer, although the service used less than half a "
        "core. A median of 40 to 50 ms usually means that TCP causes the delay, not the service: "
        "the service sends an answer in two parts, such as head and body. The service's kernel "
        "holds the second part back until the first is acknowledged (Nagle's algorithm), and the "
        "client's kernel acknowledges the first part only after 40 ms or more (delayed ACK). Send "
        "each answer in one part, or set TCP_NODELAY. Measuring more blocks does not help",
        p50=whole(p50_ns / 1e6),
    )  # fmt: skip


def _are_mostly_delayed(cells: Sequence[CellResult]) -> bool:
    return sum(map(_is_delayed, cells)) >= MOST_BLOCKS * len(cells)


def _is_delayed(cell: CellResult) -> bool:
    """Return whether half of a cell's answers took as long as a delayed acknowledgement, on idle
    cores.
    """
    # an unknown CPU time counts as infinite, so that nothing is claimed
    used = cores_used(cell, cell.services) or inf
    return (cell.latency.percentile("p50") or 0) in DELAYED_ACK_NS and used < MOST_IDLE_CORES
