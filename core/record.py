"""The keys of result.json and of a child's last line, each with its type, its bounds and its meaning.

Measured processes must not import this module, because it needs msgspec. The run and a cell are in core.result, its
plan in core.saved. The tables of docs/result.md are made from the lines `key: meaning` of these docstrings.
"""

from typing import Annotated, Literal, Required, TypedDict

from msgspec import Meta

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
Known = Number | None  # null if it is not known
Amount = Annotated[float, Meta(ge=0, le=1e100)]
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Code = Annotated[str, Meta(max_length=60, pattern="^[ -~]*$")]
Parameters = dict[str, bool | int | str | None]
Numbers = dict[str, Number]
Verdict = Literal["faster", "slower", "equivalent", "inconclusive", "invalid", "unjudged"]


class Sentence(TypedDict, total=False):
    """A message: msgid, its arguments, and its English text."""

    msgid: str
    plural: str
    code: str
    text: str
    args: dict[str, "str | int | float | bool | Sentence | None"]


# ---- what a child says ---------------------------------------------------------------------------------------------


class Usage(TypedDict, total=False):
    """What a process used, and how its GIL and its JIT were when it was ready and at its end; null if not known.

    cpu_user_ns, cpu_system_ns: CPU time of the process: of a client from its release to its last answer, of a service
        from the end of the warm-up, or from ready without one, to its own end
    voluntary_switches, involuntary_switches: context switches in that time
    run_queue_ns: how long its threads were ready to run without a core in that time, all together; of a client those
        that ask; 0 where the system does not say ([decision 014](decisions/014-run-queue.md))
    max_rss_bytes: peak memory of the process, with its start and the warm-up
    pss_bytes: proportional set size at its last answer, of a service at its end with all clients still connected: pages
        that processes share count by their share; 0 where the system does not say
    processes: how many processes a service of one's own had
    gil_enabled_ready, gil_enabled_end, jit_enabled_ready, jit_enabled_end: whether its GIL, and its JIT, was on when it
        was ready, of a client at its release, and at its end
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
    """Name, version and libraries of a native child."""

    program: Text
    version: Text
    compiler: Text
    java: Text
    packages: dict[Text, Text]


class Runtime(Program, total=False):
    """What a child says that it runs under."""

    implementation: Text


class Said(TypedDict, total=False):
    """What another load generator printed."""

    seconds: Amount
    percentiles_ms: dict[Text, Amount]


class FirstWrong(TypedDict):
    """The first wrong answer, in words."""

    request: Text
    got: Text
    expected: Text


class Turns(TypedDict, total=False):
    """How an arm took turns with the others in slices of time.

    slices: how many it had
    length_ns, lead_ns: of each slice, the time whose answers count, and the time before it in which clients sent, too
    idle_ns: how long the arm was idle between its slices, all together
    idle_cpu_ns: CPU time that its services and clients used meanwhile
    """

    slices: Count
    length_ns: Count
    lead_ns: Count
    idle_ns: Count
    idle_cpu_ns: Count


class Client(Usage, total=False):
    """What a cell keeps of a client.

    client_id: 0, 1, ...
    host: across hosts, the one that it ran on
    program: of a native client its `program` (name), `version`, `compiler`, `java` if one runs it, and `packages`
        (versions of what it was built with, by name); of another load generator the version that its own command says
    completion_ns: from its release to its last answer
    started_ns, finished_ns: its release and its last answer on the host's monotonic clock; only differences mean
        something
    requests, answered, wrong, errors, calc_ns: as of the cell, for this client
    bench_ns, workers_ns: of HTTP clients: from before the first worker is started to the end of the last, and the time
        of each worker's loop
    worker: of HTTP clients: `thread` or `task`, what a worker is
    timeline: of HTTP clients: for each worker `[start, end]` of its first 100 answered requests, ns from `started_ns`
    uncounted: of a cell in slices: answers that came before the part of a slice that counts
    overdue: at a RATE: requests that were due in the timed window and never sent
    rate, offered_rate: of native clients at a RATE: what was asked for, and what was sent, in requests/s
    sent_bytes, received_bytes: of native clients: bytes of requests and of answers
    said: of a client that stands for another load generator: its `seconds` and `percentiles_ms`, as it printed them
    first_wrong: of the clients of a service of one's own, the first answer that was not as expected: `request`, `got`
        and `expected`, in words
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
    overdue: Count
    sent_bytes: Count
    received_bytes: Count
    rate: Number
    offered_rate: Number
    worker: Text
    workers_ns: list[Count]
    timeline: list[list[tuple[Count, Count]]]
    said: Said
    first_wrong: FirstWrong


class Buckets(TypedDict):
    """The buckets of a histogram (core.histogram)."""

    sub_bits: Count
    total_ns: Count
    counts: dict[str, Count]


class Summary(TypedDict, total=False):
    """A histogram as Histogram.to_json() writes it; empty if there is none.

    count: how many values it holds
    min_ns, mean_ns, max_ns: exact
    p50_ns, p90_ns, p99_ns, p999_ns: percentiles by nearest rank, at most 0.4 % from the exact value
    histogram: `sub_bits` (7), `total_ns` (the sum) and `counts` (how many values in each bucket)
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


class SlowOnes(TypedDict):
    """Of a client's slowest requests [start, latency, service_id]; above_ns: all that took longer are among them."""

    above_ns: Count
    requests: Annotated[list[tuple[Count, Count, Count]], Meta(max_length=MOST_SLOW)]


class Sliced(TypedDict):
    """How many answers came in each of successive slices of time, the first of which began at start_ns."""

    width_ns: Annotated[int, Meta(ge=WIDTH_NS, le=10**12)]
    start_ns: Count
    counts: Annotated[list[Count], Meta(min_length=1, max_length=MOST_SLICES)]


class ClientLine(Client, total=False):
    """The result of a client, as it sends it."""

    latency: Summary
    connect: Summary
    waiting: Summary
    lag: Summary
    slow: SlowOnes
    slices: Sliced


class Served(TypedDict, total=False):
    """A process that served clients, as it was counted from outside (lab.user_service.workers)."""

    connections: Required[Count]
    threads: Required[Count]
    loops: list[Count]
    cpu_ns: list[Count]


class Pauses(TypedDict, total=False):
    """Collections of garbage while clients were timed."""

    processes: Count
    reported_ns: Count
    longest_ns: Count
    unkept: Count
    collections: list[Count]
    total_ns: list[Count]


class ServiceLine(Usage, total=False):
    """The result of a service, as it sends it.

    requests: requests that it answered, warm-up left out
    counted: of a service of one's own: false, since the clients count
    gil_known: false where the state of the GIL is the runtime's promise only
    pythons: the Pythons that the processes of a service of one's own were seen to run: `3.14.7`, or `3.14.7t` of the
        free-threaded build
    workers: of a service of one's own: for each process that held a connection from a client in the timed window
        `connections` (at most at once), `loops` (of these, how many each of its event loops watched), `threads` (how
        many served) and `cpu_ns` (CPU time of its busy threads; [how that is counted](own-service.md#what-ran))
    requests_by_worker, requests_by_socket: how many requests each worker, and each socket, had: of systems 1, 2 and 4,
        and of 2 and 4
    connections_by_requests: of systems 2 and 4: how many connections had how many requests
    strangers: of systems 2 and 4 across hosts: connections from elsewhere than the cell's client hosts, which were
        closed
    echoed_bytes: of echo servers: bytes that they sent back
    """

    requests: Count
    counted: bool
    gil_known: bool
    pythons: list[Text]
    workers: list[Served]
    requests_by_worker: list[Count]
    requests_by_socket: list[Count]
    connections_by_requests: dict[Text, Count]
    strangers: Count
    echoed_bytes: Count


class Service(ServiceLine, total=False):
    """What a cell keeps of a service.

    service_id: 0, 1, ...
    host: across hosts, the one that it ran on
    program: as of a client
    pauses: garbage collections of its Python processes in the timed window: `processes`, `collections` and `total_ns`
        by generation (the free-threaded build has one), `longest_ns`, `reported_ns` (how long 3.15 and later say they
        took), `unkept` (whose times were overwritten by newer ones); missing where they are not known
    notices: 20 lines at most, where what it wrote says that threads got in each other's way ("dictionary changed size
        during iteration") or that the GIL was switched on
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
    """What slow requests overlap."""

    share: Number
    window: Number


class Slow(TypedDict, total=False):
    """Requests slower than a percentile, and how many of them overlap a collection of their service.

    threshold_ns: the percentile; the requests counted here took longer
    requests: how many did
    overlapping: those during which their service collected
    by_chance: how many would be, had they come at other times of the window, each as long as its time outside of
        collections was; mean of 32 shifts
    mostly: those that spent at least half of their time under collections
    causes: by `collection`, `service`, `client` (threads that could run had no core) and `steal` (the host had taken
        the cores), as far as they are known: `share`, of the time of these requests, and `window`, of all time at the
        same services or clients; 0 to 1
    """

    threshold_ns: Required[Count]
    requests: Required[Count]
    overlapping: Count
    mostly: Count
    by_chance: Number
    causes: dict[str, Cause]


class Slices(TypedDict, total=False):
    """How many answers came in each slice of time. start_ns: begin of the first, from the release of the clients."""

    width_ns: Positive
    start_ns: Time
    counts: list[Count]


class Others(TypedDict):
    """What other processes used while clients were timed. busiest, neighbours: shares by name."""

    cores: Count
    window_ns: Count
    share: Number
    busiest: Numbers
    neighbours: Numbers


class Window(TypedDict, total=False):
    """What a machine did while clients were timed; null for what it does not say.

    window_ns: how long it was
    steal, iowait, idle: shares of all cores' time
    others: what other processes used, as in [a cell](#a-cell); in a cell it is a key of its own
    swapped_pages: pages that went to swap or came from it
    throttles: how often heat slowed a core
    quota_stalled_ns: how long the quotas of the control groups held threads back
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
    """A host that took part in a cell: its clock against ours, its release, what disturbed it."""

    offset_ns: Time
    error_ns: Count
    released_ns: Count
    late_ns: Count
    disturbances: list[Sentence]


# ---- a run ---------------------------------------------------------------------------------------------------------


class Hidden(TypedDict):
    """What stands for a secret in a file (core.secret)."""

    hidden: str
    name: str


class Request(TypedDict, total=False):
    """A request to a service of the user's own, as far as reports use it."""

    method: str
    path: str | Hidden


class Requests(TypedDict):
    """What clients ask a service of the user's own."""

    requests: list[Request]
    think_time_s: Number
    rate: Count


class Target(TypedDict):
    """A service that already runs."""

    name: str
    url: str | Hidden


class OwnService(TypedDict, total=False):
    """A service of the user's own, as far as reports use it."""

    name: Required[str]
    requests: Required[Requests]
    protocol: str
    command: str | Hidden
    targets: list[Target]


class Flags(TypedDict, total=False):
    """How an interpreter was built; null if it does not say."""

    pgo: bool | None
    lto: bool | None
    shared: bool | None
    debug: bool | None
    tail_call: bool | None
    jit: bool | None
    configure: str


class RuntimeFacts(TypedDict, total=False):
    """An interpreter that a run had.

    executable: path of the interpreter
    source: how it was found: `uv`, `PATH`, `pyenv`, or `given` by `--interpreter`
    implementation, version, build, compiler: what it says it is
    gil_disabled_build: whether it is the free-threaded build
    gil_enabled, jit_enabled: whether the runtime's name promises a GIL, and a JIT
    flags: how it was built: `pgo`, `lto`, `shared`, `debug`, `tail_call`, `jit`, and the `configure` options
    packages: names and versions of what was installed for it, by requirements file
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
    """A host's way to the services: round trips, and bytes a second one way."""

    least_ns: Count
    median_ns: Count
    bytes_per_s: Count


class Line(TypedDict, total=False):
    """A line of a service's code, by how many samples met it in which state."""

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
    """A lock that threads waited for, or what stopped them all."""

    owner: Required[str]
    lock: Required[Sentence]
    share: Required[Number]
    samples: Required[Count]
    stack: list[Frame]


class Tree(TypedDict, total=False):
    """Stacks as a tree."""

    name: Required[str]
    value: Required[Count]
    children: "list[Tree]"


class HotFunction(TypedDict):
    """The share that a function or a lock has in the CPU time and the context switches of a service.

    symbol, dso: its name, and the program, library or `[kernel]` that it is in
    share: of the service's CPU time, 0 to 1. What the kernel does for a function counts as the function's
    switch_share: of its context switches, 0 to 1; `null` where they were not counted
    lock: which lock it takes or gives back: `gil`, `stop_the_world`, `critical_section`, `threading_lock`, `mutex`,
        `kernel_lock` or `lock`; empty for none. A lock's shares hold all that is done in it and for it
    """

    symbol: str
    dso: str
    share: Number
    switch_share: Known
    lock: str


class PerfProfile(TypedDict, total=False):
    """What perf says of the first service.

    hot: the 20 hottest functions and locks
    samples: samples of CPU time
    kernel_counted: whether perf could inspect the kernel; if not, what happens there is in no share
    lost_share: share of the samples that perf lost, 0 to 1
    """

    hot: list[HotFunction]
    samples: Count
    kernel_counted: bool
    lost_share: Number


class MemoryProfile(TypedDict, total=False):
    """How much memory the first service used, and for what.

    moments: of the first service with all its processes: `start` (the interpreter had started, before the service's own
        code), `listening` (before any client), `before` (connections that are kept are open) and `after` the load,
        `idle` (2 s later, connections still open). Of each, in bytes of proportional set size: `files` (programs and
        libraries), `stacks`, `c_heap` (malloc), `objects` (all other); `in_use` and `free` as pymalloc says, missing
        where it does not; `processes`, `threads`, `sockets`
    """

    moments: dict[str, dict[str, Count]]


class PythonProfile(TypedDict, total=False):
    """Where the threads of all Python processes of all services were.

    reader: how stacks were read: `_remote_debugging` (from outside, 3.14 and later) or `sys._current_frames` (by a
        thread inside)
    rate_hz, processes: samples a second of each process, and how many processes there were
    samples: how many samples of threads are of their time at work, which shares are of
    idle_share: of all samples, those of threads that were parked for work, 0 to 1
    missed_share: of the samples that were due, those not taken or not readable, 0 to 1
    sampler_cores: CPU time that the samplers used, in cores
    states: shares: `run`, `ready` (without a core), `gil`, `lock` and `io` (waiting for these)
    batches: samples at work in each of up to 40 successive times of the same length
    lines: the 30 lines with most waiting for locks, for the GIL, and with most time at all
    tree: the stacks as flame graphs have them: `name`, `value`, `children`; parts under 0.3 % are left out
    """

    reader: str
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
    """Which locks threads of the first service waited for.

    watched_ns: how long it was watched; at most a minute
    requests, in_flight_ns: how many requests were answered meanwhile, and how long they took, all together
    waiting_ns: how long threads waited for contended locks, all together, by samples
    contended: the 20 lines with most of that
    stops: how often all threads were stopped, on a free-threaded build
    stopping_ns: what those who stopped them spent on that, all together; to wait for each other is part of it
    stood_ns: how long all threads of a process stood, of the process where that is most
    stopping: the 20 lines that spent most on stops
    cpu_samples: samples of CPU time
    count_share: of these, those in functions that count references for several threads, 0 to 1; a lower bound
    waiting_cpu_share: of these, those of threads that were waiting for a lock: they spin before they sleep
    lost: calls that were not seen
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


class Profile(PerfProfile, MemoryProfile, PythonProfile, LocksProfile, total=False):
    """A profile of a service, with the keys of its kind.

    kind: what it was profiled by: `perf`, `python`, `locks`, `memory`; older files have perf's alone, without this key
    cell_id, system, runtime, params: as of the cell
    sentence: a message: what was seen; or why it was not profiled, and then the keys of the kind are missing
    """

    kind: str
    cell_id: str
    system: Required[str]
    runtime: Required[str]
    params: Parameters
    sentence: Required[Sentence]


class InterpreterDigest(TypedDict, total=False):
    """The interpreter of an environment, as a digest."""

    executable: str
    version: str
    build: str
    digest: str


class Environment(TypedDict, total=False):
    """What services or clients were measured with."""

    interpreter: InterpreterDigest
    packages: dict[str, str]
    installed: str
    programs: dict[str, str]


class Fingerprints(TypedDict, total=False):
    """What cells were measured with, by the ids that they name."""

    code: dict[str, dict[str, str]]
    environments: dict[str, dict[str, Environment]]


# ---- a comparison --------------------------------------------------------------------------------------------------


class Ratio(TypedDict, total=False):
    """A ratio and its interval; null if there is none.

    ratio: throughput of the numerator over that of the denominator, `answered` over `wall_ns`: above 1 the numerator is
        faster
    low, high: 95 % interval of the ratio; with 3 to 5 blocks the least and the most of them, with fewer `null`
    """

    ratio: Known
    low: Known
    high: Known


class Factors(TypedDict, total=False):
    """What a ratio of throughputs is made of."""

    cores_used: Ratio
    cpu_per_request: Ratio


class AllFactors(Factors, total=False):
    """Of both sides together, and of each."""

    service: Factors
    client: Factors


class Serves(TypedDict, total=False):
    """What services of an arm could serve by themselves."""

    cores: Count
    requests_per_s: Known
    low: Known
    high: Known


class Capacity(Ratio, total=False):
    """What the services of both arms could serve by themselves."""

    measured: bool
    denominator: Serves
    numerator: Serves


class Tail(Ratio, total=False):
    """The ratio of a percentile."""

    p: Known
    verdict: Verdict


class Setting(TypedDict):
    """A setting that a comparison is over."""

    system: str
    params: Parameters


class Comparison(Ratio, total=False):
    """A comparison, as reports.facts.comparisons keeps it.

    system, params: what was compared; `all` and no parameters for the geometric mean over all settings; `best` and the
        work for a step between bests
    numerator, denominator: two arms: runtimes, or services that already run. Of these `system` is the `name` of all of
        them together
    step: what differs between them: `version`, `patch`, `build`, `lock`, `jit`, `whole` (from the first arm to the
        last), `aa` (nothing), `other` (several at once, or unknown: between services), `best` (all that the best
        service of each runtime differs in)
    p: sign-flip test, or bets that may be looked at any time, adjusted over all comparisons of the run but A/A
        ([decision 013](decisions/013-family.md))
    verdict: `faster`, `slower`, `equivalent`, `inconclusive`, `invalid`, `unjudged`
    why: one sentence: what the verdict rests on, the blocks still needed, or the gate that failed
    blocks: how many blocks have both arms; of `best` the odd ones, for the even ones picked
    noise_floor: how far from 1 the A/A interval of the same setting reaches, as a share; `null` without a valid A/A of
        6 blocks
    confounds: what else than the step's cause differs, between the two builds and between hosts: a list of texts
    notes: what limits the figures, such as clients that were saturated: a list of texts
    between_services: whether its arms are services that already ran, not runtimes
    obstacle: of `why`, what keeps it from a verdict; empty where it has one
    blocks_needed: how many blocks in all would do, about; `null` where it has a verdict, or where no number up to 1000
        would
    saturation: share of the cores they could have had that the clients used, median over its cells; `null` if not known
    cores_in_use: share of all cores that services and clients of the numerator used together, median over its cells;
        `null` if not known
    disturbed: share of its cells in which the machine was not quiet; `null` over all settings
    others: share of the cores' time that other processes used while its clients were timed; `null` if that is not known
    is_beside_others: whether that was more than 5 % in more than a third of its blocks; `why` and its sentence then say
        so
    settings: of one over all settings, the settings it is over: those that passed their gates, or all where none did;
        of `best` the denominator's setting, then the numerator's
    factors: `cores_used` and `cpu_per_request`, each `{ratio, low, high}`: above 1 more cores, less CPU time per
        request. The two multiply to `ratio`; so do those under `service` and those under `client`. Empty where a cell
        does not report its CPU time
    capacity: what the services alone could serve: under `denominator` and `numerator` `{requests_per_s, low, high,
        cores}`, `ratio` with `low` and `high`, and `measured`: whether native clients on cores of their own called
        them, without being the bottleneck. Else it is estimated ([evidence.md](evidence.md#what-the-ratio-is-made-of)).
        Empty over several settings, and where CPU time is not known
    tails: `p50`, `p99` and, from 10,000 requests a cell, `p999`: `{ratio, low, high, p, verdict}`, above 1 less
        latency. They are a family of their own; none for `aa`
    far_slower: of `denominator` and `numerator`, how many cells took more than a quarter more time per request than the
        arm's median cell
    dependence: p that blocks resemble the ones before them by chance; null with fewer than 8 blocks
    noise: standard deviations of the log-ratio of a block: `between` processes, and `within` cells of so many
        `seconds`; their squares add up. Empty with fewer than 6 blocks, without `slices`, and over several settings
    """

    system: str
    params: Parameters
    numerator: str
    denominator: str
    step: Literal["version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best"]
    p: Known
    verdict: Verdict
    why: Sentence
    blocks: Count
    noise_floor: Known
    confounds: list[Sentence]
    notes: list[Sentence]
    obstacle: Sentence
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
