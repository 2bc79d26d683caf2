"""Synthetic rows of the HTTP clients: what workers did at once, by figures that one can check by hand."""

from collections.abc import Sequence

from analysis.cell_index import Cells, Row
from experiments.http_clients.http_clients_section import clients
from record.saved_run import CellResult, Run
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.sample import MS


def worked(
    system: str, runtime: str, workers_ms: Sequence[float], bench_ms: float, request_ns: int = 100_000
) -> list[CellResult]:
    """Three blocks in which the workers' loops took so long, with 100 requests of *request_ns* from all of them."""
    client = {
        "worker": "thread",
        "workers_ns": [round(one * MS) for one in workers_ms],
        "bench_ns": round(bench_ms * MS),
    }
    return blocks_of(system, 50, runtime=runtime, latencies_ns=[request_ns] * 100, client=client)


HELD = worked("http-beast-held", "3.11", [1] * 10, 10)
HELD_FREE = worked("http-beast-held", "3.14t", [4] * 10, 4, 400_000)
RELEASED = worked("http-beast-released", "3.11", [5] * 10, 5, 500_000)
RELEASED_FREE = worked("http-beast-released", "3.14t", [6] * 10, 6, 600_000)
UNDECLARED = worked("http-beast-undeclared", "3.14t", [1.25] * 8, 10)
NATIVE = worked("http-beast-native", "native", [4] * 10, 4, 400_000)


def story_run() -> Run:
    """Held, released and undeclared under 3.11 and 3.14t, and the native program."""
    return contest_run(NATIVE, HELD, HELD_FREE, RELEASED, RELEASED_FREE, UNDECLARED, view="http-clients")


def only_client(*cells: Sequence[CellResult]) -> Row:
    """The one client of a run of these cells."""
    (client,) = clients(Cells(contest_run(*cells, view="http-clients")).rows)
    return client
