"""Measures one cell in one block: the steps from the start of its processes to its result.

lab/run/measure.py makes a CellRun for each arm, and calls its steps through do(), in this order:
launch and connect (CellProcesses), warm_up, try_slice (if the pace of the arm is unknown), begin,
take_turn (once for each slice), end. All arms have begun before the first turn. Attributes such as
_marks exist only after the step that sets them. lab/run/cell_end.py makes the result.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from math import ceil
from time import perf_counter_ns
from typing import Any

from config.run_plan import Entry
from core.cell import Cell
from core.child import TIMEOUT, Slice
from core.messages import GilscopeError, message
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S
from core.system import CLIENT, System
from lab.run.cell_end import CellEnd, Turn
from lab.run.cell_processes import Bench, CellProcesses, identity, key_of, requests_of
from lab.run.cell_results import Pace, add_up, counted_share
from lab.run.children import END_DEADLINE_S, RESET, RESULT, WARM
from lab.run.contract import take_client_result
from lab.run.core_waits import CumulativeTime
from lab.run.instrumentation import TimeWindow
from lab.run.slow import read_counters
from record.saved_run import CellResult

# what the deadline for the clients' results has beyond the time that is expected;
# docs/child-contract.md names it
FLOOR_S = 60.0
# upper bound of a request's latency under our own services, without its calculation
SLOWEST_REQUEST_S = 0.01
SLOWEST_COUNT_S = 1e-6  # upper bound of one step of the calculation
# the argument *when* of Children.await_lines() in a turn
CALLING = message("while the clients were sending requests")


class CellRun(CellProcesses):
    """The measurement of one cell in one block: its steps, and the reason if a step failed.

    The processes end with the `with` block, or when a step fails.
    """

    def __init__(self, entry: Entry, block: int, bench: Bench) -> None:
        super().__init__(entry, block, bench)
        # zeros until measure.py sets it, or try_slice() or end() measures it
        self.pace = Pace()
        self.key = key_of(entry)
        self._plan = requests_of(self.system)
        self._deadline_s = calling_s(self.cell, self.system, bench.method)
        self._turns: list[Turn] = []
        self._is_warm = False
        # CPU time in the turns, by program that runs beside the services
        self._beside_ns = Counter[str]()
        self._result = CellResult(
            **identity(entry, block),
            # a result that end() does not replace is that of a failed cell
            status="failed",
            requests=0 if bench.method.duration_s else self.cell.requests,
            client_runtime=str(self.runtimes[CLIENT].name),
        )

    def do(self, step: Callable[..., object], *arguments: Any) -> None:
        """Call *step*, a method, with this object, unless an earlier step failed.

        If the step fails, keep the reason, and end all processes of the cell.
        """
        if self._result.reason:
            return
        try:
            step(self, *arguments)
        except GilscopeError as error:
            # A service that the kernel killed for its memory seems only to have ended early.
            reason = self.group.exceeded or self.redactor.message(error.message)
            self._result = replace(self._result, reason=replace(reason, code=error.message.code))
            self.close()
            self.services, self.clients = [], []

    def result(self, spent_ns: int) -> CellResult:
        """Return the result of the cell in this block.

        spent_ns: total time spent on the cell, including the timed window
        """
        return replace(self._result, overhead_ns=max(0, spent_ns - self._result.wall_ns))

    # ---- steps, which raise GilscopeError --------------------------------------------------------

    def warm_up(self) -> None:
        """Let the clients send warm-up requests, if the plan has a warm-up."""
        if self.bench.method.warmup:
            self.confirm(self.clients, WARM, message("during the warm-up"), self._deadline_s)
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

    def begin(self) -> None:
        """Begin the measured part: reset the services' counters, and start to watch the cell's
        processes.
        """
        if self._is_warm:
            self.confirm(self.services, RESET, message("after the warm-up"), END_DEADLINE_S)
        self._marks = read_counters(self.instruments)
        self._watching = self.enter_context(ExitStack())
        self._watching.enter_context(self.bench.watch(self.services[0].process.pid))
        # What was used before, in the trials or between them, does not count.
        for child in self.children.started:
            child.wake()
            child.idle_ns = 0
        self._beside_ns.clear()
        served = chain.from_iterable(self.sockets) if self.already_runs else ()
        self._marked = self.places.mark(served, self.group.folders)

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
        for client in self.clients:
            client.finished = False
        # From release() until heard_ns, the children are timed: only await_lines() stands between.
        used_ns = self.bench.beside.cpu_ns()
        released_ns = self.places.release(self.clients, part)
        lines = self.children.await_lines(self.clients, RESULT, CALLING, deadline_s)
        heard_ns = perf_counter_ns()
        self._beside_ns += self.bench.beside.cpu_ns() - used_ns
        if part:
            part = replace(part, at_ns=released_ns)
            for child in self.children.started:
                child.rest()
        routes = len(self._plan.routes)
        results = {
            client: take_client_result(client, line, routes) for client, line in lines.items()
        }
        self._turns.append(Turn(TimeWindow(released_ns, heard_ns), part, results))

    def end(self, waits: Mapping[Any, CumulativeTime]) -> None:
        """End the processes, then check and combine their results.

        waits: CoreWaitSampler.timelines: by the keys of waiting_pids, and STEAL
        """
        # This comes first, because it reads the clocks of the hosts, which Place.window() needs.
        for child in self.children.started:
            child.wake()
        self._watching.close()
        machines = self.places.end(self._marked)
        ended = CellEnd.of(self, self._turns)
        by_client, part = [*ended.clients.values()], self._turns[0].part
        if by_client:
            self.pace = Pace.of(add_up(by_client), least_ns=part.length_ns if part else 0)
        share, running = counted_share(by_client), self.bench.beside.running
        figures = ended.fields(machines, self._marks, waits, self.pace.tail_ns)
        figures["beside"] = {name: round(self._beside_ns[name] * share) for name in running}
        self._result = replace(self._result, **figures)


def calling_s(cell: Cell, system: System, method: Method) -> float:
    """Return how long to wait for the clients' results after the clients are told to send, in s.
    This ends only measurements that hang.

    With a user's service, every answer may arrive just before its deadline.
    A slice's time comes on top (CellRun.take_turn).
    """
    busy_s = 0.0 if method.duration_s else cell.paced_s
    if system.user_service:
        answer_s = ANSWER_DEADLINE_S + requests_of(system).think_time_s
        requests = cell.num_requests_per_client * cell.num_api_services
        each = 1 if method.duration_s else ceil(requests / cell.num_connections_per_client)
        busy_s += each * answer_s
    else:
        busy_s += cell.requests * (SLOWEST_REQUEST_S + cell.calc_target * SLOWEST_COUNT_S)
    return FLOOR_S + method.duration_s + method.warmup.seconds + busy_s
