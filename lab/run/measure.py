"""One cell in one block: fresh processes, one timed window, and what came of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any

from core.cell import Cell
from core.errors import ChildFailed, GilscopeError
from core.histogram import Histogram
from core.messages import NOTHING, Message, chained, listed, message, plural
from core.method import Method
from core.processtree import tree
from core.redact import Redactor
from core.request_plan import RequestPlan
from core.result import CellResult, Status
from core.secret import secrets_in
from core.slices import Slices
from core.system import CLIENT, SERVICE, System
from lab.places import REPOSITORY
from lab.run import pauses
from lab.run.children import END_DEADLINE_S, READY, RESET, RESULT, WARM, Child, Children
from lab.run.contract import (
    HISTOGRAMS,
    SLICES,
    SLOW,
    addresses,
    check_done,
    check_latencies,
    check_runtime,
    check_slices,
    check_slow,
    check_sums,
    check_window,
    client_results,
    expect_distinct,
    service_results,
)
from lab.run.cores import CoreWatch, Timeline
from lab.run.deadlines import calling_s, starting_s
from lab.run.faults import client_faults, expect_all_asked, service_faults
from lab.run.inside import Inside, Window, opened
from lab.run.pauses import Pauses
from lab.run.process import LocalProcess
from lab.run.runtimes import AnyRuntime, runtime_of
from lab.run.sandbox import Sandbox
from lab.run.slow import slow_requests, watched

NOT_READY = "not_ready"  # code of the reason of a cell whose children did not start
BEFORE_READY = message("before it was ready", code=NOT_READY)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every cell of a run is measured with, and how.

    inside: parts that run in the services' own processes (core/inside), with their options
    after: after(what was inside each service, the timed window) is called when a cell has ended, also one that failed
    listening: listening(pid of a service) is called before any client knows of it
    keepers: processes that hold cores awake
    watch: watch(pid of a service) is entered for the timed window
    """

    sandbox: Sandbox
    runtimes: Mapping[str, AnyRuntime]
    method: Method = Method()  # noqa: RUF009 - frozen
    inside: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType(pauses.DEFAULT))
    after: Callable[[Sequence[Inside], Window], None] = lambda insides, window: None
    listening: Callable[[int], None] = lambda pid: None
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext
    keepers: Sequence[int] = ()

    def runtime(self, cell: Cell, system: System, role: str) -> AnyRuntime:
        """What the *role* of the cell's *system* runs under."""
        return runtime_of(role, system, self.runtimes, cell.runtime, self.method)


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What the children of a cell sent. start_ns: spawn to all ready; window: first release to last answer."""

    start_ns: int
    window: Window
    clients: list[dict[str, Any]]
    services: list[dict[str, Any]]
    collected: list[Pauses]
    waits: Mapping[str, Timeline]
    faults: list[Message]


def measure(cell: Cell, system: System, block: int, bench: Bench, arm: str = "") -> CellResult:
    """Run *cell* once. Never raises for what its children do: a cell that fails says so in its result.

    arm: the name that the runtime takes part under, if it is not its own
    """
    start_ns = perf_counter_ns()
    client_runtime, redactor = str(bench.runtime(cell, system, CLIENT).name), redactor_of(system)
    identity: dict[str, Any] = {name: getattr(cell, name) for name in ("cell_id", "system", "runtime", "params")}
    identity |= {"arm": arm or cell.runtime, "client_runtime": client_runtime, "block": block}
    with opened(bench.sandbox.folder, bench.inside, system.services(cell)) as insides:
        try:
            with Children(bench.sandbox, str(REPOSITORY)) as children:
                observed = _redacted(_observe(cell, system, children, bench, insides), redactor)
        except GilscopeError as error:
            bench.after(insides, Window())
            spent_ns, reason = perf_counter_ns() - start_ns, redactor.message(error.message)
            requests = 0 if bench.method.duration_s else cell.requests
            return CellResult(**identity, status="failed", reason=reason, requests=requests, overhead_ns=spent_ns)
        bench.after(insides, observed.window)
    wall_ns = observed.window.end_ns - observed.window.start_ns
    return CellResult(
        **identity, **_summed(observed), wall_ns=wall_ns, overhead_ns=perf_counter_ns() - start_ns - wall_ns
    )


def _observe(cell: Cell, system: System, children: Children, bench: Bench, insides: Sequence[Inside]) -> Observed:
    runtime, client_runtime = (bench.runtime(cell, system, role) for role in (SERVICE, CLIENT))
    method = bench.method
    started_ns = perf_counter_ns()
    cell_line = _cell_line(cell, system, runtime, bench.method, children.folder)
    services = _start_services(children, runtime, system, insides)
    clients = _start(children, client_runtime, system, CLIENT, [{}] * cell.num_clients)
    sockets = _ready_services(children, runtime, services, cell_line, insides)
    bench.listening(services[0].process.pid)
    for client_id, client in enumerate(clients):
        place = {"client_id": client_id, "addresses": sockets, "method": method.to_json(), "cpus": method.pin_clients}
        client.tell({**cell.to_json(), **place, **client_runtime.told(system)})
    check_runtime(client_runtime, clients, children.hear_all(clients, READY, BEFORE_READY, starting_s({})))
    ready_ns = perf_counter_ns()
    if method.warmup:
        _do(children, clients, WARM, message("during the warm-up"), calling_s(cell, system, method))
        _do(children, services, RESET, message("after the warm-up"), END_DEADLINE_S)
    marks = pauses.marks(insides)
    with bench.watch(services[0].process.pid), CoreWatch(_watched(services, clients, system)) as cores:
        released_ns = perf_counter_ns()
        for client in clients:
            client.tell("go")
        calling = message("while the clients were calling")
        client_lines = children.hear_all(clients, RESULT, calling, calling_s(cell, system, method))
        heard_ns = perf_counter_ns()
    collected = pauses.within(Window(start_ns=released_ns, end_ns=heard_ns), insides, marks)
    for service in services:
        service.end_of_file()
    service_lines = children.hear_all(services, RESULT, message("at the end of the cell"), END_DEADLINE_S)
    if system.hosted:  # or the time of a user's processes would count as that of others
        for service in services:
            service.let_end(END_DEADLINE_S)
    by_client, by_service = client_results(client_lines, clients), service_results(service_lines, services)
    for child, result in zip(services, by_service, strict=True):
        if noticed := child.notices():
            result["notices"] = noticed
    check_window(clients, by_client, released_ns, heard_ns)
    check_slow(clients, by_client, len(services), heard_ns)
    check_slices(clients, by_client, released_ns, heard_ns)
    check_latencies(cell, system, clients, by_client, len(services))
    expect_all_asked(cell, system, services, by_client, by_service)
    check_sums(by_client, by_service)
    faults = [
        *service_faults(runtime, system, services, by_service),
        *client_faults(client_runtime, system, clients, by_client),
    ]
    ends_ns = [client["finished_ns"] for client in by_client]
    window = Window(start_ns=released_ns, end_ns=max(ends_ns, default=released_ns))
    return Observed(
        start_ns=ready_ns - started_ns,
        window=window,
        clients=by_client,
        services=by_service,
        collected=collected,
        waits=cores.timelines,
        faults=faults,
    )


def _watched(services: Sequence[Child], clients: Sequence[Child], system: System) -> dict[str, list[int]]:
    """The processes whose waits for a core are noted: none of a service that already runs, or of another host."""
    is_tree = system.hosted or system.forks
    is_away = system.user_service is not None and system.user_service.already_runs
    pids = {
        **{watched(SERVICE, number): None if is_away else _pid(child) for number, child in enumerate(services)},
        **{watched(CLIENT, number): _pid(child) for number, child in enumerate(clients)},
    }
    return {name: tree(pid) if is_tree and SERVICE in name else [pid] for name, pid in pids.items() if pid}


def _pid(child: Child) -> int | None:
    return child.process.pid if isinstance(child.process, LocalProcess) else None


def redactor_of(system: System) -> Redactor:
    """Takes what children of *system* are told in secret out of what they say."""
    own = system.told.get("own")
    files = (request.body_file for request in RequestPlan.from_json(own["requests"]).requests) if own else ()
    bodies = (Path(file).read_bytes().decode(errors="replace") for file in files if Path(file).is_file())
    return Redactor([*(secret.reveal() for secret in secrets_in(own)), *bodies])


def _redacted(observed: Observed, redactor: Redactor) -> Observed:
    """Without secrets in what services answered and children wrote. The name of a request has none."""
    for client in (client for client in observed.clients if client.get("first_wrong")):
        client["first_wrong"] |= redactor.json({key: client["first_wrong"].get(key, "") for key in ("got", "expected")})
    return replace(
        observed,
        services=[redactor.json(service) for service in observed.services],
        faults=[redactor.message(fault) for fault in observed.faults],
    )


def _start(
    children: Children, runtime: AnyRuntime, system: System, role: str, variables: Sequence[Mapping[str, str]]
) -> list[Child]:
    """One child for each of *variables*, which are added to its environment."""
    command, name, count = runtime.command(system, role), str(runtime.name), len(variables)
    return [
        children.start(_name(role, number, count), name, command, added) for number, added in enumerate(variables, 1)
    ]


def _start_services(children: Children, runtime: AnyRuntime, system: System, insides: Sequence[Inside]) -> list[Child]:
    """The services. What runs inside them is in their environment, or, where a user's command runs, for its child."""
    variables = [{} if system.hosted else inside.variables for inside in insides]
    return _start(children, runtime, system, SERVICE, variables)


def _name(role: str, number: int, total: int) -> Message:
    if role == SERVICE:
        return message("Service {number} of {total}", number=number, total=total)
    return message("Client {number} of {total}", number=number, total=total)


def _do(children: Children, doers: Sequence[Child], word: str, when: Message, deadline_s: float) -> None:
    """Send *doers* a word, and wait until each has done it."""
    for child in doers:
        child.tell(word)
    check_done(children.hear_all(doers, word, when, deadline_s), doers, word)


def _cell_line(cell: Cell, system: System, runtime: AnyRuntime, method: Method, folder: str) -> dict[str, Any]:
    """What the services are told: the cell, and a folder for their sockets."""
    return {**cell.to_json(), "folder": folder, "cpus": method.pin_services, **runtime.told(system)}


def _ready_services(
    children: Children,
    runtime: AnyRuntime,
    services: list[Child],
    cell_line: Mapping[str, Any],
    insides: Sequence[Inside],
) -> list[list[str]]:
    """Tell the services what they serve and wait until all listen; of each, its addresses. Raises ChildFailed."""
    for service_id, (service, inside) in enumerate(zip(services, insides, strict=True)):
        service.tell({**cell_line, "service_id": service_id, "inside": inside.variables})
    lines = children.hear_all(services, READY, BEFORE_READY, starting_s(cell_line))
    check_runtime(runtime, services, lines)
    sockets = [addresses(line, service) for line, service in zip(lines, services, strict=True)]
    expect_distinct(services, sockets)
    return sockets


def start_services(cell: Cell, system: System, children: Children, bench: Bench) -> list[list[str]]:
    """Start the services of *cell* and no clients; of each, its addresses. Raises ChildFailed."""
    runtime = bench.runtime(cell, system, SERVICE)
    cell_line = _cell_line(cell, system, runtime, bench.method, children.folder)
    insides = [Inside(bench.sandbox.folder, {}) for _ in range(system.services(cell))]
    services = _start_services(children, runtime, system, insides)
    try:
        return _ready_services(children, runtime, services, cell_line, insides)
    except ChildFailed as failed:
        raise ChildFailed(redactor_of(system).message(failed.message)) from None


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
    first_wrong: dict[str, str] = next((client["first_wrong"] for client in clients if client.get("first_wrong")), {})
    status, reason = _judged(counts, observed.faults, first_wrong, idle=not clients)
    histograms = {name: _merged(client[name] for client in clients if name in client) for name in HISTOGRAMS}
    slow = [client.get(SLOW) for client in clients]
    return {
        **counts,
        "start_ns": observed.start_ns,
        "status": status,
        "reason": reason,
        **histograms,
        "slow": slow_requests(slow, observed.collected, observed.waits, histograms["latency"], observed.window),
        "slices": _sliced([client.get(SLICES) for client in clients], observed.window),
        "calc_ns": sum(client.get("calc_ns", 0) for client in clients),
        "clients": [{"client_id": number, **_without_bulk(client)} for number, client in enumerate(clients)],
        "services": [
            {"service_id": number, **service, **({"pauses": dict(collected.summary)} if collected.summary else {})}
            for number, (service, collected) in enumerate(zip(observed.services, observed.collected, strict=True))
        ],
    }


def _judged(
    counts: Mapping[str, Any], invalid: list[Message], first_wrong: Mapping[str, str], *, idle: bool
) -> tuple[Status, Message]:
    faults, requests, unanswered = [], counts["requests"], counts["requests"] - counts["answered"]
    if unanswered:
        faults.append(
            plural(
                "{count} of {requests} requests was not answered",
                "{count} of {requests} requests were not answered",
                count=unanswered,
                requests=requests,
            )
        )
    if not requests and not idle:
        faults.append(message("no request was sent"))
    if counts["wrong"]:
        faults.append(plural("{count} answer was wrong", "{count} answers were wrong", count=counts["wrong"]))
    if counts["errors"]:
        errors = listed(f"{number} x {code}" for code, number in sorted(counts["errors"].items()))
        faults.append(message("errors: {errors}", errors=errors))
    if first_wrong:
        faults.append(message("first wrong answer, to {request}: {got}; expected {expected}", **first_wrong))
    if faults:
        return "failed", chained(faults)
    return ("invalid", chained(invalid)) if invalid else ("ok", NOTHING)


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    total = Histogram()
    for part in parts:
        total.merge(Histogram.from_json(part))
    return total.to_json() if total.count else {}


def _sliced(said: Sequence[Mapping[str, Any] | None], window: Window) -> dict[str, Any]:
    """Answers of all clients by time, from the window's start on; empty where one does not say."""
    if not said or not all(said):
        return {}
    total = Slices()
    for slices in said:
        total.merge(Slices.from_json(slices or {}))
    sliced = total.to_json()
    return {**sliced, "start_ns": sliced["start_ns"] - window.start_ns}


def _without_bulk(client: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the cell has together."""
    return {name: value for name, value in client.items() if name not in (*HISTOGRAMS, SLOW, SLICES)}
