"""Declare type, bounds and meaning of each key in result.json, and in the result that a child process prints.

core.result declares the run and its cells, and core.saved the plan and the machine. The tables of docs/result.md are
made from the lines `key: meaning` of these docstrings. Measured processes must not import this module, because it
needs msgspec.
"""

from typing import Annotated, Literal, Required, TypedDict

from msgspec import Meta

from core.messages import Json, Message
from core.slices import WIDTH_NS

LARGEST = 2**63 - 1
MOST_CHARACTERS = 4096
MOST_SLOW = 4096
MOST_SLICES = 4096

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
Verdict = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]


# ---- what a child prints -------------------------------------------------------------------------------------------


class Usage(TypedDict, total=False):
    """The resources that a process used, and the state of its GIL and JIT; null if not known.

    cpu_user_ns, cpu_system_ns: CPU time of the process. A client counts from its release to its last answer. A service
        counts from the end of the warm-up (from its ready line if there is no warm-up) to its end
    voluntary_switches, involuntary_switches: context switches in the same time
    run_queue_ns: how long threads were ready to run without a core in the same time, summed over all threads (of a
        client: its requesting threads); 0 if the system does not report it
        ([decision 014](decisions/014-run-queue.md))
    max_rss_bytes: peak memory of the process, including start and warm-up
    pss_bytes: proportional set size: a page that n processes share counts as 1/n. Read at a client's last answer, and
        at a service's end while all clients are connected; 0 if the system does not report it
    processes: number of processes of a user's service
    gil_enabled_ready, gil_enabled_end, jit_enabled_ready, jit_enabled_end: whether the GIL, or the JIT, was on when the
        process was ready (for a client: at its release), and at its end; null for the state of a user's service that
        could not be read
    """

    cpu_user_ns: Count
    cpu_system_ns: Count
    voluntary_switches: Count
    involuntary_switches: Count
    run_queue_ns: Count
    max_rss_bytes: Count
    pss_bytes: Count
    processes: Count
    gil_enabled_ready: bool | None
    gil_enabled_end: bool | None
    jit_enabled_ready: bool | None
    jit_enabled_end: bool | None


class Program(TypedDict, total=False):
    """The name, version and libraries of a native program that runs a service or client."""

    program: Text
    version: Text
    compiler: Text
    java: Text
    packages: dict[Text, Text]


class Runtime(Program, total=False):
    """The runtime that a process of a service or client reports when it is ready."""

    implementation: Text


class PrintedFigures(TypedDict, total=False):
    """Figures that another load generator, such as wrk, printed."""

    seconds: Amount
    percentiles_ms: dict[Text, Amount]


class FirstWrong(TypedDict):
    """The first wrong answer that a client received, in words."""

    request: Text
    got: Text
    expected: Text


class Turns(TypedDict, total=False):
    """The slices of time in which one runtime or service was measured, while the others in the comparison were idle.

    slices: number of slices
    length_ns, lead_ns: length of the part of each slice whose requests count, and of the part before it, in which
        clients send requests without counting
    answered: number of answered requests in each slice
    tail_ns: length of the longest requests that matter: longer ones have 1 % of the time of all requests at most
    idle_ns: how long the arm was idle between its slices, in total
    idle_cpu_ns: CPU time that its services and clients used while idle
    """

    slices: Count
    length_ns: Count
    lead_ns: Count
    answered: Annotated[list[Count], Meta(max_length=MOST_SLICES)]
    tail_ns: Count
    idle_ns: Count
    idle_cpu_ns: Count


class Client(Usage, total=False):
    """The result of one client process in one measurement.

    client_id: 0, 1, ...
    host: name of the host on which the client ran; only in a run across hosts
    program: for a native client: its `program` (name), `version`, `compiler`, `java` (for a Java program), and
        `packages` (versions of its libraries by name); for another load generator: the version that its command reports
    completion_ns: time from the client's release to its last answer
    started_ns, finished_ns: the client's release and its last answer, on the host's monotonic clock; only differences
        are meaningful
    requests, answered, wrong, errors, calc_ns: as in [a cell](#a-cell), for this client alone
    bench_ns, workers_ns: for HTTP clients: time from before the first worker starts to the end of the last worker, and
        the time of each worker's loop
    worker: for HTTP clients: whether a worker is a `thread` or a `task`
    timeline: for HTTP clients: for each worker `[start, end]` of its first 100 answered requests, in ns from
        `started_ns`
    uncounted: for a cell in slices: answers to requests that began before the counted parts of the slices
    connections: for a cell in slices: how many requests the client had under way
    own_ns: for a cell in slices, in a closed loop: how much of the counted time its connections had no request under
        way, added up
    held_ns: likewise, how much of the counted time requests were under way that had begun before it
    beyond_ns: likewise, how long counted requests lasted after the end of the counted time
    reconnects: for native clients, and for the clients of a user's service: how often an answer came on another
        connection than the answer before it. `answered / reconnects` is the number of requests per connection; 0 if
        all connections were kept
    resent: for the clients of a user's service: requests that were sent once more on a new connection, because the
        service closed a kept connection before any byte of the answer. Their latency contains both attempts
    starved: for the clients of a user's service: connections that got no answer at all before a time-out; left out if
        there were none
    overdue: with a RATE: requests that were due in the timed window and were never sent
    rate, offered_rate: for native clients with a RATE: the requested rate and the rate that was sent, in requests/s
    sent_bytes, received_bytes: for native clients: bytes of requests and of answers
    said: for a client that runs another load generator: the `seconds` and `percentiles_ms` that the generator printed
    first_wrong: the first answer that was not as expected: `request`, `got` and `expected`, in words. Clients in
        Python, and all clients of a user's service, write it
    """

    client_id: Count
    host: str
    program: Program
    requests: Count
    answered: Count
    wrong: Count
    errors: dict[Code, Count]
    started_ns: Count
    finished_ns: Count
    completion_ns: Required[Positive]
    bench_ns: Count
    calc_ns: Count
    uncounted: Count
    connections: Count
    own_ns: Count
    held_ns: Count
    beyond_ns: Count
    reconnects: Count
    resent: Count
    starved: Count
    overdue: Count
    sent_bytes: Count
    received_bytes: Count
    rate: Number
    offered_rate: Number
    worker: Text
    workers_ns: list[Count]
    timeline: list[list[tuple[Count, Count]]]
    said: PrintedFigures
    first_wrong: FirstWrong


class Buckets(TypedDict):
    """The buckets of a histogram, as core.histogram writes them."""

    sub_bits: Count
    total_ns: Count
    counts: dict[str, Count]


class Summary(TypedDict, total=False):
    """A histogram as Histogram.to_json() writes it; an empty object if there is no histogram.

    count: number of values
    min_ns, mean_ns, max_ns: exact minimum, mean and maximum
    p50_ns, p90_ns, p99_ns, p999_ns: percentiles by nearest rank, within 0.4 % of the exact value
    histogram: `sub_bits` (7), `total_ns` (sum of all values) and `counts` (number of values in each bucket)
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


class SlowRequests(TypedDict):
    """A client's slowest requests, each as [start, latency, service_id].

    above_ns: the list contains every request that took longer than this
    """

    above_ns: Count
    requests: Annotated[list[tuple[Count, Count, Count]], Meta(max_length=MOST_SLOW)]


class Sliced(TypedDict):
    """The number of answers in each of successive slices of time.

    start_ns: when the first slice began
    """

    width_ns: Annotated[int, Meta(ge=WIDTH_NS, le=10**12)]
    start_ns: Count
    counts: Annotated[list[Count], Meta(min_length=1, max_length=MOST_SLICES)]


class ClientLine(Client, total=False):
    """The last line that a client prints: its result."""

    latency: Summary
    connect: Summary
    waiting: Summary
    lag: Summary
    slow: SlowRequests
    slices: Sliced


class ServingProcess(TypedDict, total=False):
    """A process of a user's service that served clients, as lab.user_service.workers observed it from outside."""

    connections: Required[Count]
    threads: Required[Count]
    loops: list[Count]
    cpu_ns: list[Count]


class Pauses(TypedDict, total=False):
    """Garbage collections while clients were timed."""

    processes: Count
    reported_ns: Count
    longest_ns: Count
    unkept: Count
    collections: list[Count]
    total_ns: list[Count]


class ServiceLine(Usage, total=False):
    """The last line that a service prints: its result.

    requests: requests that the service answered after the warm-up
    counted: false for a user's service, whose requests only the clients count
    raised: for a user's service: the last exception in its output, with file and line
    pythons: for a user's service: the Python versions that its processes ran, such as `3.14.7`, or `3.14.7t` for the
        free-threaded build
    workers: for a user's service: for each process that had a connection to a client in the timed window:
        `connections` (the most at one time), `loops` (how many of them each event loop watched), `threads` (number of
        serving threads) and `cpu_ns` (CPU time of its busy threads; [how it is counted](own-service.md#what-ran))
    requests_by_worker, requests_by_socket: requests that each worker (systems 1, 2 and 4) and each listening socket
        (systems 2 and 4) received
    connections_by_requests: for systems 2 and 4: number of connections by number of requests
    strangers: for systems 2 and 4 across hosts: connections from other hosts than the cell's client hosts; the service
        closed them
    echoed_bytes: for echo servers: bytes that they sent back
    """

    requests: Count
    counted: bool
    raised: Text
    pythons: list[Text]
    workers: list[ServingProcess]
    requests_by_worker: list[Count]
    requests_by_socket: list[Count]
    connections_by_requests: dict[Text, Count]
    strangers: Count
    echoed_bytes: Count


class Service(ServiceLine, total=False):
    """The result of one service process in one measurement.

    service_id: 0, 1, ...
    host: name of the host on which the service ran; only in a run across hosts
    program: as for a client
    pauses: garbage collections of its Python processes in the time in which requests count: `processes`, `collections`
        that began in it and their `total_ns` in it by generation (the free-threaded build has one), `longest_ns`,
        `reported_ns` (the duration that Python 3.15 and later report), `unkept` (collections whose times were
        overwritten by newer ones); missing if not known
    notices: at most 20 lines of its output that report a race between threads ("dictionary changed size during
        iteration") or that the GIL was switched on
    """

    service_id: Count
    host: str
    program: Program
    pauses: Pauses
    notices: list[str]


Address = Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^(/[^\0]+|[^\0/]+:[0-9]{1,5})$")]
Addresses = Annotated[list[Address], Meta(min_length=1)]


# ---- a cell --------------------------------------------------------------------------------------------------------


class Cause(TypedDict):
    """The share of one cause, such as garbage collection, in the time of slow requests and in the whole measured time.

    share: of the slow requests' time
    window: of the whole window
    """

    share: Number
    window: Number


class Slow(TypedDict, total=False):
    """Requests slower than a percentile, and how many of them overlap a garbage collection of their service.

    threshold_ns: the percentile; the requests counted here took longer
    requests: number of these requests
    overlapping: requests during which their service ran a garbage collection
    by_chance: how many would overlap if they came at other times of the window, each as long as its time outside of
        collections; mean of 32 shifts
    mostly: requests that spent at least half of their time in collections
    causes: for `collection`, `service` and `client` (a runnable thread had no core) and `steal` (the hypervisor took
        the cores), as far as known: `share` of the time of these requests, and `window`, the share of all time at the
        same services or clients; 0 to 1
    """

    threshold_ns: Required[Count]
    requests: Required[Count]
    overlapping: Count
    mostly: Count
    by_chance: Number
    causes: dict[str, Cause]


class Slices(TypedDict, total=False):
    """The number of answers in each slice of time.

    start_ns: its start, after the clients' start
    """

    width_ns: Positive
    start_ns: Time
    counts: list[Count]


class Others(TypedDict):
    """CPU time of other processes while clients were timed.

    busiest, neighbours: share of each process by name
    """

    cores: Count
    window_ns: Count
    share: Number
    busiest: Numbers
    neighbours: Numbers


class Window(TypedDict, total=False):
    """The state of a machine while clients were timed; null for a value that the machine does not report.

    window_ns: length of the window
    steal, iowait, idle: shares of the time of all cores
    others: CPU time of other processes, as in [a cell](#a-cell), where it is a separate key
    swapped_pages: pages swapped in or out
    throttles: how often a core was slowed because of its temperature
    quota_stalled_ns: how long CPU quotas of control groups throttled threads
    cpu_pressure, memory_pressure: share of the window in which some process waited for a core, or for memory
    """

    others: Others | None
    window_ns: Known
    steal: Known
    iowait: Known
    idle: Known
    swapped_pages: Known
    throttles: Known
    quota_stalled_ns: Known
    cpu_pressure: Known
    memory_pressure: Known


class CellHost(TypedDict, total=False):
    """A host that took part in a measurement: its clock's offset, the start time of its clients, and disturbances."""

    offset_ns: Time
    error_ns: Count
    released_ns: Count
    late_ns: Count
    disturbances: list[Json]


# ---- a run ---------------------------------------------------------------------------------------------------------


class Hidden(TypedDict):
    """The text that a file stores in place of a secret (core.secret)."""

    hidden: str
    name: str


class Request(TypedDict, total=False):
    """The method and path of a request to a user's service, as reports use them."""

    method: str
    path: str | Hidden


class Requests(TypedDict):
    """The requests that clients send to a user's service."""

    requests: list[Request]
    think_time_s: Number
    rate: Count


class Target(TypedDict):
    """A user's service that was already running before the measurement."""

    name: str
    url: str | Hidden


class OwnService(TypedDict, total=False):
    """A user's service as reports use it: its name, requests, protocol, and command or addresses."""

    name: Required[str]
    requests: Required[Requests]
    protocol: str
    command: str | Hidden
    targets: list[Target]


class Flags(TypedDict, total=False):
    """Build options of an interpreter; null if not known."""

    pgo: bool | None
    lto: bool | None
    shared: bool | None
    debug: bool | None
    tail_call: bool | None
    jit: bool | None
    configure: str


class RuntimeFacts(TypedDict, total=False):
    """An interpreter that a run used.

    executable: path of the interpreter
    source: how it was found: `uv`, `PATH`, `pyenv`, or `given` by `--interpreter`
    implementation, version, build, compiler: as the interpreter reports them
    gil_disabled_build: whether it is the free-threaded build
    gil_enabled, jit_enabled: whether the runtime's name promises that the GIL, or the JIT, is on
    flags: build options: `pgo`, `lto`, `shared`, `debug`, `tail_call`, `jit`, and the `configure` options
    packages: names and versions of the installed packages, by requirements file
    """

    executable: str
    source: str
    implementation: str
    version: str
    build: str
    compiler: str
    gil_disabled_build: bool
    gil_enabled: bool
    jit_enabled: bool
    flags: Flags
    packages: dict[str, dict[str, str]]


class Link(TypedDict):
    """The network link from a host to the services' host: round-trip times, and bytes/s in one direction."""

    least_ns: Count
    median_ns: Count
    bytes_per_s: Count


class Line(TypedDict, total=False):
    """A line of a service's code, with the number of samples in each thread state."""

    function: Required[str]
    file: Required[str]
    line: Required[Count]
    states: Required[Numbers]
    is_library: bool
    caller: str
    waits: dict[str, list[Count]]


class Frame(TypedDict):
    """A frame of a stack."""

    file: str
    line: Count
    function: str


class LockLine(TypedDict, total=False):
    """A contended lock, or a cause of stop-the-world pauses, with the stack at which it was seen."""

    owner: Required[str]
    lock: Required[Message]
    share: Required[Number]
    samples: Required[Count]
    stack: list[Frame]


class Tree(TypedDict, total=False):
    """Sampled stacks as a tree, as in a flame graph."""

    name: Required[str]
    value: Required[Count]
    children: "list[Tree]"


class HotFunction(TypedDict):
    """A function or lock, with its share of a service's CPU time and context switches.

    symbol, dso: name of the function, and the program, library or `[kernel]` that contains it
    share: share of the service's CPU time, 0 to 1. Kernel time on behalf of a function counts for the function
    switch_share: share of the service's context switches, 0 to 1; `null` if they were not counted
    lock: the lock that the function takes or releases: `gil`, `stop_the_world`, `critical_section`, `threading_lock`,
        `mutex`, `kernel_lock` or `lock`; empty for none. The shares of a lock include everything done to take or
        release it
    """

    symbol: str
    dso: str
    share: Number
    switch_share: Known
    lock: str


class PerfProfile(TypedDict, total=False):
    """A profile of the first service by perf.

    hot: the 20 functions and locks with the most CPU time
    samples: number of CPU samples
    kernel_counted: whether perf could see the kernel; if not, no share includes kernel time
    lost_share: share of the samples that perf lost, 0 to 1
    """

    hot: list[HotFunction]
    samples: Count
    kernel_counted: bool
    lost_share: Number


class PythonProfile(TypedDict, total=False):
    """Sampled stacks and states of the threads of all Python processes of all services.

    rate_hz, processes: samples per second of each process, and the number of processes
    samples: number of thread samples outside of idle time; all shares are relative to these
    idle_share: share of all samples in which a thread was idle, waiting for work, 0 to 1
    missed_share: share of the due samples that were not taken or could not be read, 0 to 1
    sampler_cores: CPU time that the samplers used, in cores
    states: share of each state: `run`, `ready` (runnable without a core), `gil`, `lock` and `io` (waiting for these)
    batches: samples outside of idle time in each of up to 40 successive periods of equal length
    lines: the 30 lines with the most waiting for locks, the most waiting for the GIL, and the most time in total
    tree: the stacks as in a flame graph: `name`, `value`, `children`; parts under 0.3 % are left out
    """

    rate_hz: Count
    processes: Count
    samples: Count
    idle_share: Number
    missed_share: Number
    sampler_cores: Number
    states: Numbers
    batches: list[Count]
    lines: list[Line]
    tree: Tree


class LocksProfile(TypedDict, total=False):
    """The contended locks and stop-the-world pauses of the first service.

    watched_ns: how long the service was observed; at most a minute
    requests, in_flight_ns: requests that were answered in this time, and the sum of their latencies
    waiting_ns: how long threads waited for contended locks, summed over all threads, estimated from samples
    contended: the 20 lines with the most waiting
    stops: number of stop-the-world pauses, on a free-threaded build
    stopping_ns: time that the threads that requested pauses spent on them, in total, including waiting for one another
    stood_ns: how long all threads of a process were paused, for the process with the longest time
    stopping: the 20 lines that spent the most time on pauses
    cpu_samples: number of CPU samples
    count_share: share of these samples in functions that count references shared by threads, 0 to 1; a lower bound
    waiting_cpu_share: share of these samples in threads that waited for a lock, because they spin before they sleep
    lost: number of calls that were missed
    """

    watched_ns: Count
    requests: Count
    in_flight_ns: Count
    waiting_ns: Count
    contended: list[LockLine]
    stops: Count
    stopping_ns: Count
    stood_ns: Count
    stopping: list[LockLine]
    cpu_samples: Count
    count_share: Number
    waiting_cpu_share: Number
    lost: Count


class Profile(PerfProfile, PythonProfile, LocksProfile, total=False):
    """A profile of a service by perf, Python stack samples or locks. The keys depend on this kind.

    kind: `perf`, `python` or `locks`; missing in older files, which have only perf's
    cell_id, system, runtime, params: as in the cell
    sentence: a message with the result of the profile. If the service was not profiled, the message gives the reason,
        and the keys of the kind are missing
    """

    kind: str
    cell_id: str
    system: Required[str]
    runtime: Required[str]
    params: Parameters
    sentence: Required[Message]


class InterpreterDigest(TypedDict, total=False):
    """The interpreter under which services or clients ran, with a digest of its file."""

    executable: str
    version: str
    build: str
    digest: str


class Environment(TypedDict, total=False):
    """The interpreter, packages and programs with which services or clients were measured."""

    interpreter: InterpreterDigest
    packages: dict[str, str]
    installed: str
    programs: dict[str, str]


class Fingerprints(TypedDict, total=False):
    """The code and environments that measurements used, by the ids that the measurements contain."""

    code: dict[str, dict[str, str]]
    environments: dict[str, dict[str, Environment]]


# ---- a comparison --------------------------------------------------------------------------------------------------


class Ratio(TypedDict, total=False):
    """A ratio and its 95 % interval; null for a value that could not be computed.

    ratio: throughput (`answered` / `wall_ns`) of the numerator over the throughput of the denominator; above 1 the
        numerator is faster
    low, high: 95 % interval of the ratio; with 3 to 5 blocks the least and greatest ratio of a block; with fewer `null`
    """

    ratio: Known
    low: Known
    high: Known


class Factors(TypedDict, total=False):
    """The two factors of a throughput ratio: cores in use, and CPU time per request."""

    cores_used: Ratio
    cpu_per_request: Ratio


class AllFactors(Factors, total=False):
    """The factors of a throughput ratio: for services and clients together, for services alone, for clients alone."""

    service: Factors
    client: Factors


class Serves(TypedDict, total=False):
    """The throughput that the services under one runtime could reach if clients used no CPU time."""

    cores: Count
    requests_per_s: Known
    low: Known
    high: Known


class Capacity(Ratio, total=False):
    """The throughput that the services under two runtimes could reach if clients used no CPU time, and the ratio."""

    measured: bool
    denominator: Serves
    numerator: Serves


class Tail(Ratio, total=False):
    """The ratio of a latency percentile between two runtimes or services."""

    p: Known
    verdict: Verdict


class Setting(TypedDict):
    """A setting that a comparison covers: a system and its parameters."""

    system: str
    params: Parameters


class Comparison(Ratio, total=False):
    """A comparison of two runtimes or services, as reports.facts.comparisons computes it.

    system, params: the setting that was compared; `all` without parameters for the geometric mean over all settings;
        `best` with the work for a step between best services
    numerator, denominator: the two arms: runtimes, or services that already run. For such services `system` is the
        `name` of all of them together
    step: the difference between the arms: `version`, `patch`, `build`, `lock`, `jit`, `whole` (from the first arm to
        the last), `aa` (none), `other` (several, or unknown: between services), `best` (from the best service of one
        runtime to the best of another)
    p: p-value of a sign-flip test, or of bets that may be evaluated at any time, adjusted over all comparisons of the
        run except A/A ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid`, `unjudged`
    why: one sentence: the reason for the verdict, the blocks still needed, or the gate that failed
    blocks: number of blocks that have both arms; for `best` the odd blocks, because the even blocks select the services
    noise_floor: how far from 1 the A/A interval of the same setting reaches, as a share; `null` without a valid A/A of
        6 blocks
    confounds: differences between the two builds, and between hosts, besides the cause that the step names: a list of
        texts
    notes: limits of the figures, such as saturated clients: a list of texts
    between_services: whether the arms are services that already ran, not runtimes
    obstacle: the part of `why` that prevents a verdict; empty if there is a verdict
    blocks_needed: estimated number of blocks in total that a verdict needs; `null` if there is a verdict, or if more
        than 1000 blocks are needed
    saturation: share of the cores available to the clients that they used, median over the cells; `null` if not known
    cores_in_use: share of all cores that services and clients of the numerator used together, median over the cells;
        `null` if not known
    disturbed: share of the cells in which the machine was disturbed; `null` over all settings
    others: share of the cores' time that other processes used while clients were timed; `null` if not known
    is_beside_others: whether `others` was more than 5 % in more than a third of the blocks; `why` and its sentence then
        mention it
    settings: for a comparison over all settings: the settings that passed their gates, or all if none did; for `best`:
        the denominator's setting, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 means more cores, and less CPU time
        per request. Their product is `ratio`; the same holds for the factors under `service` and under `client`. Empty
        if a cell does not report its CPU time
    capacity: the throughput that the services could reach if clients used no CPU time: `{requests_per_s, low, high,
        cores}` under `denominator` and `numerator`, and `ratio` with `low` and `high`. `measured` is true if native
        clients on separate cores called the services and were not the bottleneck. If not, the capacity is estimated
        ([evidence.md](evidence.md#the-factors-of-each-ratio)). Empty over several settings, or if CPU time is not known
    tails: `p50`, `p99` (from 1,000 requests per cell) and `p999` (10,000): `{ratio, low, high, p, verdict}`; above 1
        means less latency. p is adjusted over the tails alone, and over those of `aa` apart
    far_slower: for `denominator` and `numerator`: number of cells with more than 1.25x the time per request of the
        arm's median cell
    dependence: p-value for the hypothesis that successive blocks are independent; null with fewer than 8 blocks
    noise: standard deviations of a block's log-ratio: `between` processes, and `within` cells of `seconds` each; their
        squares add up. Empty with fewer than 6 blocks, without `slices`, and over several settings
    """

    system: str
    params: Parameters
    numerator: str
    denominator: str
    step: Literal["version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best"]
    p: Known
    verdict: Verdict
    why: Message
    blocks: Count
    noise_floor: Known
    confounds: list[Message]
    notes: list[Message]
    obstacle: Message
    blocks_needed: Count | None
    saturation: Known
    cores_in_use: Known
    disturbed: Known
    others: Known
    is_beside_others: bool
    settings: list[Setting]
    between_services: bool
    factors: AllFactors
    capacity: Capacity
    tails: dict[str, Tail]
    far_slower: dict[str, Count]
    dependence: Known
    noise: Numbers
