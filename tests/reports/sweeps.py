"""Synthetic sweeps: cells with a throughput, a memory and counters that one can check by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from core.cell import Value
from record.saved_run import CellResult, Run
from tests.reports.sample import MS, cell_of, measured, run_of

MIB = 2**20
TWO_S = 2000 * MS


def served(
    runtime: str,
    block: int,
    requests_per_s: float,
    values: Mapping[str, Value],
    *,
    system: str = "2",
    wall_ns: int = TWO_S,
    services: Sequence[Any] = ({},),
    clients: Sequence[Any] = ({},),
) -> CellResult:
    """An ok cell that was timed for two seconds. services, clients: what each of these tells besides."""
    cell = cell_of(system, runtime, values)
    answered = round(requests_per_s * wall_ns / 1e9)
    made = measured(cell, block, [wall_ns])
    return replace(
        made,
        wall_ns=wall_ns,
        requests=answered,
        answered=answered,
        services=[structs.replace(made.services[0], service_id=number, **one) for number, one in enumerate(services)],
        clients=[structs.replace(made.clients[0], client_id=number, **one) for number, one in enumerate(clients)],
    )


def sized(*sizes_mib: float) -> list[dict[str, int]]:
    """Processes with these proportional set sizes, MiB."""
    return [{"pss_bytes": round(size * MIB)} for size in sizes_mib]


def peaked_run(*, blocks: int) -> Run:
    """A sweep of worker threads whose throughput falls after its peak."""
    cells = []
    for n in (1, 2, 4, 8, 16, 25):
        values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 25, "NUM_WORKERS_PER_API_SERVICE": n}
        rate = 1000 * n / (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1))  # Universal Scalability Law: peak at 9.7
        cells += [served("3.14t", block, rate, values, system="4") for block in range(1, blocks + 1)]
    return run_of(cells, name="scaling", runtimes=["3.14t"])
