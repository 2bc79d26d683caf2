"""The results of a run: the result of each cell in each block, and the run that has them.

Run, CellResult and record.child declare the keys of result.json; docs/result.md is made from their docstrings.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from core.messages import NOTHING, Message, message
from core.runtime import RuntimeFacts, RuntimeName
from record.cell_parts import AnswersByTime, CellHost, OtherProcesses, Slow
from record.child import ClientResult, Count, Number, Parameters, ServiceResult, Summary, Turns
from record.comparison import SavedComparison
from record.plan import Machine, SavedPlan

FILE_NAME = "result.json"
SCHEMA = 4
PROFILES = "profiles"  # a folder
PLOTS = "plots"  # the folder of a report's figures
NOT_TRIED = "not_tried"  # code of CellResult.reason for a cell that was skipped because its service never starts

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
    """The result of one measurement: of one system under one runtime, with given parameters, in one repetition (block).

    cell_id: name of the cell: system, runtime and a digest of its parameters; the same in every run and on every
        machine
    system: the system's number, or its name if it has no number
    runtime: the services' runtime, such as `3.14t+gil`
    client_runtime: the clients' runtime; the services' unless `--client-runtime` names another
    arm: name of the cell's arm in comparisons: the runtime, or `3.14t again` for the second arm of A/A
    block: 1, 2, ...
    params: value of every parameter that the system reads
    status: `ok`; `failed` (a child ended early, or an answer was wrong, missing or an error); `invalid` (the GIL's
        state contradicts the runtime's name)
    reason: why the cell is not ok: a message with the end of the child's stderr; `""` if the cell is ok. Code
        `not_ready`: a child did not start; `not_tried`: the cell was skipped because its service failed to start twice
    wall_ns: time from the release of the first client to the last answer; for a cell in slices, the sum of the times
        whose requests count; 0 if the cell failed before, or has no clients
    start_ns: time from the start of the first process until all were ready, before the warm-up
    overhead_ns: the cell's time besides `wall_ns`: start, connecting, warm-up and stop. Cells that alternated in slices
        share this time equally
    requests: requests that were planned; with a duration, requests that were sent
    answered: answers that were received, right or wrong
    wrong: answers with code 200 and a wrong count
    errors: number of errors by code ([child-contract.md](child-contract.md) lists the codes)
    latency: a histogram of the time from sending a request to receiving its whole answer
    connect: a histogram of the time of each connect in the timed window; empty if there were none
    waiting: a histogram of the time from sending a request until its handler began, for one request in 64
        ([decision 012](decisions/012-sampled-waiting.md)); empty if the service does not report it
    lag: at a RATE, a histogram of the load generator's own delay: from when a request was due until it was sent, for
        requests that a free connection waited for; otherwise empty
    slices: answered requests by the time of their start: `counts` of successive slices of `width_ns` (50 ms, more for a
        long cell). The first slice began `start_ns` after counting began (before it, if negative); the first and last
        slices are incomplete. Empty if a client does not report them, and if the arm took turns with others
    turns: for a cell whose clients sent in slices of time: the number of `slices` (more than one if the arm alternated
        with others), `length_ns` and `lead_ns` of each, the `answered` requests of each, the `tail_ns` of the requests,
        and `idle_cpu_ns`, the CPU time used in the `idle_ns` between slices; otherwise empty
    probe: for a search for the capacity, the purpose of the cell: `closed` (the closed loop), `pick` (for a candidate
        topology), `scan` (a short probe) or `search` (a long probe); otherwise empty
    machine: [a window](#a-window): the time in which clients were timed, plus a few ms for reading the counters
    others: CPU time that processes outside of the run and the measured service used in that window, by host (`""`
        without hosts): `cores` that the run may use, `window_ns`, `share` of these cores' time, `busiest` (shares of
        the three busiest, by name) and `neighbours` (shares of those named by `--neighbour`, which `share` excludes);
        empty if the kernel does not report it
    slow: for requests slower than `p99` and `p999`: how many there are, and the causes of their time
        ([below](#slow-requests)); empty if clients do not keep times
    beside: CPU time in ns of each program beside the services while answers counted, by its name; otherwise empty
    calc_ns: the sum of the calculation times in right answers: wall time, with all interruptions
    disturbances: disturbances of the machine, a message each, with the code `other_processes`, `steal`, `swapping`,
        `throttling` or `quota` ([machine.md](machine.md))
    clients: one element for each client process; empty if NUM_CLIENTS is 0
    services: one element for each service process
    hosts: for a run across hosts, by name of each host that took part: `offset_ns` (its clock minus the runner's),
        `error_ns` (the error of this offset), `released_ns` (when its clients should have begun, on the runner's
        clock), `late_ns` (how much later the last of them began), `disturbances`; otherwise empty
        ([hosts.md](hosts.md#time))
    code, environment: ids in `fingerprints` of the code and the environment used; empty if the cell was skipped
    checksum: checksum of the cell
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
    latency: Summary = field(default_factory=Summary)
    connect: Summary = field(default_factory=Summary)
    waiting: Summary = field(default_factory=Summary)
    lag: Summary = field(default_factory=Summary)
    slow: dict[str, Slow] = field(default_factory=dict)
    slices: AnswersByTime = field(default_factory=AnswersByTime)
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
    """One execution of a plan, possibly unfinished. record.run_file has the types of its attributes of plain JSON.

    schema: version of this format, 4
    run_id: name of the run and of its folder
    started_at: when the run began, UTC
    finished_at: when the last cell ended, UTC; empty before that
    seed: seed of the random order of the cells
    command: the command line that started the run
    plan: the plan that was measured
    machine: the machine that measured
    runtimes: the interpreters by runtime, including the clients' runtime if it is another
    missing: for each requested runtime that was not found: a message that says how to install it
    spent_ns: time that the run spent: in `cells` (measuring, with start and stop of processes) and `report`
    cells: the result of each cell in each block, in the order in which they ran
    comparisons: comparisons of arms, written when the run ends or is reported; empty if there is only one arm
    headline: what the comparisons say, as a message; written with them
    fingerprints: the code and environments used, by the ids in cells: `code` has the digest of every file, and
        `environments` has, for services and clients, `interpreter`, `packages`, `installed` (a digest of the packages'
        files) and `programs`
    profiles: profiles of services, made with `--profile`; otherwise empty
    order: the checksum of the cells' checksums, in their order
    checksum: checksum of everything except the cells

    Two attributes are not in the file: `damaged` lists the damage that load() found, and `folder` is the folder that
    holds the file, as the user named it; empty if unknown.
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
