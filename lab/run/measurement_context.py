"""What all cells of a run are measured with: settings and tools, the pace of their requests, and
deadlines of steps.

lab/run/experiment.py and commands/stress.py make one Bench for a run, and lab/run/profiling.py and
lab/run/stress_rounds.py change copies of it. lab/run/measure.py and lab/run/cell_processes.py read
it. An entry is a cell of a plan with its system and the name of its arm (config/run_plan.py).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import NamedTuple

from config.run_plan import Entry
from core.cell import Cell
from core.messages import Json
from core.method import Method
from core.request_plan import ANSWER_DEADLINE_S, RequestPlan
from core.secret import Redactor, secrets_in
from core.system import System
from lab.folders import Sandbox
from lab.run.cell_places import CellPlaces
from lab.run.instrumentation import Instrumentation, TimeWindow
from lab.run.measured_runtimes import AnyRuntime, Runtimes, runtime_of
from lab.run.running_sidecars import RunningBeside
from lab.run.slow import DEFAULT
from record.child_lines import ClientLine

# for children to be ready, and what each deadline for results has beyond the time that is expected;
# docs/child-contract.md names both
START_DEADLINE_S = FLOOR_S = 60.0
# upper bound of a request's latency under our own services, without its calculation
SLOWEST_REQUEST_S = 0.01
SLOWEST_COUNT_S = 1e-6  # upper bound of one step of the calculation


class Pace(NamedTuple):
    """How long the requests of a cell take.

    cycle_ns: mean time from one request of a connection to its next
    tail_ns: the length of its longest requests that matter: Histogram.tail_ns
    """

    cycle_ns: int = 0
    tail_ns: int = 0

    @classmethod
    def of(cls, counts: ClientLine, think_ns: int = 0, least_ns: int = 0) -> "Pace":
        """Return the pace of the requests in a client's result.

        think_ns: the think time, which a short trial need not hold
        least_ns: how long requests take at least if none was answered, which is then the tail
        """
        latency = counts.latency
        if not latency.count:
            return cls(tail_ns=least_ns)
        own_ns = max(think_ns, (counts.own_ns or 0) // latency.count)
        return cls(cycle_ns=latency.mean_ns + own_ns, tail_ns=latency.tail_ns)

    def grown(self, seen: "Pace", factor: float) -> "Pace":
        """Return this pace, with those times of *seen* that are more than *factor* times as long as
        its own.
        """
        return Pace(
            cycle_ns=seen.cycle_ns if seen.cycle_ns > factor * self.cycle_ns else self.cycle_ns,
            tail_ns=seen.tail_ns if seen.tail_ns > factor * self.tail_ns else self.tail_ns,
        )


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


# ---- deadlines, which end only measurements that hang --------------------------------------------


def starting_s(cell_line: Json) -> float:
    """Return how long to wait until children are ready, in s. A user's service adds its own start
    deadline.

    cell_line: the first line of the children's stdin
    """
    own = cell_line.get("own", {})
    return START_DEADLINE_S + float(own.get("start_deadline_s", 0.0))


def calling_s(cell: Cell, system: System, method: Method) -> float:
    """Return how long to wait for the clients' results after the clients are told to send, in s.

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
