"""The results of a run: the result of each cell in each block, and the run that has them.

Run, CellResult and record.child_lines declare the keys of result.json; docs/result.md is made from
their docstrings.

lab/run adds a CellResult to Run.cells after each cell, and the comparisons at the end.
record/run_file.py writes and reads the file. analysis/ and reports/ only read a Run.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from core.histogram import Histogram, SparseHistogram
from core.messages import NOTHING, Message, message
from core.runtime import RuntimeFacts, RuntimeName
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
from record.result_parts import AnswersByTime, CellHost, OtherProcesses, Slow
from record.saved_plan import Machine, SavedPlan

FILE_NAME = "result.json"
# of result.json; a version of gilscope reads only its own (record/run_file.py)
SCHEMA = 4
PROFILES = "profiles"  # the folder of a run's profiles, in the folder of the run
PLOTS = "plots"  # the folder of a report's figures, in the folder of the run
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

    cell_id: system, runtime and a digest of the parameters; the same in every run
    system: its number, or its name if it has none
    params: every parameter that the system reads
    runtime, client_runtime: of the services and of the clients
    arm: the runtime, or `3.14t again` for the second arm of A/A
    block: 1, 2, ...
    status: `ok`; `failed` (a child ended early, or an answer was wrong, missing or an error);
        `invalid` (Python, GIL or JIT are not what the runtime's name promises, or code or
        environment changed)
    reason: why the cell is not ok, with the end of the child's stderr. Code `not_ready`: a child
        did not start; `not_tried`: skipped after two failed starts
    wall_ns: from the release of the first client to the last answer; in slices, the sum of the
        counted times
    start_ns: from the start of the first process until all were ready
    overhead_ns: all of the cell's time but `wall_ns`; cells that alternated in slices share it
        equally
    requests, answered, wrong, errors, routes, latency, connect, waiting, lag: as in [the result of
        a client](child-contract.md#the-result-of-a-client), for all clients together; the last four
        are [histograms](#a-histogram)
    calc_ns: sum of the calculation times in right answers, with interruptions
    slices: as in the result of a client, with `start_ns` from the start of counting; the first and
        last slice are incomplete. Empty if the arm took turns with others
    turns: if clients sent in slices: number of `slices`, the counted `length_ns` of each and the
        `lead_ns` before it, requests `answered` in each, `tail_ns` (longer requests have at most 1
        % of the time of all), and the CPU time `idle_cpu_ns` in the `idle_ns` between slices
    probe: for the capacity: `closed` (the closed loop), `pick` (of a topology), `scan` (short) or
        `search` (long)
    machine: [the timed window](#a-window), and a few ms for reading the counters
    others: CPU time of other processes, by host: `cores` that the run may use, `window_ns`, `share`
        of these cores' time, and shares of the three `busiest` by name and of the `neighbours`
        (`--neighbour`; not in `share`)
    slow: [slow requests](#slow-requests) beyond `p99` and `p999`
    beside: CPU time in ns of each program beside the services while answers counted
    disturbances: with the code `other_processes`, `steal`, `swapping`, `throttling` or `quota`
        ([machine.md](machine.md))
    clients, services: [clients](#a-client) and [services](#a-service)
    hosts: by host: `offset_ns` (its clock minus the runner's) and its error `error_ns`,
        `released_ns` (when its clients should have begun, on the runner's clock) and `late_ns` (the
        delay of the last of them)
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
    missing: by runtime that was not found: a message that says how to install it
    spent_ns: time spent in `cells`, with start and stop of processes, and in `report`
    cells: [cells](#a-cell) in the order in which they ran
    comparisons, headline: [comparisons](#a-comparison) and a message with their result, from the
        end of the run
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
