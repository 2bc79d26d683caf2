"""What each row of the HTTP clients tells of its workers: how long they took, and how many requests were under way.

LMean is the mean time of a worker's loop, Bench the time from starting the workers to the end of the last one, as the
seed has them. Bench / LMean is the serialisation: 1 if all workers work at once, the number of workers if one works
after the other. Times are in ns, medians over the blocks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log
from statistics import mean, median

from core.result import CellResult
from core.runtime import RuntimeName
from reports.facts.cells import Row, grouped
from reports.facts.settings import parameter_values, varying
from reports.statistics.stats import Estimate, effect, paired_effect

HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"
BEAST = "http-beast-native"


def clients_by_setting(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows whose clients tell their workers' times by what varies: {'NUM_REQUESTS_PER_CLIENT 1000': ...}.

    Arms that take part a second time are left out.
    """
    firsts = [row for row in rows if row.good and row.runtime == row.good[0].runtime]
    clients = [row for row in firsts if all(map(_loops_ns, row.good))]
    names = varying(clients)
    return grouped(clients, lambda row: parameter_values(row.params, names))


def _loops_ns(cell: CellResult) -> list[int]:
    """Return the loop time of every worker."""
    return [loop_ns for client in cell.clients for loop_ns in client.get("workers_ns", ())]


def _bench_ns(cell: CellResult) -> int:
    return max(client["bench_ns"] for client in cell.clients)


def lmean_ns(row: Row) -> float:
    """Return LMean."""
    return median(mean(_loops_ns(cell)) for cell in row.good)


def bench_ns(row: Row) -> float:
    """Return Bench."""
    return median(map(_bench_ns, row.good))


def serialisation(row: Row) -> Estimate:
    """Return Bench / LMean. Bench is no shorter than any loop, so the interval does not go below 1."""
    ratio = effect([log(_bench_ns(cell) / mean(_loops_ns(cell))) for cell in row.good]).ratio
    return replace(ratio, low=min(ratio.value, max(1.0, ratio.low)))


def in_flight(row: Row) -> float:
    """Return median latency x requests / Bench: how many requests were under way.

    The mean latency would not do: a thread that waits for the GIL mostly waits within a request, so the sum of all
    latencies is that of the loops, and over Bench it is but the workers / serialisation.
    """
    return median(cell.latency["p50_ns"] * cell.latency["count"] / _bench_ns(cell) for cell in row.good)


def bench_ratio(row: Row, base: Row) -> Estimate | None:
    """Return Bench of *row* over that of *base*, paired by block; None if no block has both."""
    logarithm = paired_effect(*({cell.block: _bench_ns(cell) for cell in one.good} for one in (row, base)))
    return logarithm.ratio if logarithm else None


def timeline(row: Row) -> list[list[tuple[int, int]]]:
    """Return start and end of the first requests of each worker in the last block, ns from the release."""
    return [worker for client in row.good[-1].clients for worker in client.get("timeline", ())]


def telling_timelines(rows: Sequence[Row]) -> list[Row]:
    """Return those that explain the rest: held and released under the newest default build, held without a GIL."""
    chosen = []
    for system, has_gil in ((HELD, True), (RELEASED, True), (HELD, False)):
        named = [(RuntimeName.parse(row.runtime), row) for row in rows if row.system == system and timeline(row)]
        fitting = [(name, row) for name, row in named if name.gil_enabled == has_gil != name.free_threaded]
        fitting.sort(key=lambda pair: int(pair[0].version.removeprefix("3.")))
        chosen += [row for _, row in fitting[-1:]]
    return chosen
