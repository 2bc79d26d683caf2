"""Measures one cell in one block: starts its services and clients, lets the clients send, and
collects the results.

lab/run/measure.py makes a CellRun for each arm, and calls its steps through do(), in this order:
launch, connect, warm_up, try_slice (if the pace of the arm is unknown), begin, take_turn (once for
each slice), end. All arms have begun before the first turn. Attributes such as _marks and
_sockets exist only after the step that sets them. lab/run/stress_rounds.py calls serve() alone.
A bench (lab/run/measurement_context.py) has what all cells of a run share. A place
(lab/run/children.py) is a host.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from time import perf_counter_ns
from typing import Any, NamedTuple

from msgspec import structs

from config.run_plan import Entry
from core.child import TIMEOUT, Slice
from core.messages import NOTHING, ChildFailed, GilscopeError, Json, Message, chained, message
from core.processtree import tree, usage_of
from core.request_plan import ANSWER_DEADLINE_S
from core.system import CLIENT, SERVICE
from lab.run.cell_results import (
    add_slices,
    add_up,
    client_faults,
    client_fields,
    counted_share,
    counted_usage,
    jit_parts,
    littles_law,
    machine_fields,
    note_jit_states,
    service_faults,
    service_results,
)
from lab.run.children import END_DEADLINE_S, READY, RESET, RESULT, WARM, Child, Children
from lab.run.contract import (
    addresses,
    check_done,
    check_latencies,
    check_load,
    check_runtime,
    check_times,
    take_client_result,
    take_service_result,
)
from lab.run.control_groups import ServiceGroup
from lab.run.core_waits import STEAL, CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.measurement_context import (
    Bench,
    Pace,
    calling_s,
    identity,
    key_of,
    redactor_of,
    requests_of,
    starting_s,
)
from lab.run.slow import (
    COLLECTION,
    Collections,
    collections_within,
    read_counters,
    slow_requests,
)
from record.child_lines import ClientLine, ServiceLine, Turns
from record.saved_run import CellResult

NOT_READY = "not_ready"  # the code of the reason if a cell's children did not start
STARVED = "starved"  # the code of the reason if connections got no answer although others did
# the argument *when* of Children.await_lines(): when a child failed, and the code of that failure
BEFORE_READY = message("during start-up", code=NOT_READY)
CALLING = message("while the clients were sending requests")


class Turn(NamedTuple):
    """The time during which the clients of one runtime or service send requests, and the checked
    result of each client.

    released_ns, heard_ns: start, and time of the last result line, on the orchestrator's clock
    part: the time slice; None if the runtimes or services do not alternate
    """

    released_ns: int
    heard_ns: int
    part: Slice | None
    results: Mapping[Child, ClientLine]

    @property
    def answered(self) -> int:
        """Return how many answers the clients got, in the counted part of a slice."""
        return sum(line.answered for line in self.results.values())


class CellRun(ExitStack):
    """The measurement of one cell in one block: its processes, its steps, and the reason if a step
    failed.

    The processes end with the `with` block, or when a step fails.
    """

    def __init__(self, entry: Entry, block: int, bench: Bench) -> None:
        super().__init__()
        # zeros until measure.py sets it, or try_slice() or end() measures it
        self.pace = Pace()
        self.key = key_of(entry)
        self._cell, self._system, self._block, self._bench = entry.cell, entry.system, block, bench
        self._runtimes = {
            role: bench.runtime(self._cell, self._system, role) for role in (SERVICE, CLIENT)
        }
        self._plan = requests_of(self._system)
        self._routes = len(self._plan.routes)
        self._redactor = redactor_of(self._system)
        self._already_runs = (
            self._system.user_service is not None and self._system.user_service.already_runs
        )
        self._services: list[Child] = []
        self._clients: list[Child] = []
        self._turns: list[Turn] = []
        self._is_warm = False
        # CPU time in the turns, by program that runs beside the services
        self._beside_ns = Counter[str]()
        # for bench.after, on the clock of the services' host; empty until end() knows it
        self._service_window = TimeWindow()
        self._result = CellResult(
            **identity(entry, block),
            # a result that end() does not replace is that of a failed cell
            status="failed",
            requests=0 if bench.method.duration_s else self._cell.requests,
            client_runtime=str(self._runtimes[CLIENT].name),
        )
        self._group = ServiceGroup()
        self.places = bench.cell_places()

    def __enter__(self) -> "CellRun":
        """Prepare the instrumentation that runs inside the services."""
        bench, runtime = self._bench, self._runtimes[SERVICE]
        parts = {**bench.inside, **jit_parts(runtime)} if bench.inside else {}
        self._instruments = [
            self.places.inside(parts) for _ in range(self._system.services(self._cell))
        ]
        for inside in self._instruments:
            self.callback(inside.remove)
        # Callbacks run in reverse order, so this one reads the folders before they are removed.
        self.callback(lambda: bench.after(self._instruments, self._service_window))
        return self

    def do(self, step: Callable[..., object], *arguments: Any) -> None:
        """Run *step* of the measurement, unless an earlier step failed.

        If the step fails, keep the reason, and end all processes of the cell.
        """
        if self._result.reason:
            return
        try:
            step(*arguments)
        except GilscopeError as error:
            # A service that the kernel killed for its memory seems only to have ended early.
            reason = self._group.exceeded or self._redactor.message(error.message)
            self._result = replace(self._result, reason=replace(reason, code=error.message.code))
            self.close()

    def result(self, spent_ns: int) -> CellResult:
        """Return the result of the cell in this block.

        spent_ns: total time spent on the cell, including the timed window
        """
        return replace(self._result, overhead_ns=max(0, spent_ns - self._result.wall_ns))

    def serve(self) -> list[list[str]]:
        """Start the services without clients, and return each service's addresses. Raises
        ChildFailed.
        """
        self._open_children()
        try:
            self._start_services()
            return self._ready_services()
        except ChildFailed as failed:
            raise ChildFailed(self._redactor.message(failed.message)) from None

    # ---- steps -----------------------------------------------------------------------------------

    def launch(self) -> None:
        """Start the cell's services and clients. Raises GilscopeError, as all steps do."""
        self._open_children()
        self._launched_ns = perf_counter_ns()
        self.places.begin()
        self._start_services()
        self._clients = self._start(CLIENT, self._cell.num_clients)

    def connect(self) -> None:
        """Wait until the services listen, tell the clients the addresses, and wait until the
        clients have connected.
        """
        self._sockets = self._ready_services()
        runtime, method = self._runtimes[CLIENT], self._bench.method
        for client_id, client in enumerate(self._clients):
            client.tell(
                {
                    **self._cell.to_json(),
                    **runtime.child_config(self._system),
                    "client_id": client_id,
                    "addresses": self._sockets,
                    "method": method.to_json(),
                    "cpus": client.place.cpus(method.pin_clients),
                    "block": self._block,
                }
            )
        check_runtime(
            runtime, self.children.await_lines(self._clients, READY, BEFORE_READY, starting_s({}))
        )
        self._ready_ns = perf_counter_ns() - self._launched_ns
        self._note_jit_states("jit_enabled_ready")
        self._deadline_s = calling_s(self._cell, self._system, method)

    def warm_up(self) -> None:
        """Let the clients send warm-up requests, if the plan has a warm-up."""
        if self._bench.method.warmup:
            self._confirm(self._clients, WARM, message("during the warm-up"), self._deadline_s)
            self._is_warm = True

    def try_slice(self, part: Slice) -> None:
        """Let the clients send for a trial, and set the pace to how long its requests took.

        The trial is forgotten, unless an answer is missing. Then it stays, so that end() reports
        it.
        """
        self.take_turn(part)
        self._is_warm = True
        results = [*self._turns[-1].results.values()]
        if not self.has_timed_out:
            self._turns.pop()
        think_ns = round(self._plan.think_time_s * 1e9)
        self.pace = Pace.of(add_up(results), think_ns)

    @property
    def has_timed_out(self) -> bool:
        """Return whether an answer did not come in time. Then the cell has failed, so that it need
        not go on.
        """
        results = self._turns[-1].results.values() if self._turns else ()
        return any(TIMEOUT in result.errors for result in results)

    def memory_bytes(self) -> int:
        """Return the bytes of memory that all processes of the cell use now: 0 after a failure."""
        if self._result.reason:
            return 0
        pids = {pid for child in self.children.started for pid in tree(child.process.pid)}
        return usage_of(pids)["pss_bytes"]

    def begin(self) -> None:
        """Begin the measured part: reset the services' counters, and start to watch the cell's
        processes.
        """
        if self._is_warm:
            self._confirm(self._services, RESET, message("after the warm-up"), END_DEADLINE_S)
        self._marks = read_counters(self._instruments)
        self._watching = self.enter_context(ExitStack())
        self._watching.enter_context(self._bench.watch(self._services[0].process.pid))
        # What was used before, in the trials or between them, does not count.
        for child in self.children.started:
            child.wake()
            child.idle_ns = 0
        self._beside_ns.clear()
        served = chain.from_iterable(self._sockets) if self._already_runs else ()
        self._marked = self.places.mark(served)

    @property
    def waiting_pids(self) -> dict[Child, list[int]]:
        """Return the pids of the processes whose waiting time for a CPU core is sampled, by child
        process.

        Services that already ran, and processes on other hosts, are left out.
        Processes that a command starts later are not in the result. It is empty after a failure.
        """
        if self._result.reason:
            return {}
        pids = {}
        for child in self._clients if self._already_runs else self.children.started:
            pid, is_command = child.process.pid, self._system.hosted and child in self._services
            if not child.place.name:
                pids[child] = tree(pid) if is_command else [pid]
        return pids

    def take_turn(self, part: Slice | None = None) -> None:
        """Let the clients send requests, and wait for the clients' results. Do nothing after a
        time-out.

        part: the slice to send in, over whose first cycle the connections begin; None for the
            method's load
        """
        if self.has_timed_out:
            return
        deadline_s = self._deadline_s
        if part:
            part = replace(part, stagger_ns=self.pace.cycle_ns)
            deadline_s += (part.lead_ns + part.length_ns) / 1e9
        for child in self.children.started:
            child.wake()
        # From here on it is an error if a client ends before await_lines() has read its result.
        for client in self._clients:
            client.finished = False
        # From release() until heard_ns, the children are timed: only await_lines() stands between.
        used_ns = self._bench.beside.cpu_ns()
        released_ns = self.places.release(self._clients, part)
        lines = self.children.await_lines(self._clients, RESULT, CALLING, deadline_s)
        heard_ns = perf_counter_ns()
        self._beside_ns += self._bench.beside.cpu_ns() - used_ns
        if part:
            part = replace(part, at_ns=released_ns)
            for child in self.children.started:
                child.rest()
        results = {
            client: take_client_result(client, line, self._routes) for client, line in lines.items()
        }
        self._turns.append(Turn(released_ns, heard_ns, part, results))

    def end(self, waits: Mapping[Any, CumulativeTime]) -> None:
        """End the processes, then check and combine their results.

        waits: CoreWaitSampler.timelines: by the keys of waiting_pids, and STEAL
        """
        # This comes first, because it reads the clocks of the hosts, which places.window() needs.
        machines = self._stop_watching()
        served, results = self._results()
        windows = self._windows(results)
        collected = self._collections(windows)
        results, hosts, faults = self._judged(served, results, windows)
        by_client, part = [*results.values()], self._turns[0].part
        figures = client_fields(results, faults, windows)
        if figures["status"] == "failed":
            figures["reason"] = self._explained(figures["reason"], by_client, [*served.values()])
        if by_client:
            self.pace = Pace.of(add_up(by_client), least_ns=part.length_ns if part else 0)
        share, running = counted_share(by_client), self._bench.beside.running
        timelines, said = self._timelines(waits, collected), [line.slow for line in by_client]
        own_ns = sum(turn.heard_ns - turn.released_ns for turn in self._turns)
        figures |= machine_fields(machines, hosts, own_ns) | {
            "start_ns": self._ready_ns,
            "slow": slow_requests(said, timelines, figures["latency"], windows),
            "turns": self._turns_summary(part, own_ns) if part else Turns(),
            "beside": {name: round(self._beside_ns[name] * share) for name in running},
            "services": service_results(
                served, [pauses for pauses, _ in collected], self._redactor
            ),
        }
        self._result = replace(self._result, **figures)

    # ---- parts of steps --------------------------------------------------------------------------

    def _open_children(self) -> None:
        self.children = self.enter_context(Children(self._bench.sandbox, self._bench.method))
        self._group = self.children.group
        self.places.groups = self._group.folders

    @property
    def _whole(self) -> TimeWindow:
        """The time from the first turn's start to the last one's end, on the orchestrator's
        clock.
        """
        return TimeWindow(start_ns=self._turns[0].released_ns, end_ns=self._turns[-1].heard_ns)

    def _stop_watching(self) -> Mapping[str, Json]:
        """End the observation of the cell's processes, and return each machine's activity."""
        for child in self.children.started:
            child.wake()
        self._watching.close()
        return self.places.end(self._marked)

    def _results(self) -> tuple[dict[Child, ServiceLine], dict[Child, ClientLine]]:
        """End the services. Return the checked results of services and clients, without secrets,
        with the CPU time of what counts. Raises ChildFailed if they contradict each other, or
        memory was short.
        """
        lines = self._end_children()
        self._note_jit_states("jit_enabled_end")
        served = {
            service: take_service_result(service, self._redactor.json(line))
            for service, line in lines.items()
        }
        results = {client: self._client_result(client) for client in self._clients}
        by_client = [*results.values()]
        check_load(by_client, [*served.values()])
        if self._group.exceeded:
            raise ChildFailed(self._group.exceeded)
        share = counted_share(by_client)
        counted = {
            service: counted_usage(line, share, service.idle_ns) for service, line in served.items()
        }
        return counted, results

    def _collections(self, windows: Sequence[TimeWindow]) -> list[Collections]:
        """Return the garbage collections of each service in *windows*, and note when the service
        was timed.
        """
        places, host = self.places, self._services[0].place.name
        self._service_window = TimeWindow(
            start_ns=places.window(host, *self._whole).start_ns,
            end_ns=places.to_service_clock(windows[-1].end_ns),
        )
        counted = [places.window(host, *window) for window in windows]
        return collections_within(counted, self._instruments, self._marks, places.to_service_clock)

    def _judged(
        self,
        services: Mapping[Child, ServiceLine],
        clients: Mapping[Child, ClientLine],
        windows: Sequence[TimeWindow],
    ) -> tuple[dict[Child, ClientLine], dict[str, dict[str, Any]], list[Message]]:
        """Return the clients' results on the orchestrator's clock, facts about each host's clock,
        and what makes the cell invalid.
        """
        faults = service_faults(self._runtimes[SERVICE], services)
        faults += client_faults(self._runtimes[CLIENT], self._system, clients)
        converted, hosts, late = self.places.convert_times(clients, self._whole.start_ns)
        if self._turns[0].part and converted and not self._cell.rate:
            faults += littles_law([*converted.values()], windows)
        return converted, hosts, [self._redactor.message(fault) for fault in (*faults, *late)]

    def _timelines(
        self, waits: Mapping[Any, CumulativeTime], collected: Sequence[Collections]
    ) -> dict[str, list[CumulativeTime | None]]:
        """Return by cause the time that it took from each service, or from each client."""
        timelines: dict[str, list[CumulativeTime | None]] = {
            COLLECTION: [],
            SERVICE: [*map(waits.get, self._services)],
            CLIENT: [*map(waits.get, self._clients)],
            STEAL: [waits.get(STEAL)] * len(self._services),
        }
        for pauses, spans in collected:
            timelines[COLLECTION].append(CumulativeTime.of_spans(spans) if pauses else None)
        return timelines

    def _client_result(self, client: Child) -> ClientLine:
        """Return the checked result of a client, added up over its turns."""
        results = []
        for turn in self._turns:
            line = turn.results[client]
            heard = self.places.window(client.place.name, turn.released_ns, turn.heard_ns)
            check_times(client, line, heard, len(self._services))
            check_latencies(client, line, self._cell, self._system, len(self._services))
            results.append(line)
        total, known = add_slices(results), dict[str, Any]()
        if parts := [turn.part for turn in self._turns if turn.part]:
            known["completion_ns"] = sum(part.length_ns for part in parts)
        if len(parts) > 1:  # between its turns, other arms had theirs
            known["slices"] = None
        if first := total.first_wrong:  # its request is only a name, and has no secrets
            known["first_wrong"] = structs.replace(
                first,
                got=self._redactor.text(first.got),
                expected=self._redactor.text(first.expected),
            )
        return structs.replace(total, **known)

    def _end_children(self) -> dict[Child, Json]:
        """End the services; clients that measure in slices end first. Return the last output line
        of each service.
        """
        # An ending server waits for open connections, gunicorn for two seconds.
        first = self._clients if self._turns[0].part else ()
        for client in first:
            client.process.close_stdin()
        for client in first:
            client.process.wait(END_DEADLINE_S)
        for service in self._services:
            service.process.close_stdin()
        when = message("at the end of the measurement")
        lines = self.children.await_lines(self._services, RESULT, when, END_DEADLINE_S)
        # Otherwise a user's ending processes would count as load from other processes.
        for service in self._services if self._system.hosted else ():
            service.process.wait(END_DEADLINE_S)
        return lines

    def _explained(
        self, reason: Message, clients: Sequence[ClientLine], services: Sequence[ServiceLine]
    ) -> Message:
        """Return the reason of a failed cell with what is known about its cause.

        clients, services: their checked results
        """
        raised = next(filter(None, (line.raised for line in services)), "")
        if raised:
            note = message("the service raised {error}", error=raised)
            reason = chained([reason, self._redactor.message(note)])
        starvation = self._starvation(clients)
        return replace(chained([reason, starvation]), code=STARVED) if starvation else reason

    def _starvation(self, clients: Sequence[ClientLine]) -> Message:
        """Return the cause if some connections to a user's service got no answer at all, but others
        did.
        """
        starved = sum(client.starved or 0 for client in clients)
        connections = self._cell.num_clients * self._cell.num_connections_per_client
        if not 0 < starved < connections or not self._system.user_service:
            return NOTHING
        return message(
            "{starved} of {connections} connections got no answer within {limit_s:g} s, although "
            "others did: the service has fewer threads than connections, limits the number of "
            "connections, has a full listen queue (backlog), or takes longer for these requests. "
            "Use at most {most} connections (NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT), or give "
            "the service more threads",
            starved=starved,
            connections=connections,
            limit_s=self._system.child_config["own"].get("answer_deadline_s", ANSWER_DEADLINE_S),
            most=connections - starved,
        )

    def _windows(self, clients: Mapping[Child, ClientLine]) -> list[TimeWindow]:
        """Return the time windows in which answers are counted, on the orchestrator's clock.

        clients: their results, with times on the clocks of their hosts
        """
        if parts := [turn.part for turn in self._turns if turn.part]:
            return [
                TimeWindow(start_ns=part.counts_from_ns, end_ns=part.until_ns) for part in parts
            ]
        released_ns = self._turns[0].released_ns
        ends_ns = [
            # the release on the clock of the client's host; the end (0) of the window is not used
            line.finished_ns - self.places.window(child.place.name, released_ns, 0).start_ns
            for child, line in clients.items()
        ]
        return [TimeWindow(start_ns=released_ns, end_ns=released_ns + max(ends_ns, default=0))]

    def _turns_summary(self, part: Slice, own_ns: int) -> Turns:
        """Return a summary of the time slices of this runtime or service for result.json.

        part: one of the slices, which are all equally long
        own_ns: how long its clients sent requests, with the lead-ins
        """
        return Turns(
            slices=len(self._turns),
            length_ns=part.length_ns,
            lead_ns=part.lead_ns,
            answered=[turn.answered for turn in self._turns],
            tail_ns=self.pace.tail_ns,
            idle_ns=max(0, self._whole.length_ns - own_ns),
            idle_cpu_ns=sum(child.idle_ns for child in self.children.started),
        )

    def _note_jit_states(self, key: str) -> None:
        note_jit_states(key, self._runtimes[SERVICE], self._services, self._instruments)

    def _start_services(self) -> None:
        """Start the services. Send each service its settings and a folder for its sockets. Raises
        ChildFailed.

        Environment variables start the parts that run inside a service. The child of a user's
        command is sent these variables instead, and passes them on to the command.
        """
        self._services = self._start(SERVICE, len(self._instruments))
        config = {
            **self.places.service_line(),
            **self._runtimes[SERVICE].child_config(self._system),
        }
        self._start_deadline_s = starting_s(config)
        join = {"join": self._group.join} if self._system.hosted else {}
        for service_id, (service, inside) in enumerate(
            zip(self._services, self._instruments, strict=True)
        ):
            service.tell(
                {
                    **self._cell.to_json(),
                    **config,
                    **join,
                    "folder": service.place.folder,
                    "cpus": service.place.cpus(self._bench.method.pin_services),
                    "service_id": service_id,
                    "inside": inside.variables,
                }
            )

    def _ready_services(self) -> list[list[str]]:
        """Wait until all services listen, and return each service's addresses. Raises
        ChildFailed.
        """
        lines = self.children.await_lines(
            self._services, READY, BEFORE_READY, self._start_deadline_s
        )
        check_runtime(self._runtimes[SERVICE], lines)
        return addresses(lines)

    def _start(self, role: str, count: int) -> list[Child]:
        """Start *count* children of *role*."""
        runtime, is_service = self._runtimes[role], role == SERVICE
        is_inside = (
            is_service and not self._system.hosted
        )  # the child of a user's command starts the parts inside it
        started = []
        for number in range(count):
            place = self.places.of(role, number) or self.children.here
            command = [
                *(self._group.join if is_inside else ()),
                *place.command(runtime, self._system, role),
            ]
            variables = {
                **runtime.variables,
                **(self._bench.beside.variables if is_service else {}),
                **(self._instruments[number].variables if is_inside else {}),
            }
            name = _name(role, number + 1, count)
            child = self.children.start(name, str(runtime.name), command, variables, place)
            child.is_observer = is_service and self._already_runs
            started.append(child)
        return started

    def _confirm(
        self, children: Sequence[Child], word: str, when: Message, deadline_s: float
    ) -> None:
        """Send a command such as `reset` to the children, and wait until each child confirms it."""
        for child in children:
            child.tell(word)
        check_done(self.children.await_lines(children, word, when, deadline_s), word)


def _name(role: str, number: int, total: int) -> Message:
    if role == SERVICE:
        return message("Service {number} of {total}", number=number, total=total)
    return message("Client {number} of {total}", number=number, total=total)
