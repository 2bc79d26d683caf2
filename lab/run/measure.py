"""One cell in one block: fresh processes, one timed window, and what came of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from tempfile import mkdtemp
from time import perf_counter_ns
from typing import Any

from core.cell import Cell
from core.errors import GilscopeError
from core.histogram import Histogram
from core.method import Method
from core.result import CellResult, Status
from core.system import CLIENT, SERVICE, System
from lab.places import REPOSITORY
from lab.run.children import END_DEADLINE_S, READY, RESET, RESULT, WARM, Child, Crew
from lab.run.contract import addresses, check_runtime, client_results, service_results
from lab.run.deadlines import calling_s, starting_s
from lab.run.faults import client_faults, service_faults
from lab.run.runtimes import AnyRuntime, runtime_of
from lab.run.sandbox import Sandbox
from systems import find

NOT_READY = "before it was ready"


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every cell of a run is measured with, and how. watch(pid of a service) is entered for the timed window."""

    sandbox: Sandbox
    runtimes: Mapping[str, AnyRuntime]
    method: Method = Method()  # noqa: RUF009 - frozen
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext

    def runtime(self, cell: Cell, system: System, role: str) -> AnyRuntime:
        """What the *role* of the cell's *system* runs under."""
        return runtime_of(role, system, self.runtimes, cell.runtime, self.method)


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What the children of one cell said; start_ns: spawn to all ready; released_ns: when, on the monotonic clock."""

    start_ns: int
    released_ns: int
    clients: list[dict[str, Any]]
    services: list[dict[str, Any]]
    faults: list[str]


def measure(cell: Cell, system: System, block: int, bench: Bench, arm: str = "") -> CellResult:
    """Run *cell* once. Never raises for what its children do: a cell that fails says so in its result.

    arm: the name that the runtime takes part under, where it is not its own.
    """
    start_ns = perf_counter_ns()
    known: dict[str, Any] = {
        "cell_id": cell.cell_id,
        "system": cell.system,
        "runtime": cell.runtime,
        "arm": arm or cell.runtime,
        "client_runtime": str(bench.runtime(cell, system, CLIENT).name),
        "block": block,
        "params": cell.params,
    }
    try:
        with Crew(bench.sandbox, str(REPOSITORY)) as crew:
            observed = _observe(cell, system, crew, bench)
    except GilscopeError as error:
        spent_ns = perf_counter_ns() - start_ns
        requests = 0 if bench.method.duration_s else cell.requests
        return CellResult(**known, status="failed", reason=str(error), requests=requests, overhead_ns=spent_ns)
    ends_ns = [client["finished_ns"] for client in observed.clients]
    wall_ns = max(ends_ns, default=observed.released_ns) - observed.released_ns
    return CellResult(
        **known,
        **_summed(observed),
        wall_ns=wall_ns,
        overhead_ns=perf_counter_ns() - start_ns - wall_ns,
    )


def _observe(cell: Cell, system: System, crew: Crew, bench: Bench) -> Observed:
    runtime, client_runtime = (bench.runtime(cell, system, role) for role in (SERVICE, CLIENT))
    method = bench.method
    started_ns = perf_counter_ns()
    folder = mkdtemp(prefix="", dir=bench.sandbox.folder)
    services = _start(crew, runtime, system, SERVICE, system.services(cell))
    clients = _start(crew, client_runtime, system, CLIENT, cell.num_clients)
    served_cell = {**cell.to_json(), "folder": folder, "cpus": method.pin_services, **runtime.told(system)}
    sockets = ready_services(crew, runtime, services, served_cell)
    for client_id, client in enumerate(clients):
        told = {"client_id": client_id, "addresses": sockets, "method": method.to_json(), "cpus": method.pin_clients}
        client.tell({**cell.to_json(), **told, **client_runtime.told(system)})
    check_runtime(client_runtime, clients, crew.hear_all(clients, READY, NOT_READY, starting_s({})))
    ready_ns = perf_counter_ns()
    if method.warmup:
        _do(crew, clients, WARM, "during the warm-up", calling_s(cell, system, method))
        _do(crew, services, RESET, "after the warm-up", END_DEADLINE_S)
    with bench.watch(services[0].process.pid):
        released_ns = perf_counter_ns()
        for client in clients:
            client.tell("go")
        called = crew.hear_all(clients, RESULT, "while the clients were calling", calling_s(cell, system, method))
    for service in services:
        service.end_of_file()
    served = crew.hear_all(services, RESULT, "at the end of the cell", END_DEADLINE_S)
    if system.hosted:  # the time of a user's processes is not to be taken for that of others
        for service in services:
            service.let_end(END_DEADLINE_S)
    by_client, by_service = client_results(called, clients), service_results(served, services)
    faults = [
        *service_faults(runtime, system, services, by_service),
        *client_faults(client_runtime, system, clients, by_client),
    ]
    return Observed(
        start_ns=ready_ns - started_ns,
        released_ns=released_ns,
        clients=by_client,
        services=by_service,
        faults=faults,
    )


def _start(crew: Crew, runtime: AnyRuntime, system: System, role: str, count: int) -> list[Child]:
    command = runtime.command(system, role)
    name = role.capitalize()
    return [crew.start(f"{name} {number + 1} of {count}", str(runtime.name), command) for number in range(count)]


def _do(crew: Crew, children: Sequence[Child], word: str, when: str, deadline_s: float) -> None:
    """Tell *children* a word, and wait until each has done it."""
    for child in children:
        child.tell(word)
    crew.hear_all(children, word, when, deadline_s)


def ready_services(crew: Crew, runtime: AnyRuntime, services: list[Child], told: Mapping[str, Any]) -> list[list[str]]:
    """Tell the services what they serve and wait until all listen; of each, its addresses. Raises ChildFailed."""
    for service_id, service in enumerate(services):
        service.tell({**told, "service_id": service_id})
    lines = crew.hear_all(services, READY, NOT_READY, starting_s(told))
    check_runtime(runtime, services, lines)
    return [addresses(line, service) for line, service in zip(lines, services, strict=True)]


def start_services(cell: Cell, crew: Crew, bench: Bench) -> list[list[str]]:
    """Start the services of *cell* and no clients; of each, its addresses. Raises ChildFailed."""
    system = find(cell.system)
    runtime = bench.runtime(cell, system, SERVICE)
    services = _start(crew, runtime, system, SERVICE, system.services(cell))
    folder = mkdtemp(prefix="", dir=bench.sandbox.folder)
    told = {**cell.to_json(), "folder": folder, "cpus": bench.method.pin_services, **runtime.told(system)}
    return ready_services(crew, runtime, services, told)


def _summed(observed: Observed) -> dict[str, Any]:
    clients, errors = observed.clients, Counter[str]()
    for client in clients:
        errors.update(client["errors"])
    counts = {
        "requests": sum(client["requests"] for client in clients),
        "answered": sum(client["answered"] for client in clients),
        "wrong": sum(client["wrong"] for client in clients),
        "errors": dict(errors),
    }
    first_wrong: dict[str, str] = next((one["first_wrong"] for one in clients if one.get("first_wrong")), {})
    status, reason = _judged(counts, observed.faults, first_wrong, idle=not clients)
    return {
        **counts,
        "start_ns": observed.start_ns,
        "status": status,
        "reason": reason,
        "latency": _merged(client["latency"] for client in clients),
        "connect": _merged(client["connect"] for client in clients if "connect" in client),
        "waiting": _merged(client["waiting"] for client in clients if "waiting" in client),
        "calc_ns": sum(client.get("calc_ns", 0) for client in clients),
        "clients": [{"client_id": number, **_apart(one)} for number, one in enumerate(clients)],
        "services": [{"service_id": number, **one} for number, one in enumerate(observed.services)],
    }


def _judged(
    counts: Mapping[str, Any], invalid: list[str], first_wrong: Mapping[str, str], *, idle: bool
) -> tuple[Status, str]:
    faults, requests, answered = [], counts["requests"], counts["answered"]
    if answered != requests:
        faults.append(f"{requests - answered} of {requests} requests were not answered")
    if not requests and not idle:
        faults.append("no request was sent")
    if counts["wrong"]:
        faults.append(f"{counts['wrong']} answers were wrong")
    if counts["errors"]:
        faults.append("errors: " + ", ".join(f"{number} x {code}" for code, number in sorted(counts["errors"].items())))
    if first_wrong:
        faults.append("first wrong answer, to {request}: {got}; expected {expected}".format(**first_wrong))
    if faults:
        return "failed", "; ".join(faults)
    return ("invalid", "; ".join(invalid)) if invalid else ("ok", "")


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    total = Histogram()
    for part in parts:
        total.merge(Histogram.from_json(part))
    return total.to_json() if total.count else {}


def _apart(client: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in client.items() if name not in ("latency", "connect", "waiting")}
