"""One cell in one block: its processes, how they are started, told and heard, and what came of it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any

from config.plan import Entry
from core.cell import Cell
from core.child import Slice
from core.errors import ChildFailed, GilscopeError
from core.messages import NOTHING, Message, message
from core.method import Method
from core.processtree import tree, usage_of
from core.redact import Redactor
from core.request_plan import RequestPlan
from core.result import CellResult
from core.secret import secrets_in
from core.system import CLIENT, SERVICE, System
from lab.places import REPOSITORY
from lab.run import pauses
from lab.run.beside import Standing
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
from lab.run.cores import STEAL, TimeTaken
from lab.run.deadlines import calling_s, starting_s
from lab.run.faults import add_jit_states, client_faults, jit_parts, jit_states, service_faults
from lab.run.inside import Inside, Window, opened
from lab.run.observed import Observed, summed
from lab.run.places import AllHere, Hosts, Places
from lab.run.process import LocalProcess
from lab.run.runtimes import AnyRuntime, runtime_of
from lab.run.sandbox import Sandbox
from lab.run.slow import watched
from lab.run.turns import PILOT, IdleWatch, added, counted_share, merged, used

NOT_READY = "not_ready"  # code of the reason of a cell whose children did not start
BEFORE_READY = message("before it was ready", code=NOT_READY)
CALLING = message("while the clients were calling")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every cell of a run is measured with, and how.

    inside: parts that run in the services' own processes (core/inside), with their options
    after: after(what was inside each service, the timed window) is called when a cell has ended, also one that failed
    listening: listening(pid of a service) is called before any client knows of it
    watch: watch(pid of a service) is entered for the timed window
    places: where children run; None for this machine
    beside: what runs beside the services, such as their database
    slices: of each setting how many slices an arm has, and how long each is, by the first arm's cell_id
    """

    sandbox: Sandbox
    runtimes: Mapping[str, AnyRuntime]
    method: Method = Method()  # noqa: RUF009 - frozen
    inside: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType(pauses.DEFAULT))
    after: Callable[[Sequence[Inside], Window], None] = lambda insides, window: None
    listening: Callable[[int], None] = lambda pid: None
    watch: Callable[[int], AbstractContextManager[object]] = nullcontext
    places: Hosts | None = None
    beside: Standing = Standing()  # noqa: RUF009 - frozen
    slices: dict[str, tuple[int, Slice]] = field(default_factory=dict)

    def runtime(self, cell: Cell, system: System, role: str) -> AnyRuntime:
        """What the *role* of the cell's *system* runs under."""
        return runtime_of(role, system, self.runtimes, cell.runtime, self.method)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What clients said when they had sent. Times are on our clock; part: its slice, None without slices."""

    released_ns: int
    heard_ns: int
    part: Slice | None
    lines: Sequence[Mapping[str, Any]]


class CellRun(ExitStack):
    """One cell in one block: how its children are started, told and heard, and why it failed.

    Its processes end with the `with` block, or where a step fails.
    """

    def __init__(self, entry: Entry, block: int, bench: Bench, children: Children | None = None) -> None:
        super().__init__()
        self.failure, self.latency_ns = NOTHING, 0
        self._arm, self._cell, self._system = entry.arm, entry.cell, entry.system
        self._block, self._bench = block, bench
        self._runtimes = {role: bench.runtime(self._cell, self._system, role) for role in (SERVICE, CLIENT)}
        self._redactor = redactor_of(self._system)
        self._is_away = self._system.user_service is not None and self._system.user_service.already_runs
        self._insides: Sequence[Inside] = [Inside(bench.sandbox.folder, {})] * self._system.services(self._cell)
        self._services: list[Child] = []
        self._clients: list[Child] = []
        self._turns: list[Turn] = []
        self._is_warm = False
        self._idle = IdleWatch(())
        self._beside_ns = Counter[str]()
        self._window_there = Window()
        self._observed: Observed | None = None
        if children:
            self._work_with(children)

    def __enter__(self) -> "CellRun":
        """Make what runs inside its services."""
        bench, runtime = self._bench, self._runtimes[SERVICE]
        parts = {**bench.inside, **jit_parts(runtime)} if bench.inside else {}
        made = bench.places.inside if bench.places else partial(Inside, bench.sandbox.folder)
        self._insides = self.enter_context(opened(partial(made, parts), len(self._insides)))
        self.callback(lambda: bench.after(self._insides, self._window_there))
        return self

    def do(self, step: Callable[..., object], *arguments: Any) -> None:
        """Take a step, unless one before has failed. Where it fails, nothing is left of the cell but the reason."""
        if self.failure:
            return
        try:
            step(*arguments)
        except GilscopeError as error:
            self.failure = self._redactor.message(error.message)
            self.close()

    def result(self, spent_ns: int) -> CellResult:
        """What came of it. spent_ns: on all of it, with what is timed."""
        identity: dict[str, Any] = {
            name: getattr(self._cell, name) for name in ("cell_id", "system", "runtime", "params")
        }
        identity |= {"arm": self._arm, "block": self._block, "client_runtime": str(self._runtimes[CLIENT].name)}
        if self.failure or not self._observed:
            requests = 0 if self._bench.method.duration_s else self._cell.requests
            return CellResult(**identity, status="failed", reason=self.failure, requests=requests, overhead_ns=spent_ns)
        figures = summed(self._observed)
        return CellResult(**identity, **figures, overhead_ns=max(0, spent_ns - figures["wall_ns"]))

    # ---- steps ---------------------------------------------------------------------------------------------------

    def launch(self) -> None:
        """Start its processes. Raises GilscopeError, as all steps do."""
        self._work_with(self.enter_context(Children(self._bench.sandbox, str(REPOSITORY))))
        self._launched_ns = perf_counter_ns()
        self._places.begin()
        self.start_services()
        self._clients = self._start(CLIENT, [{}] * self._cell.num_clients)

    def connect(self) -> None:
        """Wait until services listen and clients have connected."""
        self._sockets = self.ready_services()
        self._bench.listening(self._services[0].process.pid)
        runtime = self._runtimes[CLIENT]
        for client_id, client in enumerate(self._clients):
            told = {"client_id": client_id, "addresses": self._sockets, "method": self._bench.method.to_json()}
            place = self._places.client_line(client_id)
            client.tell({**self._cell.to_json(), **told, **place, **runtime.told(self._system)})
        ready = self._children.hear_all(self._clients, READY, BEFORE_READY, starting_s({}))
        check_runtime(runtime, self._clients, ready)
        self._ready_ns = perf_counter_ns() - self._launched_ns
        self._jit_ready = jit_states(self._runtimes[SERVICE], self._insides)
        self._deadline_s = calling_s(self._cell, self._system, self._bench.method)

    def warm_up(self) -> None:
        """Let the clients warm up, if the method says so."""
        if self._bench.method.warmup:
            self._do(self._clients, WARM, message("during the warm-up"), self._deadline_s)
            self._is_warm = True

    def try_slice(self) -> None:
        """Take a short turn that does not count, but for its mean latency."""
        self.take_turn(PILOT)
        self._is_warm = True
        for client, line in zip(self._clients, self._turns.pop().lines, strict=True):
            take_client_result(client, line)
        self.latency_ns = merged(client.result["latency"] for client in self._clients).get("mean_ns", 0)

    def memory_bytes(self) -> int:
        """How much memory all its processes have now."""
        pids = {pid for child in (*self._services, *self._clients) for pid in tree(child.process.pid)}
        return usage_of(pids).pss_bytes

    def begin(self) -> None:
        """From now on, what its processes do counts."""
        if self._is_warm:
            self._do(self._services, RESET, message("after the warm-up"), END_DEADLINE_S)
        self._marks = pauses.marks(self._insides)
        self._watching = self.enter_context(ExitStack())
        self._watching.enter_context(self._bench.watch(self._services[0].process.pid))
        self._idle = IdleWatch([(child.place, child.process.pid) for child in (*self._services, *self._clients)])
        self._beside_ns.clear()
        self._places.mark()

    @property
    def watched(self) -> dict[tuple[str, str], list[int]]:
        """The processes whose waits for a core are noted, by arm and name: none of a target, or of another host."""
        services, is_tree = [] if self._is_away else self._services, self._system.hosted or self._system.forks
        pairs = [
            *((SERVICE, child) for child in enumerate(services)),
            *((CLIENT, child) for child in enumerate(self._clients)),
        ]
        return {
            (self._arm, watched(role, number)): tree(child.process.pid)
            if is_tree and role == SERVICE
            else [child.process.pid]
            for role, (number, child) in pairs
            if isinstance(child.process, LocalProcess)
        }

    def take_turn(self, part: Slice | None = None) -> None:
        """Let the clients send: what the method says, or for a slice of time."""
        if part:
            self._idle.wake()
        for client in self._clients:
            client.finished = False
        used_ns = self._bench.beside.cpu_ns()
        released_ns = self._places.release(self._clients, part)
        lines = self._children.hear_all(self._clients, RESULT, CALLING, self._deadline_s)
        self._beside_ns += self._bench.beside.cpu_ns() - used_ns
        part = replace(part, at_ns=released_ns) if part else None
        self._turns.append(Turn(released_ns=released_ns, heard_ns=perf_counter_ns(), part=part, lines=lines))
        if part:
            self._idle.rest()

    def end(self, waits: Mapping[Any, TimeTaken]) -> None:
        """End its processes, check what they said, and put it together. waits: by the names of watched, and STEAL"""
        self._idle.wake()
        self._watching.close()
        places, turns = self._places, self._turns
        whole = Window(start_ns=turns[0].released_ns, end_ns=turns[-1].heard_ns)
        ended = places.end([address for of_one in self._sockets for address in of_one] if self._is_away else ())
        there = places.window(places.of(SERVICE, 0).name, whole.start_ns, whole.end_ns)
        collected = pauses.within(there, self._insides, self._marks, lambda: places.there(perf_counter_ns()))
        self._take_results()
        faults, windows = self._faults(), self._windows()
        by_client, by_service = ([child.result for child in some] for some in (self._clients, self._services))
        faults += places.settle(self._clients, by_client, by_service, whole.start_ns, ended)
        self._hide_wrong_answers(by_client)
        self._window_there = Window(start_ns=there.start_ns, end_ns=places.there(windows[-1].end_ns))
        share = counted_share(by_client)
        own = {key[1]: taken for key, taken in waits.items() if key[0] == self._arm}
        self._observed = Observed(
            start_ns=self._ready_ns,
            windows=windows,
            clients=by_client,
            services=[self._redactor.json(service) for service in by_service],
            collected=collected,
            waits=own | {key: taken for key, taken in waits.items() if key == STEAL},
            ended=ended,
            faults=[self._redactor.message(fault) for fault in faults],
            turns=self._told_turns(whole),
            beside={name: round(self._beside_ns[name] * share) for name in self._bench.beside.running},
        )

    # ---- parts of steps ------------------------------------------------------------------------------------------

    def _work_with(self, children: Children) -> None:
        self._children = children
        self._places: Places = self._bench.places or AllHere(children.here, self._bench.method)

    def _take_results(self) -> None:
        """End the services, and keep what each child said of itself, once it was checked."""
        in_slices = bool(self._turns[0].part)
        if in_slices:
            self._end_clients()
        for service, line in zip(self._services, self._ended(self._services), strict=True):
            take_service_result(service, line)
        for number, client in enumerate(self._clients):
            results = []
            for turn in self._turns:
                take_client_result(client, turn.lines[number])
                heard = self._places.window(client.place.name, turn.released_ns, turn.heard_ns)
                check_times(client, heard, len(self._services))
                results.append(client.result)
            client.result = added(results) if in_slices else client.result
        check_load(self._cell, self._system, self._clients, self._services)
        add_jit_states(self._services, self._jit_ready, jit_states(self._runtimes[SERVICE], self._insides))
        if in_slices:
            share = counted_share([client.result for client in self._clients])
            for service, idle_ns in zip(self._services, self._idle.cpu_ns, strict=False):
                service.result.update(used(service.result, share, idle_ns))

    def _faults(self) -> list[Message]:
        """What makes the cell invalid."""
        services = service_faults(self._runtimes[SERVICE], self._system, self._services)
        return [*services, *client_faults(self._runtimes[CLIENT], self._system, self._clients)]

    def _hide_wrong_answers(self, by_client: Sequence[dict[str, Any]]) -> None:
        """Take secrets out of the first wrong answer; its request is a name, and no secret."""
        for result in by_client:
            if first := result.get("first_wrong"):
                result["first_wrong"] = first | self._redactor.json({key: first[key] for key in ("got", "expected")})

    def _windows(self) -> list[Window]:
        """The times in which answers counted, on our clock."""
        parts = [turn.part for turn in self._turns if turn.part]
        if parts:
            return [Window(start_ns=part.counts_from_ns, end_ns=part.until_ns) for part in parts]
        released_ns = self._turns[0].released_ns
        ends_ns = [
            child.result["finished_ns"] - self._places.window(child.place.name, released_ns, 0).start_ns
            for child in self._clients
        ]
        return [Window(start_ns=released_ns, end_ns=released_ns + max(ends_ns, default=0))]

    def _told_turns(self, whole: Window) -> dict[str, int]:
        """What result.json says of its turns; nothing where it had none."""
        part = self._turns[0].part
        if not part:
            return {}
        return {
            "slices": len(self._turns),
            "length_ns": part.length_ns,
            "lead_ns": part.lead_ns,
            "idle_ns": max(
                0, whole.end_ns - whole.start_ns - sum(turn.heard_ns - turn.released_ns for turn in self._turns)
            ),
            "idle_cpu_ns": sum(self._idle.cpu_ns),
        }

    def _end_clients(self) -> None:
        """End the clients: a server that ends waits for connections that are open, gunicorn two seconds."""
        for client in self._clients:
            client.end_of_file()
        for client in self._clients:
            client.process.wait(END_DEADLINE_S)

    def start_services(self) -> None:
        """Start the services, and tell them the cell and a folder for their sockets. Raises ChildFailed.

        What runs inside them is in their environment. Where a user's command runs, its child is told instead.
        """
        inside = [inside.variables for inside in self._insides]
        self._services = self._start(SERVICE, [{} if self._system.hosted else variables for variables in inside])
        told = {**self._places.service_line(), **self._runtimes[SERVICE].told(self._system)}
        self._start_deadline_s = starting_s(told)
        for service_id, (service, variables) in enumerate(zip(self._services, inside, strict=True)):
            service.tell({**self._cell.to_json(), **told, "service_id": service_id, "inside": variables})

    def ready_services(self) -> list[list[str]]:
        """Wait until all services listen, and return the addresses of each. Raises ChildFailed."""
        lines = self._children.hear_all(self._services, READY, BEFORE_READY, self._start_deadline_s)
        check_runtime(self._runtimes[SERVICE], self._services, lines)
        sockets = [addresses(line, service) for line, service in zip(lines, self._services, strict=True)]
        expect_distinct(self._services, sockets)
        return sockets

    def _start(self, role: str, variables: Sequence[Mapping[str, str]]) -> list[Child]:
        """Start one child for each of *variables*, which are added to its environment."""
        runtime, started = self._runtimes[role], []
        shared = {**runtime.variables, **(self._bench.beside.variables if role == SERVICE else {})}
        for number, more in enumerate(variables):
            place = self._places.of(role, number)
            command = place.command(runtime, self._system, role)
            name = _name(role, number + 1, len(variables))
            started.append(self._children.start(name, str(runtime.name), command, {**shared, **more}, place))
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


def start_services(cell: Cell, system: System, children: Children, bench: Bench) -> list[list[str]]:
    """Start the services of *cell* and no clients; of each, its addresses. Raises ChildFailed."""
    run = CellRun(Entry(arm="", cell=cell, system=system), 0, bench, children)
    try:
        run.start_services()
        return run.ready_services()
    except ChildFailed as failed:
        raise ChildFailed(redactor_of(system).message(failed.message)) from None


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
