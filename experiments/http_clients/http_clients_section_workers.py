"""Compute figures of the HTTP clients' workers: times of their loops, and requests in flight.

LMean is the mean time of a worker's loop, in which it sends all its requests. Bench is the total
time, from the start of the workers to the end of the last one. The seed uses the same figures.
Bench / LMean is 1 if all workers run in parallel, and the number of workers if they run one after
the other. Times are in ns, medians over the blocks.

http_clients_section.py calls these functions, for rows of the report (analysis/cell_index.py). Its
name has `_section`, so it may import analysis, and measured processes never import it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log
from statistics import mean, median

from analysis.cell_index import Row
from analysis.stats import Estimate, effect
from core.runtime import RuntimeName
from record.saved_run import CellResult

# names of systems (http_systems.py)
HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"


def clients(rows: Iterable[Row]) -> list[Row]:
    """Return the results of HTTP clients. The second arms of A/A comparisons are left out."""
    firsts = [row for row in rows if row.good and row.runtime == row.good[0].runtime]
    return [row for row in firsts if all(map(_loops_ns, row.good))]


def _loops_ns(cell: CellResult) -> list[int]:
    """Return the time in which each worker sent all its requests, in ns."""
    return [loop_ns for client in cell.clients for loop_ns in client.workers_ns]


def _bench_ns(cell: CellResult) -> int:
    return max(client.bench_ns for client in cell.clients)


def lmean_ns(row: Row) -> float:
    """Return LMean, the mean time in which a worker sent all its requests, in ns."""
    return median(mean(_loops_ns(cell)) for cell in row.good)


def bench_ns(row: Row) -> float:
    """Return Bench, the time from the start of the workers to the end of the last one, in ns."""
    return median(map(_bench_ns, row.good))


def serialisation(row: Row) -> Estimate:
    """Return the workers' total time divided by the mean time of a worker. Its interval does not go
    below 1.

    The result is Bench / LMean: 1 if the workers ran in parallel, and more if they ran one after
    another.
    """
    ratio = effect([log(_bench_ns(cell) / mean(_loops_ns(cell))) for cell in row.good]).ratio
    return replace(ratio, low=min(ratio.value, max(1.0, ratio.low)))


def in_flight(row: Row) -> float:
    """Return the typical number of requests that were in flight at the same time.

    It is median latency x requests / Bench, the total time of the workers.
    The mean latency is not suitable. Threads wait for the GIL mostly within a request, so the sum
    of all latencies is the sum of the loops, and the result would only be workers /
    serialisation().
    """
    return median(
        (cell.latency.percentile("p50") or 0) * cell.latency.count / _bench_ns(cell)
        for cell in row.good
    )


def timeline(row: Row) -> list[list[tuple[int, int]]]:
    """Return when each worker's first requests started and ended in the last block, in ns after the
    workers' start.
    """
    return [worker for client in row.good[-1].clients for worker in client.timeline]


def typical_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the results of three typical clients with Boost.Beast, each under the newest build of
    Python.

    They are the client that holds the GIL and the client that releases it, both under a default
    build, and the client that would hold the GIL, under a free-threaded build with its GIL off.
    """
    chosen = []
    for system, has_gil in ((HELD, True), (RELEASED, True), (HELD, False)):
        fitting = {}
        for row in rows:
            name = RuntimeName(row.runtime)
            is_as_built = name.gil_enabled == has_gil != name.free_threaded
            if row.system == system and is_as_built and timeline(row):
                fitting[name.minor] = row
        if fitting:
            chosen.append(fitting[max(fitting)])
    return chosen
