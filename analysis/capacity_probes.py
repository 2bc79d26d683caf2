"""Judge measurements at a request rate as probes: how many of their requests miss the objectives.

RATE is the requests/s of one client; all other rates here are of all clients together. lab/run/
measures the cells, analysis/capacity_search.py asks for them, and reports/ shows them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from analysis.capacity_model import Probe
from analysis.cell_index import number
from core.histogram import bounds_ns
from core.objective import Objective
from record.saved_run import CellResult

RATE = "RATE"
# a load generator that is later than this share of the limit may itself cause the misses
LAG_SHARE = 0.25


@dataclass(frozen=True, kw_only=True)
class Probed(Probe):
    """A measured probe: a measurement at one request rate, judged by the objective that it meets
    worst.

    is_limited: whether the load generator itself was late. The probe then says nothing of the
        service
    """

    cell: CellResult
    is_limited: bool


def probed(cell: CellResult, objectives: Sequence[Objective]) -> Probed:
    """Return a measurement at a rate as a probe."""
    judged = []
    for objective in objectives:
        misses, known = counted(cell, objective)
        allowed = objective.share * max(1, known)
        judged.append((misses / allowed, allowed, objective.share, objective.latency_ns))
    excess, allowed, share, limit_ns = max(judged, key=itemgetter(0))
    # too few requests for p99: the largest delay. Without a latency limit, no delay matters
    lag_ns = cell.lag.percentile("p99") or cell.lag.max_ns
    return Probed(
        cell=cell,
        rate=rate_of(cell),
        offered=max(1, cell.requests + unsent(cell)) / cell.wall_ns * 1e9,
        purpose=cell.probe,
        excess=excess,
        allowed=allowed,
        most=1 / share,
        is_limited=lag_ns > LAG_SHARE * limit_ns > 0,
    )


def faulty_cells(cells: Sequence[CellResult], objectives: Sequence[Objective]) -> list[CellResult]:
    """Return the measurements that are invalid, or failed although the load did not make their
    requests fail.

    Requests that fail at too high a rate are what a search looks for. If the other objectives are
    met, failed requests need an objective for errors, such as errors<1%.
    """

    def is_faulty(cell: CellResult) -> bool:
        if cell.status != "failed" or not cell.clients or not cell.requests:
            return cell.status != "ok"
        is_of_latency = all(one.latency_ns for one in objectives)
        return bool(cell.params[RATE]) and is_of_latency and probed(cell, objectives).passes

    return [cell for cell in cells if is_faulty(cell)]


def counted(cell: CellResult, objective: Objective) -> tuple[int, int]:
    """Return how many requests of a probe miss *objective*, and how many requests are known to miss
    or to meet it.

    An unsent request misses a latency objective if it was due longer ago than the limit. Otherwise
    it is not known.
    """
    failed, not_sent = failures(cell), unsent(cell)
    if not objective.latency_ns:
        return failed + not_sent, cell.requests + not_sent
    slow = sum(
        count
        for bucket, count in cell.latency.filled()
        if bounds_ns(bucket)[0] >= objective.latency_ns
    )
    too_old = max(0, not_sent - round(rate_of(cell) * objective.latency_ns / 1e9))
    known = cell.requests + too_old
    return min(known, slow + failed + too_old), known


def rate_of(cell: CellResult) -> float:
    """Return the requests/s that all clients of a probe together were to send."""
    return float(number(cell, RATE) * number(cell, "NUM_CLIENTS"))


def failures(cell: CellResult) -> int:
    """Return how many of the requests that were sent failed or had a wrong answer."""
    return sum(cell.errors.values()) + cell.wrong


def unsent(cell: CellResult) -> int:
    """Return how many requests were due but were not sent before the cell ended. They are always
    the latest ones.
    """
    return sum(client.overdue or 0 for client in cell.clients)
