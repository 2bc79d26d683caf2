"""Synthetic runs: cells with figures that one can check by hand, and a whole record."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from core.cell import Cell, Value
from core.histogram import Histogram
from core.messages import verbatim
from core.request_plan import Request, RequestPlan
from core.runtime import Flags, RuntimeFacts
from core.user_service import Command, UserService
from record.child_lines import ClientResult, ServiceResult
from record.comparison import SavedComparison
from record.decode import decoded
from record.run_file import plain
from record.saved_plan import Machine, SavedPlan
from record.saved_run import CellResult, Run, Status
from systems import find

TITLES = {
    "1": "Single socket, no connection cache",
    "2": "Single socket, connection cache",
    "3": "Tornado",
    "4": "Multi-socket pool",
}
_KNOWN: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text())
RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")
MS = 1_000_000
SMALL: Mapping[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}

FASTER = SavedComparison(
    system="1", params={}, denominator="3.11", numerator="3.14t", step="other", verdict="faster", why=verbatim("why")
)


def cell_of(system: str, runtime: str, values: Mapping[str, Value] | None = None) -> Cell:
    """A cell with the defaults, but for *values*."""
    return Cell.build(system=system, runtime=runtime, reads=find(system).parameters, values=values or {})


def histogram_of(values_ns: Iterable[int]) -> Histogram:
    """A histogram of these values."""
    histogram = Histogram()
    for value_ns in values_ns:
        histogram.record(value_ns)
    return histogram


def measured(
    cell: Cell, block: int, completions_ns: Sequence[int], latencies_ns: Sequence[int] = (), cpu_ns: int = 10 * MS
) -> CellResult:
    """An ok result: one client per completion time; every service and client spent cpu_ns user and as much system."""
    usage = {**_KNOWN["usage"], "cpu_user_ns": cpu_ns, "cpu_system_ns": cpu_ns}
    answered = cell.requests // len(completions_ns)
    clients = [
        client_of(number, completion_ns=value_ns, requests=answered, answered=answered, **usage)
        for number, value_ns in enumerate(completions_ns)
    ]
    services = [ServiceResult(service_id=0, requests=cell.requests, **usage)]
    return CellResult(
        **_identity(cell, block),
        status="ok",
        wall_ns=max(completions_ns) + MS,
        answered=cell.requests,
        latency=histogram_of(latencies_ns or completions_ns),
        clients=clients,
        services=services,
    )


def client_of(number: int = 0, **counted: Any) -> ClientResult:
    """The result of a client: no wrong answers and no errors, but for what *counted* says."""
    counts: dict[str, Any] = {"completion_ns": 1, "requests": 0, "answered": 0, "wrong": 0, "errors": {}}
    return ClientResult(client_id=number, **{**counts, **counted})


def with_clients(cell: CellResult, **counted: Any) -> CellResult:
    """The cell, in which each client counted this as well."""
    return replace(cell, clients=[structs.replace(client, **counted) for client in cell.clients])


def with_services(cell: CellResult, **counted: Any) -> CellResult:
    """The cell, in which each service counted this as well."""
    return replace(cell, services=[structs.replace(service, **counted) for service in cell.services])


def with_load(cell: CellResult, share: float) -> CellResult:
    """The cell, during which `make` used this share of two cores."""
    load: Any = {"cores": 2, "window_ns": 10**9, "share": share, "busiest": {"make": share}, "neighbours": {}}
    return replace(cell, others={"": load})


def idle(cell: CellResult) -> CellResult:
    """The cell without clients: services were started, waited and were ended."""
    params = {**cell.params, "NUM_CLIENTS": 0}
    return replace(cell, params=params, clients=[], wall_ns=0, latency=Histogram(), requests=0, answered=0)


def faulty(cell: Cell, block: int, status: Status, reason: str) -> CellResult:
    """A result without figures."""
    return CellResult(**_identity(cell, block), status=status, reason=verbatim(reason))


def _identity(cell: Cell, block: int) -> dict[str, Any]:
    return {
        "cell_id": cell.cell_id,
        "system": cell.system,
        "runtime": cell.runtime,
        "arm": cell.runtime,
        "block": block,
        "params": cell.params,
        "requests": cell.requests,
    }


def facts(name: str) -> RuntimeFacts:
    """A runtime's entry in result.json; of the flags PGO alone is on."""
    return RuntimeFacts(
        **_KNOWN["runtime"],
        executable=f"/opt/{name}/bin/python",
        version="3.11.9" if name == "3.11" else "3.14.7",
        gil_disabled_build="t" in name,
        gil_enabled=name != "3.14t",
        flags=Flags(**_KNOWN["flags"]),
    )


def set_plan(run: Run, **values: Any) -> Run:
    """Change values of a run's plan, given as result.json has them. Return the run."""
    run.plan = decoded({**plain(run.plan), **values}, SavedPlan)
    return run


def with_service(run: Run, *requests: Request, name: str = "shop") -> Run:
    """Make *run* one of a user's service that is asked for these. Return the run."""
    plan = RequestPlan(requests=requests or (Request(),))
    service = UserService(name=name, start=Command(command="serve {port}"), requests=plan)
    return set_plan(run, own=service.to_json())


def run_of(
    cells: Sequence[CellResult],
    *,
    name: str = "quick",
    blocks: int = 3,
    runtimes: Sequence[str] = (),
    scale: float = 1.0,
    missing: Mapping[str, str] | None = None,
) -> Run:
    """A run whose plan is what *cells* measured.

    runtimes: by default 3.11 and 3.14t, or those of the cells if they have others
    """
    if not runtimes:
        seen = dict.fromkeys(cell.runtime for cell in cells)
        runtimes = ("3.11", "3.14t") if {*seen} <= {"3.11", "3.14t"} else tuple(seen)
    known = {(cell.system, str(cell.params)): {"system": cell.system, "params": cell.params} for cell in cells}
    plan = {
        "name": name,
        "blocks": blocks,
        "scale": scale,
        "runtimes": [*runtimes, *(missing or {})],
        "rows": list(known.values()),
    }
    return Run(
        **_KNOWN["run"],
        plan=decoded(plan, SavedPlan),
        machine=decoded(_KNOWN["machine"], Machine),
        runtimes={one: facts(one) for one in runtimes},
        missing={name: verbatim(line) for name, line in (missing or {}).items()},
        cells=list(cells),
    )


def seed_run(*, requests: int = 1000, runtimes: Sequence[str] = RUNTIMES, blocks: int = 3, **more: Any) -> Run:
    """Every row of the seed's record, with plausible figures that are the same each time."""
    chance = random.Random(3)
    cells = []
    for system, values in _KNOWN["seed rows"]:
        base_ns = chance.uniform(2e9, 9e9)
        for runtime in runtimes:
            factor = {"3.11": 1.0, "3.14": 0.95, "3.14t+gil": 1.05, "3.14t": 0.7}[runtime]
            cell = cell_of(system, runtime, {**values, "NUM_REQUESTS_PER_CLIENT": requests})
            for block in range(1, blocks + 1):
                middle_ns = base_ns * factor * chance.uniform(0.95, 1.08)
                completions = [round(middle_ns * chance.uniform(0.97, 1.05)) for _ in range(5)]
                latencies = [round(chance.lognormvariate(15, 0.6) * factor) for _ in range(4000)]
                cells.append(measured(cell, block, completions, latencies, cpu_ns=round(middle_ns)))
    return run_of(cells, blocks=blocks, runtimes=runtimes, **{"name": "record", **more})
