"""The services and clients of a cell: starts them, tells them what to do, and ends them.

lab/run/cell_run.py derives CellRun from CellProcesses, and calls launch() and connect() before its
other steps. lab/run/stress_rounds.py calls serve() alone. A bench (lab/run/measurement_context.py)
has what all cells of a run share. A place (lab/run/children.py) is a host.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from time import perf_counter_ns

from config.run_plan import Entry
from core.errors import ChildFailed
from core.messages import Json, Message, message
from core.processtree import tree, usage_of
from core.system import CLIENT, SERVICE
from lab.run.cell_results import jit_parts, note_jit_states
from lab.run.children import END_DEADLINE_S, READY, RESULT, Child, Children
from lab.run.contract import addresses, check_done, check_runtime
from lab.run.control_groups import ServiceGroup
from lab.run.instrumentation import TimeWindow
from lab.run.measurement_context import Bench, redactor_of, starting_s

NOT_READY = "not_ready"  # the code of the reason if a cell's children did not start
# the argument *when* of Children.await_lines(): when a child failed, and the code of that failure
BEFORE_READY = message("during start-up", code=NOT_READY)


class CellProcesses(ExitStack):
    """The processes of one cell in one block, which end with the `with` block, or with close().

    cell, system, bench: what is measured, and with what
    runtimes: by role
    places: the hosts on which the processes run
    redactor: removes the system's secrets from what the processes say
    already_runs: whether gilscope only observes the services, which the user runs
    services, clients: the children, once they are started
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
        self.already_runs = (
            self.system.user_service is not None and self.system.user_service.already_runs
        )
        self.services: list[Child] = []
        self.clients: list[Child] = []
        self.group = ServiceGroup()
        self.timed = TimeWindow()
        self._block = block

    def __enter__(self) -> "CellProcesses":
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
        try:
            self._start_services()
            return self._ready_services()
        except ChildFailed as failed:
            raise ChildFailed(self.redactor.message(failed.message)) from None

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
            runtime, self.children.await_lines(self.clients, READY, BEFORE_READY, starting_s({}))
        )
        self.ready_ns = perf_counter_ns() - self._launched_ns
        self._note_jit_states("jit_enabled_ready")

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
        pids = {pid for child in self.children.started for pid in tree(child.process.pid)}
        return usage_of(pids)["pss_bytes"]

    @property
    def waiting_pids(self) -> dict[Child, list[int]]:
        """Return the pids of the processes whose waiting time for a CPU core is sampled, by child
        process.

        Services that already ran, and processes on other hosts, are left out.
        Processes that a command starts later are not in the result.
        """
        pids = {}
        for child in self.clients if self.already_runs else self.children.started:
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
        self._note_jit_states("jit_enabled_end")
        return lines

    # ---- parts of steps --------------------------------------------------------------------------

    def _open_children(self) -> None:
        self.children = self.enter_context(Children(self.bench.sandbox, self.bench.method))
        self.group = self.children.group
        self.places.groups = self.group.folders

    def _note_jit_states(self, key: str) -> None:
        note_jit_states(key, self.runtimes[SERVICE], self.services, self.instruments)

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
        self._start_deadline_s = starting_s(config)
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
        is_inside = (
            is_service and not self.system.hosted
        )  # the child of a user's command starts the parts inside it
        started = []
        for number in range(count):
            place = self.places.of(role, number) or self.children.here
            command = [
                *(self.group.join if is_inside else ()),
                *place.command(runtime, self.system, role),
            ]
            variables = {
                **runtime.variables,
                **(self.bench.beside.variables if is_service else {}),
                **(self.instruments[number].variables if is_inside else {}),
            }
            name = _name(role, number + 1, count)
            child = self.children.start(name, str(runtime.name), command, variables, place)
            child.is_observer = is_service and self.already_runs
            started.append(child)
        return started


def _name(role: str, number: int, total: int) -> Message:
    if role == SERVICE:
        return message("Service {number} of {total}", number=number, total=total)
    return message("Client {number} of {total}", number=number, total=total)
