"""One cell in one block: fresh processes, one timed window, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
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
                observed = _CellRun(cell, system, bench, children, insides).observe(redactor)
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


class _CellRun:
    """The children of one cell in one block: how they are started, told and heard."""

    def __init__(self, cell: Cell, system: System, bench: Bench, children: Children, insides: Sequence[Inside]) -> None:
        self._cell, self._system, self._bench, self._children, self._insides = cell, system, bench, children, insides
        self._runtimes = {role: bench.runtime(cell, system, role) for role in (SERVICE, CLIENT)}
        self._places: Places = bench.places or AllHere(children.here, bench.method)
        self._is_away = system.user_service is not None and system.user_service.already_runs

    def observe(self, redactor: Redactor) -> Observed:
        """Run the cell; what came of it is without what *redactor* knows. Raises GilscopeError."""
        places, method, started_ns = self._places, self._bench.method, perf_counter_ns()
        runtime, client_runtime = self._runtimes[SERVICE], self._runtimes[CLIENT]
        places.begin()
        cell_line = self.cell_line()
        services = self.start_services()
        clients = self._start(CLIENT, [{}] * self._cell.num_clients)
        sockets = self.ready_services(services, cell_line)
        self._bench.listening(services[0].process.pid)
        for client_id, client in enumerate(clients):
            told = {"client_id": client_id, "addresses": sockets, "method": method.to_json()}
            place = places.client_line(client_id)
            client.tell({**self._cell.to_json(), **told, **place, **client_runtime.told(self._system)})
        check_runtime(client_runtime, clients, self._children.hear_all(clients, READY, BEFORE_READY, starting_s({})))
        ready_ns, jit_ready = perf_counter_ns(), jit_states(runtime, self._insides)
        deadline_s = calling_s(self._cell, self._system, method)
        if method.warmup:
            self._do(clients, WARM, message("during the warm-up"), deadline_s)
            self._do(services, RESET, message("after the warm-up"), END_DEADLINE_S)
        marks = pauses.marks(self._insides)
        with self._bench.watch(services[0].process.pid), CoreWatch(self._watched(services, clients)) as cores:
            released_ns = places.release(clients)
            calling = message("while the clients were calling")
            client_lines = self._children.hear_all(clients, RESULT, calling, deadline_s)
            heard_ns = perf_counter_ns()
        until_heard = self._there(Window(start_ns=released_ns, end_ns=heard_ns))
        served = [address for of_one in sockets for address in of_one] if self._is_away else ()
        ended = places.end(released_ns, heard_ns, served)
        collected = pauses.within(until_heard, self._insides, marks, lambda: places.there(perf_counter_ns()))
        for service, line in zip(services, self._ended(services), strict=True):
            take_service_result(service, line)
        for client, line in zip(clients, client_lines, strict=True):
            take_client_result(client, line)
            check_times(client, ended.windows[client.place.name], len(services))
        check_load(self._cell, self._system, clients, services)
        add_jit_states(services, jit_ready, jit_states(runtime, self._insides))
        faults = [
            *service_faults(runtime, self._system, services),
            *client_faults(client_runtime, self._system, clients),
        ]
        window = Window(start_ns=released_ns, end_ns=released_ns + _length_ns(clients, ended))
        by_client, by_service = ([child.result for child in of_role] for of_role in (clients, services))
        faults += places.settle(clients, by_client, by_service, ended)
        for result in by_client:
            if first := result.get("first_wrong"):  # whose request is a name, and no secret
                result["first_wrong"] = first | redactor.json({key: first[key] for key in ("got", "expected")})
        return Observed(
            start_ns=ready_ns - started_ns,
            window=window,
            window_there=self._there(window),
            clients=by_client,
            services=[redactor.json(service) for service in by_service],
            collected=collected,
            waits=cores.timelines,
            ended=ended,
            faults=[redactor.message(fault) for fault in faults],
        )

    def cell_line(self) -> dict[str, Any]:
        """Return what the services are told: the cell, and a folder for their sockets."""
        told = self._runtimes[SERVICE].told(self._system)
        return {**self._cell.to_json(), **self._places.service_line(), **told}

    def start_services(self) -> list[Child]:
        """Start the services. What runs inside them is in their environment.

        Where a user's command runs, its child is told instead.
        """
        return self._start(SERVICE, [{} if self._system.hosted else inside.variables for inside in self._insides])

    def ready_services(self, services: Sequence[Child], cell_line: Mapping[str, Any]) -> list[list[str]]:
        """Tell the services what they serve and wait until all listen; of each, its addresses. Raises ChildFailed."""
        for service_id, (service, inside) in enumerate(zip(services, self._insides, strict=True)):
            service.tell({**cell_line, "service_id": service_id, "inside": inside.variables})
        lines = self._children.hear_all(services, READY, BEFORE_READY, starting_s(cell_line))
        check_runtime(self._runtimes[SERVICE], services, lines)
        sockets = [addresses(line, service) for line, service in zip(lines, services, strict=True)]
        expect_distinct(services, sockets)
        return sockets

    def _start(self, role: str, variables: Sequence[Mapping[str, str]]) -> list[Child]:
        """Start one child for each of *variables*, which are added to its environment."""
        runtime, started = self._runtimes[role], []
        for number, added in enumerate(variables):
            place = self._places.of(role, number)
            command = place.command(runtime, self._system, role)
            name = _name(role, number + 1, len(variables))
            started.append(
                self._children.start(name, str(runtime.name), command, {**runtime.variables, **added}, place)
            )
        return started

    def _do(self, doers: Sequence[Child], word: str, when: Message, deadline_s: float) -> None:
        """Send *doers* a word, and wait until each has done it."""
        for child in doers:
            child.tell(word)
        check_done(self._children.hear_all(doers, word, when, deadline_s), doers, word)

    def _ended(self, services: Sequence[Child]) -> list[dict[str, Any]]:
        """Tell the services to end, and return their last lines."""
        for service in services:
            service.end_of_file()
        lines = self._children.hear_all(services, RESULT, message("at the end of the cell"), END_DEADLINE_S)
        if self._system.hosted:  # or the time of a user's processes would count as that of others
            for service in services:
                service.process.wait(END_DEADLINE_S)
        return lines

    def _there(self, window: Window) -> Window:
        """Return *window* on the clock of the services' host."""
        return Window(start_ns=self._places.there(window.start_ns), end_ns=self._places.there(window.end_ns))

    def _watched(self, services: Sequence[Child], clients: Sequence[Child]) -> dict[str, list[int]]:
        """Return the processes whose waits for a core are noted: none of a target, or of another host."""
        children = {} if self._is_away else {watched(SERVICE, number): child for number, child in enumerate(services)}
        children |= {watched(CLIENT, number): child for number, child in enumerate(clients)}
        is_tree = self._system.hosted or self._system.forks
        return {
            name: tree(child.process.pid) if is_tree and child in services else [child.process.pid]
            for name, child in children.items()
            if isinstance(child.process, LocalProcess)
        }


def start_services(cell: Cell, system: System, children: Children, bench: Bench) -> list[list[str]]:
    """Start the services of *cell* and no clients; of each, its addresses. Raises ChildFailed."""
    insides = [Inside(bench.sandbox.folder, {}) for _ in range(system.services(cell))]
    run = _CellRun(cell, system, bench, children, insides)
    cell_line = run.cell_line()
    services = run.start_services()
    try:
        return run.ready_services(services, cell_line)
    except ChildFailed as failed:
        raise ChildFailed(redactor_of(system).message(failed.message)) from None


def _length_ns(clients: Sequence[Child], ended: Ended) -> int:
    """Return the longest time from release to last answer, each on its host's clock."""
    return max((one.result["finished_ns"] - ended.windows[one.place.name].start_ns for one in clients), default=0)


def _name(role: str, number: int, total: int) -> Message:
    if role == SERVICE:
        return message("Service {number} of {total}", number=number, total=total)
    return message("Client {number} of {total}", number=number, total=total)


def redactor_of(system: System) -> Redactor:
    """Takes what children of *system* are told in secret out of what they say."""
    own = system.told.get("own")
    files = (request.body_file for request in RequestPlan.from_json(own["requests"]).requests) if own else ()
    bodies = (Path(file).read_bytes().decode(errors="replace") for file in files if Path(file).is_file())
    return Redactor([*(secret.reveal() for secret in secrets_in(own)), *bodies])
