"""Declare type, bounds and meaning of each key in the result that a child process prints.

The other modules of this package declare the other keys of result.json with the same kinds of
values. The lists of docs/result.md are made from the lines `key: meaning` of these docstrings.
Measured processes must not import this package, because it needs msgspec.

lab/run/contract.py checks each line of a child against ClientLine or ServiceLine: a key without a
default must be there, and an undeclared key is an error. So a new key belongs in
docs/child-contract.md, in the children that send it, and in lab/run/cell_results.py, which adds up.
"""

from typing import Annotated, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType, field

from core.histogram import WIDTH_NS, Histogram, SparseHistogram
from core.wire import MAX_ROUTES

LARGEST = 2**63 - 1  # what 64 bits with a sign hold, as in native programs
MOST_CHARACTERS = 4096  # of a text
MOST_SLOW = 4096  # slowest requests of one client
MOST_SLICES = 4096  # entries of a list with one number for each slice of time

# Kinds of values, with their bounds. A child is not trusted, so a value outside fails its cell.
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Time = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Number = Annotated[int, Meta(ge=-(10**18), le=10**18)] | Annotated[float, Meta(ge=-1e100, le=1e100)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Known = Number | None  # null if the number is not known
Amount = Annotated[float, Meta(ge=0, le=1e100)]
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Code = Annotated[str, Meta(max_length=60, pattern="^[ -~]*$")]
Parameters = dict[str, bool | int | str | None]
Numbers = dict[str, Number]


class ProcessUsage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The resources that a process used, and the state of its GIL and JIT; null if a state could
    not be read. Keys that are not known are missing, and those of a JIT that is off.

    cpu_user_ns, cpu_system_ns: CPU time of a client from its release to its last answer, and of a
        service from the end of the warm-up, or its ready line, to its end
    voluntary_switches, involuntary_switches: context switches in this time
    run_queue_ns: how long threads were ready to run without a core in this time, summed over all
        threads; 0 if not reported ([decision 014](decisions/014-run-queue.md))
    max_rss_bytes: peak memory, with start and warm-up
    pss_bytes: proportional set size at a client's last answer, and at a service's end while all
        clients are connected; 0 if not reported
    processes: number of processes of a user's service
    gil_enabled_ready, gil_enabled_end, jit_enabled_ready, jit_enabled_end: whether GIL and JIT were
        on when a service was ready or a client was released, and at the end
    """

    cpu_user_ns: Count | None = None
    cpu_system_ns: Count | None = None
    voluntary_switches: Count | None = None
    involuntary_switches: Count | None = None
    run_queue_ns: Count | None = None
    max_rss_bytes: Count | None = None
    pss_bytes: Count | None = None
    processes: Count | None = None
    gil_enabled_ready: bool | UnsetType | None = UNSET
    gil_enabled_end: bool | UnsetType | None = UNSET
    jit_enabled_ready: bool | None = False
    jit_enabled_end: bool | None = False


class NativeProgram(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The name, version and libraries of a native program that runs a service or client."""

    program: Text = ""
    version: Text = ""
    compiler: Text = ""
    java: Text = ""
    packages: dict[Text, Text] = {}


class ChildRuntime(NativeProgram, frozen=True, kw_only=True):
    """The runtime that a process of a service or client reports when it is ready."""

    implementation: Text = ""


class FirstWrong(Struct, frozen=True, kw_only=True):
    """The first wrong answer that a client received, in words."""

    request: Text
    got: Text
    expected: Text


class Turns(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The slices of time in which one runtime or service was measured, while the others in the
    comparison were idle.

    slices: number of slices; 0 if it did not take turns
    length_ns, lead_ns: length of the part of each slice whose requests count, and of the part
        before it, in which clients send requests without counting
    answered: number of answered requests in each slice
    tail_ns: length of the longest requests that matter: longer ones have 1 % of the time of all
        requests at most
    idle_ns: how long the arm was idle between its slices, in total
    idle_cpu_ns: CPU time that its services and clients used while idle
    """

    slices: Count = 0
    length_ns: Count = 0
    lead_ns: Count = 0
    answered: Annotated[list[Count], Meta(max_length=MOST_SLICES)] = []
    tail_ns: Count = 0
    idle_ns: Count = 0
    idle_cpu_ns: Count = 0


class Buckets(TypedDict):
    """The buckets of a histogram, as core.histogram writes them."""

    sub_bits: Count
    total_ns: Count
    counts: dict[str, Count]


class Summary(TypedDict, total=False):
    """A histogram as Histogram.to_json() writes it; an empty object if there is no histogram.

    count: number of values
    min_ns, mean_ns, max_ns: exact
    p50_ns, p90_ns, p99_ns, p999_ns: by nearest rank, within 0.4 %; `p90_ns` needs 10 values,
        `p99_ns` 100 and `p999_ns` 10,000
    histogram: `sub_bits` (7), `total_ns` (sum of all values) and `counts` by
        [bucket](child-contract.md#a-histogram)
    """

    count: Count
    min_ns: Count
    mean_ns: Count
    max_ns: Count
    p50_ns: Count
    p90_ns: Count
    p99_ns: Count
    p999_ns: Count
    histogram: Buckets


class SlowRequests(Struct, frozen=True, kw_only=True):
    """A client's slowest requests, each as [start, latency, service_id].

    above_ns: the list contains every request that took longer than this
    """

    above_ns: Count
    requests: Annotated[list[tuple[Count, Count, Count]], Meta(max_length=MOST_SLOW)]


class Sliced(Struct, frozen=True, kw_only=True):
    """The number of answers in each of successive slices of time.

    start_ns: when the first slice began
    """

    width_ns: Annotated[int, Meta(ge=WIDTH_NS, le=10**12)]
    start_ns: Count
    counts: Annotated[list[Count], Meta(min_length=1, max_length=MOST_SLICES)]


class RouteCounts(Struct, frozen=True, kw_only=True):
    """The counts of the requests of one name, with the meaning that they have for all requests
    together.
    """

    requests: Count
    answered: Count
    errors: dict[Code, Count]
    latency: Histogram


class ClientCounts(ProcessUsage, frozen=True, kw_only=True):
    """What one client counted in one measurement. ClientResult has the meaning of the keys."""

    requests: Count
    answered: Count
    wrong: Count
    errors: dict[Code, Count]
    completion_ns: Positive
    started_ns: Count = 0
    finished_ns: Count = 0
    bench_ns: Count = 0
    calc_ns: Count = 0
    uncounted: Count | None = None
    connections: Count | None = None
    own_ns: Count | None = None
    held_ns: Count | None = None
    beyond_ns: Count | None = None
    reconnects: Count | None = None
    resent: Count | None = None
    starved: Count | None = None
    overdue: Count | None = None
    sent_bytes: Count | None = None
    received_bytes: Count | None = None
    rate: Number | None = None
    offered_rate: Number | None = None
    worker: Text = ""
    workers_ns: list[Count] = []
    timeline: list[list[tuple[Count, Count]]] = []
    said: dict[Text, Amount] | None = None
    first_wrong: FirstWrong | None = None


class ClientResult(ClientCounts, frozen=True, kw_only=True):
    """The result of one client process in one measurement.

    client_id: 0, 1, ...
    host: across hosts: the client's host
    program: of a native client: its name (`program`), `version`, `compiler`, `java` and `packages`
        (versions by name); of another load generator: its version
    started_ns, finished_ns: release and last answer, on the host's monotonic clock
    completion_ns, requests, answered, wrong, errors: as in [the result of a
        client](child-contract.md#the-result-of-a-client)
    calc_ns: as in [a cell](#a-cell)
    bench_ns, workers_ns, worker: for HTTP clients: time of all workers together, and of each
        worker's loop; and their kind, `thread` or `task`
    timeline: for HTTP clients: `[start, end]` of each worker's first 100 answered requests, in ns
        from `started_ns`
    connections, uncounted: in slices: the number of connections, and of answers to requests that
        began before the counted parts
    own_ns, held_ns, beyond_ns: in slices, in a closed loop, summed over the connections: the
        counted time without a request under way, the counted time of requests that began before it,
        and the time after its end that counted requests still took
    reconnects: for native clients and a user's service: answers on another connection than the one
        before
    resent, starved: for a user's service: requests [sent again](own-service.md#connections), and
        connections without any answer before a time-out
    overdue: at a RATE: requests that were due and never sent
    rate, offered_rate: for native clients at a RATE: requested and sent requests/s
    sent_bytes, received_bytes: for native clients
    said: for another load generator: the `seconds` that it printed
    first_wrong: the first unexpected answer: `request`, `got` and `expected`, in words
    """

    client_id: Count
    host: str = ""
    program: NativeProgram | None = None


class ClientLine(ClientCounts, frozen=True, kw_only=True):
    """The last line that a client prints: its result."""

    latency: Histogram
    connect: Histogram = field(default_factory=SparseHistogram)
    waiting: Histogram = field(default_factory=SparseHistogram)
    lag: Histogram = field(default_factory=SparseHistogram)
    slow: SlowRequests | None = None
    slices: Sliced | None = None
    routes: Annotated[list[RouteCounts], Meta(max_length=MAX_ROUTES)] = []


class ServingProcess(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process of a user's service that served clients, as lab.user_service.holders
    observed it from outside.
    """

    connections: Count
    threads: Count
    cpu_ns: list[Count] = []


class PauseCounts(Struct, frozen=True, kw_only=True):
    """Garbage collections while clients were timed."""

    processes: Count
    longest_ns: Count
    unkept: Count
    collections: list[Count]
    total_ns: list[Count]


class ServiceLine(ProcessUsage, frozen=True, kw_only=True):
    """The last line that a service prints: its result.

    requests: requests answered after the warm-up
    counted: false for a user's service, whose requests only the clients count
    raised, pythons: for a user's service: the last exception in its output, and the Python versions
        of its processes
    workers: for a user's service, by process with connections to clients: most `connections` at one
        time, `threads` ([or event loops](own-service.md#what-ran)) and `cpu_ns` of its busy threads
    requests_by_worker, requests_by_socket: requests that each worker (systems 1, 2 and 4) and each
        listening socket (2 and 4) received
    connections_by_requests: for systems 2 and 4: number of connections by number of requests
    strangers: for systems 2 and 4 across hosts: closed connections from other hosts than the
        clients'
    echoed_bytes: for echo servers
    """

    requests: Count
    counted: bool = True
    raised: Text = ""
    pythons: list[Text] = []
    workers: list[ServingProcess] = []
    requests_by_worker: list[Count] = []
    requests_by_socket: list[Count] = []
    connections_by_requests: dict[Text, Count] = {}
    strangers: Count | None = None
    echoed_bytes: Count | None = None


class ServiceResult(ServiceLine, frozen=True, kw_only=True):
    """The result of one service process in one measurement.

    service_id, host, program: as for a client
    pauses: garbage collections of its Python processes while requests count: `processes`,
        `collections` and `total_ns` by generation (the free-threaded build has one), `longest_ns`,
        and `unkept` (collections without a time)
    notices: at most 20 lines of its output about races between threads, or that the GIL was
        switched on
    """

    service_id: Count
    host: str = ""
    program: NativeProgram | None = None
    pauses: PauseCounts | None = None
    notices: list[str] = []


Address = Annotated[
    str, Meta(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^(/[^\0]+|[^\0/]+:[0-9]{1,5})$")
]
Addresses = Annotated[list[Address], Meta(min_length=1)]
