"""One cell in one block: fresh processes, one timed window, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any

from core.cell import Cell
from core.errors import ChildFailed, GilscopeError
from core.messages import Message, message
from core.method import Method
from core.processtree import tree
from core.redact import Redactor
from core.request_plan import RequestPlan
from core.result import CellResult
from core.secret import secrets_in
from core.system import CLIENT, SERVICE, System
from lab.machine.wakeups import kept_awake
from lab.places import REPOSITORY
from lab.run import pauses
from lab.run.children import END_DEADLINE_S, READY, RESET, RESULT, WARM, Child, Children
from lab.run.contract import (
    addresses,
    check_done,
    check_load,
    check_runtime,
    check_times,
    expect_distinct,
    take_client_result,
    take_service_result,
)
from lab.run.cores import CoreWatch
from lab.run.deadlines import calling_s, starting_s
from lab.run.faults import add_jit_states, client_faults, jit_parts, jit_states, service_faults
from lab.run.inside import Inside, Window, opened
from lab.run.observed import Observed, summed
from lab.run.places import AllHere, Ended, Hosts, Places
from lab.run.process import LocalProcess
from lab.run.runtimes import AnyRuntime, runtime_of
from lab.run.sandbox import Sandbox
from lab.run.slow import watched

NOT_READY = "not_ready"  # code of the reason of a cell whose children did not start
BEFORE_READY = message("before it was ready", code=NOT_READY)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every cell of a run is measured with, and how.

    inside: parts that run in the services' own processes (core/inside), with their options
    after: after(what was inside each service, the timed window) is called when a cell has ended, also one that failed
    listening: listening(pid of a service) is called before any client knows of it
    watch: watch(pid of a service) is entered for the timed window
    places: where children run; None for this machine
    """

    sandbox: Sandbox
    runtimes: Mapping[str, AnyRuntime]
    method: Method = Method()  # noqa: RUF009 - frozen
    inside: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType(pauses.DEFAULT))
    after: Callable[[Sequence[Inside], Window], None] = lambda insides, window: None
    listening: Callable[[int], None] = lambda pid: None
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext
    places: Hosts | None = None

    def runtime(self, cell: Cell, system: System, role: str) -> AnyRuntime:
        """What the *role* of the cell's *system* runs under."""
        return runtime_of(role, system, self.runtimes, cell.runtime, self.method)


def measure(cell: Cell, system: System, block: int, bench: Bench, arm: str = "") -> CellResult:
    """Run *cell* once. Never raises for what its children do: a cell that fails says so in its result.

    arm: the name that the runtime takes part under, if it is not its own
    """
    start_ns = perf_counter_ns()
    client_runtime, redactor = str(bench.runtime(cell, system, CLIENT).name), redactor_of(system)
    identity: dict[str, Any] = {name: getattr(cell, name) for name in ("cell_id", "system", "runtime", "params")}
    identity |= {"arm": arm or cell.runtime, "client_runtime": client_runtime, "block": block}
    parts = {**bench.inside, **jit_parts(bench.runtime(cell, system, SERVICE))} if bench.inside else {}
    inside = bench.places.inside if bench.places else partial(Inside, bench.sandbox.folder)
    with opened(partial(inside, parts), system.services(cell)) as insides:
        try:
            awake = (
                bench.places.kept_awake
                if bench.places
                else partial(kept_awake, process_group=bench.sandbox.process_group)
            )
            with awake(cell.keep_awake), Children(bench.sandbox, str(REPOSITORY)) as children:
                observed = _redacted(_observe(cell, system, children, bench, insides), redactor)
        except GilscopeError as error:
            bench.after(insides, Window())
            spent_ns, reason = perf_counter_ns() - start_ns, redactor.message(error.message)
            requests = 0 if bench.method.duration_s else cell.requests
            return CellResult(**identity, status="failed", reason=reason, requests=requests, overhead_ns=spent_ns)
        bench.after(insides, observed.window_there)
    wall_ns = observed.window.end_ns - observed.window.start_ns
    return CellResult(
        **identity, **summed(observed), wall_ns=wall_ns, overhead_ns=perf_counter_ns() - start_ns - wall_ns
    )


def _observe(cell: Cell, system: System, children: Children, bench: Bench, insides: Sequence[Inside]) -> Observed:
    runtime, client_runtime = (bench.runtime(cell, system, role) for role in (SERVICE, CLIENT))
    method = bench.method
    started_ns = perf_counter_ns()
    places = bench.places or AllHere(children.here, method)
    places.begin()
    cell_line = _cell_line(cell, system, runtime, places)
    services = _start_services(children, runtime, system, insides, places)
    clients = _start(children, client_runtime, system, CLIENT, [{}] * cell.num_clients, places)
    sockets = _ready_services(children, runtime, services, cell_line, insides)
    bench.listening(services[0].process.pid)
    for client_id, client in enumerate(clients):
        place = {"client_id": client_id, "addresses": sockets, "method": method.to_json()}
        client.tell({**cell.to_json(), **place, **places.client_line(client_id), **client_runtime.told(system)})
    check_runtime(client_runtime, clients, children.hear_all(clients, READY, BEFORE_READY, starting_s({})))
    ready_ns, jit_ready = perf_counter_ns(), jit_states(runtime, insides)
    if method.warmup:
        _do(children, clients, WARM, message("during the warm-up"), calling_s(cell, system, method))
        _do(children, services, RESET, message("after the warm-up"), END_DEADLINE_S)
    marks = pauses.marks(insides)
    with bench.watch(services[0].process.pid), CoreWatch(_watched(services, clients, system)) as cores:
        released_ns = places.release(clients)
        calling = message("while the clients were calling")
        client_lines = children.hear_all(clients, RESULT, calling, calling_s(cell, system, method))
        heard_ns = perf_counter_ns()
    until_heard = _there(Window(start_ns=released_ns, end_ns=heard_ns), places)
    is_away = system.user_service is not None and system.user_service.already_runs
    ended = places.end(released_ns, heard_ns, [address for of_one in sockets for address in of_one] if is_away else ())
    collected = pauses.within(until_heard, insides, marks, lambda: places.there(perf_counter_ns()))
    for service, line in zip(services, _ended(children, services, system), strict=True):
        take_service_result(service, line)
    for client, line in zip(clients, client_lines, strict=True):
        take_client_result(client, line)
        check_times(client, ended.windows[client.place.name], len(services))
    check_load(cell, system, clients, services)
    add_jit_states(services, jit_ready, jit_states(runtime, insides))
    faults = [*service_faults(runtime, system, services), *client_faults(client_runtime, system, clients)]
    window = Window(start_ns=released_ns, end_ns=released_ns + _length_ns(clients, ended))
    by_client, by_service = ([child.result for child in of_role] for of_role in (clients, services))
    faults += places.settle(clients, by_client, by_service, ended)
    return Observed(
        start_ns=ready_ns - started_ns,
        window=window,
        window_there=_there(window, places),
        clients=by_client,
        services=by_service,
        collected=collected,
        waits=cores.timelines,
        ended=ended,
        faults=faults,
    )


def _there(window: Window, places: Places) -> Window:
    return Window(start_ns=places.there(window.start_ns), end_ns=places.there(window.end_ns))


def _ended(children: Children, services: Sequence[Child], system: System) -> list[dict[str, Any]]:
    """The last lines of the services, which are told to end."""
    for service in services:
        service.end_of_file()
    lines = children.hear_all(services, RESULT, message("at the end of the cell"), END_DEADLINE_S)
    if system.hosted:  # or the time of a user's processes would count as that of others
        for service in services:
            service.let_end(END_DEADLINE_S)
    return lines


def _length_ns(clients: Sequence[Child], ended: Ended) -> int:
    """The longest from release to last answer, each on its host's clock."""
    return max((one.result["finished_ns"] - ended.windows[one.place.name].start_ns for one in clients), default=0)


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
    children: Children,
    runtime: AnyRuntime,
    system: System,
    role: str,
    variables: Sequence[Mapping[str, str]],
    places: Places,
) -> list[Child]:
    """One child for each of *variables*, which are added to its environment."""
    name, count = str(runtime.name), len(variables)
    started = []
    for number, added in enumerate(variables):
        place = places.of(role, number)
        command = place.command(runtime, system, role)
        started.append(
            children.start(_name(role, number + 1, count), name, command, {**runtime.variables, **added}, place)
        )
    return started


def _start_services(
    children: Children, runtime: AnyRuntime, system: System, insides: Sequence[Inside], places: Places
) -> list[Child]:
    """The services. What runs inside them is in their environment, or, where a user's command runs, for its child."""
    variables = [{} if system.hosted else inside.variables for inside in insides]
    return _start(children, runtime, system, SERVICE, variables, places)


def _name(role: str, number: int, total: int) -> Message:
    if role == SERVICE:
        return message("Service {number} of {total}", number=number, total=total)
    return message("Client {number} of {total}", number=number, total=total)


def _do(children: Children, doers: Sequence[Child], word: str, when: Message, deadline_s: float) -> None:
    """Send *doers* a word, and wait until each has done it."""
    for child in doers:
        child.tell(word)
    check_done(children.hear_all(doers, word, when, deadline_s), doers, word)


def _cell_line(cell: Cell, system: System, runtime: AnyRuntime, places: Places) -> dict[str, Any]:
    """What the services are told: the cell, and a folder for their sockets."""
    return {**cell.to_json(), **places.service_line(), **runtime.told(system)}


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
    places = AllHere(children.here, bench.method)
    cell_line = _cell_line(cell, system, runtime, places)
    insides = [Inside(bench.sandbox.folder, {}) for _ in range(system.services(cell))]
    services = _start_services(children, runtime, system, insides, places)
    try:
        return _ready_services(children, runtime, services, cell_line, insides)
    except ChildFailed as failed:
        raise ChildFailed(redactor_of(system).message(failed.message)) from None
