"""The results of a run: the result of each cell in each block, and the run that has them.

Run, CellResult and record.child_lines declare the keys of result.json; docs/result.md is made from
their docstrings.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from core.histogram import Histogram, SparseHistogram
from core.messages import NOTHING, Message, message
from core.runtime import RuntimeFacts, RuntimeName
from record.cell_parts import AnswersByTime, CellHost, OtherProcesses, Slow
from record.child_lines import (
    ClientResult,
    Count,
    Number,
    Parameters,
    RouteCounts,
    ServiceResult,
    Turns,
)
from record.comparison import SavedComparison
from record.saved_plan import Machine, SavedPlan

FILE_NAME = "result.json"
SCHEMA = 4
PROFILES = "profiles"  # a folder
PLOTS = "plots"  # the folder of a report's figures
# code of CellResult.reason for a cell that was skipped because its service never starts
NOT_TRIED = "not_tried"

# Names of disturbances, by the code of the messages in CellResult.disturbances.
DISTURBANCES: dict[str, Message] = {
    "other_processes": message("other processes"),
    "steal": message("CPU steal"),
    "swapping": message("swapping"),
    "throttling": message("throttling"),
    "quota": message("quota throttling"),
}

Status = Literal["ok", "failed", "invalid"]


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """The result of one measurement: of one system under one runtime, with given parameters, in one
    repetition (block).

    cell_id: system, runtime and a digest of the parameters; the same in every run and on every
        machine
    system: number of the system, or its name if it has no number
    params: value of every parameter that the system reads
    runtime, client_runtime: runtimes of the services and of the clients
    arm: the runtime, or `3.14t again` for the second arm of A/A
    block: 1, 2, ...
    status: `ok`; `failed` (a child ended early, or an answer was wrong, missing or an error);
        `invalid` (Python, GIL or JIT are not what the runtime's name promises, or code or
        environment changed)
    reason: why the cell is not ok, with the end of the child's stderr. Code `not_ready`: a child
        did not start; `not_tried`: skipped, because the service failed to start twice
    wall_ns: time from the release of the first client to the last answer; in slices, the sum of the
        times whose requests count
    start_ns: time from the start of the first process until all were ready
    overhead_ns: the cell's time besides `wall_ns`, for start, connecting, warm-up and stop; cells
        that alternated in slices share it equally
    requests, answered, wrong, errors, latency, connect, waiting, lag: as in [the result of a
        client](child-contract.md#the-result-of-a-client), for all clients together; the last four
        are [histograms](#a-histogram)
    calc_ns: time of the calculations in right answers, added up, with all interruptions
    slices: answers by the time of the request's start: `counts` of successive slices of `width_ns`
        (50 ms or more), from `start_ns` after counting began; the first and last are incomplete.
        Empty if the arm took turns with others
    routes: of a plan with several requests, for each name of a request, in the order of the plan:
        `requests`, `answered`, `errors` and `latency`, whose sums are those of the cell
    turns: if clients sent in slices of time: number of `slices`, the counted `length_ns` of each
        and the `lead_ns` before it, `answered` requests of each, `tail_ns` (longer requests have at
        most 1 % of the time of all), and `idle_cpu_ns`, the CPU time in the `idle_ns` between
        slices
    probe: in a search for the capacity: `closed` (the closed loop), `pick` (of a topology), `scan`
        (short) or `search` (long)
    machine: [a window](#a-window): the timed window, plus a few ms for reading the counters
    others: CPU time of other processes in that window, by host: `cores` that the run may use,
        `window_ns`, `share` of these cores' time, `busiest` (shares of three by name) and
        `neighbours` (of those named by `--neighbour`, which `share` excludes)
    slow: [slow requests](#slow-requests) beyond `p99` and `p999`
    beside: CPU time in ns of each program beside the services while answers counted
    disturbances: with the code `other_processes`, `steal`, `swapping`, `throttling` or `quota`
        ([machine.md](machine.md))
    clients, services: [clients](#a-client) and [services](#a-service)
    hosts: by host: `offset_ns` (its clock minus the runner's), `error_ns` (of this offset),
        `released_ns` (when its clients should have begun, on the runner's clock), `late_ns` (how
        much later the last of them began) and `disturbances`
    code, environment: ids in `fingerprints`
    """

    cell_id: str
    system: str
    runtime: RuntimeName
    arm: str
    block: Count
    params: Parameters
    status: Status
    reason: Message = NOTHING
    wall_ns: Count = 0
    start_ns: Count = 0
    overhead_ns: Count = 0
    requests: Count = 0
    answered: Count = 0
    wrong: Count = 0
    errors: dict[str, Count] = field(default_factory=dict)
    latency: Histogram = field(default_factory=SparseHistogram)
    connect: Histogram = field(default_factory=SparseHistogram)
    waiting: Histogram = field(default_factory=SparseHistogram)
    lag: Histogram = field(default_factory=SparseHistogram)
    slow: dict[str, Slow] = field(default_factory=dict)
    slices: AnswersByTime = field(default_factory=AnswersByTime)
    routes: list[RouteCounts] = field(default_factory=list)
    turns: Turns = field(default_factory=Turns)
    probe: str = ""
    machine: dict[str, Number | None] = field(default_factory=dict)
    others: dict[str, OtherProcesses] = field(default_factory=dict)
    beside: dict[str, Count] = field(default_factory=dict)
    calc_ns: Count = 0
    client_runtime: str = ""
    disturbances: list[Message] = field(default_factory=list)
    clients: list[ClientResult] = field(default_factory=list)
    services: list[ServiceResult] = field(default_factory=list)
    hosts: dict[str, CellHost] = field(default_factory=dict)
    code: str = ""
    environment: str = ""


@dataclass(kw_only=True)
class Run:
    """One execution of a plan, possibly unfinished. record.run_file has the types of its attributes
    of plain JSON.

    schema: version of this format, 4
    run_id: name of the run and of its folder
    started_at, finished_at: when the run began and its last cell ended, UTC
    seed: seed of the random order of the cells
    command: the command line
    plan, machine: [the plan](#the-plan) and [the machine](#the-machine)
    runtimes: [interpreters](#a-runtime) by runtime, the clients' included
    missing: for each runtime that was not found, a message that says how to install it
    spent_ns: time spent in `cells`, with start and stop of processes, and in `report`
    cells: [cells](#a-cell) in the order in which they ran
    comparisons, headline: [comparisons](#a-comparison), and a message with their result; written
        when the run ends or is reported
    fingerprints: by the ids in cells: `code` (the digest of every file) and `environments` of
        services and clients: `interpreter`, `packages`, `installed` (a digest of the packages'
        files) and `programs`
    profiles: [profiles](#a-profile)

    Two attributes are not in the file: `damaged` lists the damage that load() found, and `folder`
    is the folder that holds the file, as the user named it; empty if unknown.
    """

    run_id: str
    started_at: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    command: list[str]
    plan: SavedPlan
    machine: Machine
    runtimes: dict[str, RuntimeFacts]
    missing: dict[str, Message] = field(default_factory=dict)
    finished_at: str = ""
    spent_ns: dict[str, Count] = field(default_factory=dict)
    cells: list[CellResult] = field(default_factory=list)
    comparisons: list[SavedComparison] = field(default_factory=list)
    headline: Message = NOTHING
    profiles: list[dict[str, Any]] = field(default_factory=list)
    fingerprints: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    damaged: list[Message] = field(default_factory=list, compare=False)
    folder: str = field(default="", compare=False)

    @property
    def failed_cells(self) -> list[CellResult]:
        """Return the measurements that failed or are invalid, in the order in which they ran."""
        return [cell for cell in self.cells if cell.status != "ok"]
