"""The services and clients of a cell: starts them, tells them what to do, and ends them.

A bench has what the cells of a run share. lab/run/experiment.py and commands/stress.py make one for
a run, and lab/run/profiling.py and lab/run/stress_rounds.py change copies of it.
lab/run/cell_run.py derives CellRun from CellProcesses, and calls launch() and connect() before its
other steps. lab/run/stress_rounds.py calls serve() alone. A place (lab/run/children.py) is a host.
An entry is a cell of a plan with its system and the name of its arm (config/run_plan.py).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from time import perf_counter_ns
from typing import Self

from config.run_plan import Entry
from core.cell import Cell
from core.messages import Json, Message, message
from core.method import Method
from core.processtree import tree, usage_of
from core.request_plan import RequestPlan
from core.runtime import JIT
from core.secret import Redactor, secrets_in
from core.system import CLIENT, SERVICE, System
from lab.folders import Sandbox
from lab.run.cell_places import CellPlaces
from lab.run.cell_results import Pace
from lab.run.children import END_DEADLINE_S, READY, RESULT, Child, Children
from lab.run.contract import addresses, check_done, check_runtime
from lab.run.control_groups import ServiceGroup, service_group
from lab.run.instrumentation import Instrumentation, TimeWindow
from lab.run.measured_runtimes import AnyRuntime, Runtimes, UserServiceRuntime, runtime_of
from lab.run.running_sidecars import RunningBeside
from lab.run.slow import DEFAULT

# for children to be ready; docs/child-contract.md names it
START_DEADLINE_S = 60.0
MOST_JIT_BYTES = 64  # of a file of core/inside/jit.py, such as "3.14.7 1"
NOT_READY = "not_ready"  # the code of the reason if a cell's children did not start
# the argument *when* of Children.await_lines(): when a child failed, and the code of that failure
BEFORE_READY = message("during start-up", code=NOT_READY)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The settings and tools with which every cell of a run is measured.

    inside: parts that run inside the services' own processes (core/inside), with their options
    after: after(instruments, timed window) is called when a cell has ended, even if it failed
    watch: watch(pid of the first service) is a context manager that is entered for the timed window
    places: the hosts where children run; None for this machine
    beside: the programs that run beside the services, such as their database
    paces: {key_of(entry): how long its requests take}, as far as known. lab/run/measure.py adds to
        this dict, which copies of the bench share
    """

    sandbox: Sandbox
    runtimes: Runtimes
    method: Method = Method()  # noqa: RUF009 - frozen
    inside: Mapping[str, Json] = field(default_factory=lambda: DEFAULT)
    after: Callable[[Sequence[Instrumentation], TimeWindow], object] = lambda *_: None
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext
    places: CellPlaces | None = None
    beside: RunningBeside = RunningBeside()  # noqa: RUF009 - frozen
    paces: dict[str, Pace] = field(default_factory=dict)

    def runtime(self, cell: Cell, system: System, role: str) -> AnyRuntime:
        """Return the runtime that runs *role* (service or client) in a cell of *system*."""
        return runtime_of(role, system, self.runtimes, cell.runtime, self.method)

    def cell_places(self) -> CellPlaces:
        """Return the machines on which a cell's services and clients run."""
        return self.places or CellPlaces(self.sandbox, self.method)


def key_of(entry: Entry) -> str:
    """Return the key of an arm and its setting in Bench.paces."""
    return f"{entry.arm} {entry.cell.cell_id}"


def identity(entry: Entry, block: int) -> Json:
    """Return the fields of CellResult that name the measurement of a plan's entry in a block."""
    return {"arm": entry.arm, "block": block, **entry.cell.to_json()}


def redactor_of(system: System) -> Redactor:
    """Return a redactor that removes the secrets of *system* and the bodies of its requests, which
    it reads from their files, from its children's output.
    """
    files = [Path(request.body_file) for request in requests_of(system).requests]
    bodies = [file.read_bytes().decode(errors="replace") for file in files if file.is_file()]
    secrets = secrets_in(system.child_config.get("own"))
    return Redactor([*(secret.reveal() for secret in secrets), *bodies])


def requests_of(system: System) -> RequestPlan:
    """Return the requests that the clients of a user's service send. Other systems have none of
    their own, and get a plan of one default request.
    """
    own = system.child_config.get("own")
    return RequestPlan.from_json(own["requests"]) if own else RequestPlan()


class CellProcesses(ExitStack):
    """The processes of one cell in one block, which end with the `with` block, or with close().

    cell, system, bench: what is measured, and with what
    runtimes: by role
    places: the hosts on which the processes run
    redactor: removes the system's secrets from what the processes say
    already_runs: whether gilscope only observes the services, which the user runs
    services, clients: the children while they run
    instruments: the instrumentation of each service
    group: the control groups of the services
    timed: the window from the first turn to the last, for Bench.after, on the clock of the
        services' host; empty until it is known
    """

    def __init__(self, entry: Entry, block: int, bench: Bench) -> None:
        super().__init__()
        self.cell, self.system, self.bench = entry.cell, entry.system, bench
        self.runtimes = {
            role: bench.runtime(self.cell, self.system, role) for role in (SERVICE, CLIENT)
        }
        self.places = bench.cell_places()
        self.redactor = redactor_of(self.system)
        service = self.system.user_service
        self.already_runs = service is not None and service.already_runs
        self.services: list[Child] = []
        self.clients: list[Child] = []
        self.group = ServiceGroup()
        self.timed = TimeWindow()
        self._block = block

    def __enter__(self) -> Self:
        """Prepare the instrumentation that runs inside the services."""
        bench, runtime = self.bench, self.runtimes[SERVICE]
        parts = {**bench.inside, **jit_parts(runtime)} if bench.inside else {}
        self.instruments = [
            self.places.inside(parts) for _ in range(self.system.services(self.cell))
        ]
        for inside in self.instruments:
            self.callback(inside.remove)
        # Callbacks run in reverse order, so this one reads the folders before they are removed.
        self.callback(lambda: bench.after(self.instruments, self.timed))
        return self

    def serve(self) -> list[list[str]]:
        """Start the services without clients, and return each service's addresses. Raises
        ChildFailed.
        """
        self._open_children()
        self._start_services()
        return self._ready_services()

    def launch(self) -> None:
        """Start the cell's services and clients. Raises GilscopeError."""
        self._open_children()
        self._launched_ns = perf_counter_ns()
        self.places.begin()
        self._start_services()
        self.clients = self._start(CLIENT, self.cell.num_clients)

    def connect(self) -> None:
        """Wait until the services listen, tell the clients the addresses, and wait until the
        clients have connected. Raises ChildFailed.

        This sets `sockets`, the addresses of each service, and `ready_ns`, how long all this took
        since launch().
        """
        self.sockets = self._ready_services()
        runtime, method = self.runtimes[CLIENT], self.bench.method
        for client_id, client in enumerate(self.clients):
            client.tell(
                {
                    **self.cell.to_json(),
                    **runtime.child_config(self.system),
                    "client_id": client_id,
                    "addresses": self.sockets,
                    "method": method.to_json(),
                    "cpus": client.place.cpus(method.pin_clients),
                    "block": self._block,
                }
            )
        check_runtime(
            runtime,
            self.children.await_lines(self.clients, READY, BEFORE_READY, START_DEADLINE_S),
        )
        self.ready_ns = perf_counter_ns() - self._launched_ns
        note_jit_states(
            "jit_enabled_ready", self.runtimes[SERVICE], self.services, self.instruments
        )

    def confirm(
        self,
        children: Sequence[Child],
        word: str,
        when: Message,
        deadline_s: float = END_DEADLINE_S,
    ) -> None:
        """Send a command such as `reset` to the children, and wait until each child confirms it.
        Raises ChildFailed.
        """
        for child in children:
            child.tell(word)
        check_done(self.children.await_lines(children, word, when, deadline_s), word)

    def memory_bytes(self) -> int:
        """Return the bytes of memory that all processes of the cell use now."""
        children = (*self.services, *self.clients)
        pids = {pid for child in children for pid in tree(child.process.pid)}
        return usage_of(pids)["pss_bytes"]

    @property
    def waiting_pids(self) -> dict[Child, list[int]]:
        """Return the pids of the processes whose waiting time for a CPU core is sampled, by child
        process.

        Services that already ran, and processes on other hosts, are left out.
        Processes that a command starts later are not in the result.
        """
        pids = {}
        for child in self.clients if self.already_runs else (*self.services, *self.clients):
            pid, is_command = child.process.pid, self.system.hosted and child in self.services
            if not child.place.name:
                pids[child] = tree(pid) if is_command else [pid]
        return pids

    def end_services(self, *, clients_first: bool) -> dict[Child, Json]:
        """End the services, and return the last output line of each. Raises ChildFailed.

        clients_first: end the clients before, because they still have connections. An ending
            server waits for open connections, gunicorn for two seconds
        """
        first = self.clients if clients_first else ()
        for client in first:
            client.process.close_stdin()
        for client in first:
            client.process.wait(END_DEADLINE_S)
        for service in self.services:
            service.process.close_stdin()
        when = message("at the end of the measurement")
        lines = self.children.await_lines(self.services, RESULT, when, END_DEADLINE_S)
        # Otherwise a user's ending processes would count as load from other processes.
        for service in self.services if self.system.hosted else ():
            service.process.wait(END_DEADLINE_S)
        note_jit_states("jit_enabled_end", self.runtimes[SERVICE], self.services, self.instruments)
        return lines

    # ---- parts of steps --------------------------------------------------------------------------

    def _open_children(self) -> None:
        method, sandbox = self.bench.method, self.bench.sandbox
        # The children end before their control groups.
        self.group = self.enter_context(service_group(method, sandbox, token_hex(4)))
        self.children = self.enter_context(Children(sandbox))

    def _start_services(self) -> None:
        """Start the services. Send each service its settings and a folder for its sockets. Raises
        ChildFailed.

        Environment variables start the parts that run inside a service. The child of a user's
        command is sent these variables instead, and passes them on to the command.
        """
        self.services = self._start(SERVICE, len(self.instruments))
        config = {
            **self.places.service_line(),
            **self.runtimes[SERVICE].child_config(self.system),
        }
        own = config.get("own", {})  # of a user's service
        self._start_deadline_s = START_DEADLINE_S + own.get("start_deadline_s", 0.0)
        join = {"join": self.group.join} if self.system.hosted else {}
        for service_id, (service, inside) in enumerate(
            zip(self.services, self.instruments, strict=True)
        ):
            service.tell(
                {
                    **self.cell.to_json(),
                    **config,
                    **join,
                    "folder": service.place.folder,
                    "cpus": service.place.cpus(self.bench.method.pin_services),
                    "service_id": service_id,
                    "inside": inside.variables,
                }
            )

    def _ready_services(self) -> list[list[str]]:
        """Wait until all services listen, and return each service's addresses. Raises
        ChildFailed.
        """
        lines = self.children.await_lines(
            self.services, READY, BEFORE_READY, self._start_deadline_s
        )
        check_runtime(self.runtimes[SERVICE], lines)
        return addresses(lines)

    def _start(self, role: str, count: int) -> list[Child]:
        """Start *count* children of *role*."""
        runtime, is_service = self.runtimes[role], role == SERVICE
        started = []
        for number in range(count):
            place = self.places.of(role, number) or self.children.here
            command = place.command(runtime, self.system, role)
            variables = {**runtime.variables}
            if is_service:
                variables |= self.bench.beside.variables
            # the child of a user's command starts the parts inside it
            if is_service and not self.system.hosted:
                command = [*self.group.join, *command]
                variables |= self.instruments[number].variables
            numbers: Json = {"number": number + 1, "total": count}
            name = message("Client {number} of {total}", **numbers)
            if is_service:
                name = message("Service {number} of {total}", **numbers)
            child = self.children.start(name, str(runtime.name), command, variables, place)
            child.is_observer = is_service and self.already_runs
            started.append(child)
        return started


def jit_parts(runtime: AnyRuntime) -> Mapping[str, Json]:
    """Return the instrumentation that reports the JIT state of a user's service; {} if its Python
    has no JIT.
    """
    own = runtime.runtime if isinstance(runtime, UserServiceRuntime) else None
    return {JIT: {}} if own and own.interpreter.has_jit else {}


def note_jit_states(
    key: str, runtime: AnyRuntime, services: Sequence[Child], instruments: Sequence[Instrumentation]
) -> None:
    """Note in Child.noted, under *key*, whether the JIT of each user's service is on; None if no
    process has reported its state.

    Processes of other interpreters do not count. A Python that was built without a JIT never has
    one.
    """
    if not isinstance(runtime, UserServiceRuntime) or runtime.runtime is None:
        return
    promised, version = runtime.name.jit_enabled, runtime.runtime.version.encode()
    for service, inside in zip(services, instruments, strict=True):
        reported = inside.files(JIT, MOST_JIT_BYTES).values()
        states = (not promised, promised)  # an unexpected state counts
        known = (state for state in states if b"%s %d" % (version, state) in reported)
        service.noted[key] = next(known, None) if jit_parts(runtime) else False
