"""The keys of result.json and of a child's last line, each with its type and bounds.

Measured processes must not import this module, because it needs msgspec. docs/result.md says what each key means.
"""

from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

from core.slices import WIDTH_NS

LARGEST = 2**63 - 1
MOST_CHARACTERS = 4096
MOST_SLOW = 4096
MOST_SLICES = 4096
DEEPEST_STACK = 110

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Number = Annotated[int, Meta(ge=-(10**18), le=10**18)] | Annotated[float, Meta(ge=-1e100, le=1e100)]
Share = Annotated[float, Meta(gt=0, lt=1)]
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
    """What a process used, and how its GIL and its JIT were when it was ready and at its end; null if not known."""

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

    seconds: Annotated[float, Meta(ge=0, le=1e100)]
    percentiles_ms: dict[Text, Annotated[float, Meta(ge=0, le=1e100)]]


class Client(Usage, total=False):
    """What a cell keeps of a client."""

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
    overdue: Count
    sent_bytes: Count
    received_bytes: Count
    rate: Number
    offered_rate: Number
    worker: Text
    workers_ns: list[Count]
    timeline: list[list[tuple[Count, Count]]]
    said: Said
    first_wrong: "FirstWrong"


class FirstWrong(TypedDict):
    """The first wrong answer, in words."""

    request: Text
    got: Text
    expected: Text


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

    latency: dict[str, Any]
    connect: dict[str, Any]
    waiting: dict[str, Any]
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
    """The result of a service, as it sends it."""

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
    """What a cell keeps of a service."""

    service_id: Count
    host: str
    program: Program
    pauses: Pauses
    notices: list[str]


Address = Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^(/[^\0]+|[^\0/]+:[0-9]{1,5})$")]
Addresses = Annotated[list[Address], Meta(min_length=1)]


# ---- a cell --------------------------------------------------------------------------------------------------------


class Buckets(TypedDict):
    """The buckets of a histogram (core.histogram)."""

    sub_bits: Count
    total_ns: Count
    counts: dict[str, Count]


class Summary(TypedDict, total=False):
    """A histogram as Histogram.to_json() writes it; empty if there is none."""

    count: Count
    min_ns: Count
    mean_ns: Count
    max_ns: Count
    p50_ns: Count
    p90_ns: Count
    p99_ns: Count
    p999_ns: Count
    histogram: Buckets


class Cause(TypedDict):
    """What slow requests overlap."""

    share: Number
    window: Number


class Slow(TypedDict, total=False):
    """Requests slower than a percentile, and how many of them overlap a collection of their service."""

    threshold_ns: Required[Count]
    requests: Required[Count]
    overlapping: Count
    mostly: Count
    by_chance: Number
    causes: dict[str, Cause]


class Slices(TypedDict, total=False):
    """How many answers came in each slice of time. start_ns: begin of the first, from the release of the clients."""

    width_ns: Positive
    start_ns: Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
    counts: list[Count]


class Others(TypedDict):
    """What other processes used while clients were timed. busiest, neighbours: shares by name."""

    cores: Count
    window_ns: Count
    share: Number
    busiest: Numbers
    neighbours: Numbers


class Window(TypedDict, total=False):
    """What a machine did while clients were timed; null for what it does not say."""

    others: Others | None
    window_ns: Number | None
    steal: Number | None
    iowait: Number | None
    idle: Number | None
    swapped_pages: Number | None
    throttles: Number | None
    quota_stalled_ns: Number | None
    cpu_pressure: Number | None
    memory_pressure: Number | None


class CellHost(TypedDict, total=False):
    """A host that took part in a cell: its clock against ours, its release, what disturbed it."""

    offset_ns: Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
    error_ns: Count
    released_ns: Count
    late_ns: Count
    disturbances: list[Sentence]


# ---- a run ---------------------------------------------------------------------------------------------------------


class Row(TypedDict, total=False):
    """A combination of parameter values. runtimes: under which it has cells; null if the plan does not say."""

    system: Required[str]
    params: Required[Parameters]
    title: str
    framed: bool
    runtimes: list[str] | None


class Warmup(TypedDict):
    """How long clients called before they were timed: a share of the requests, or seconds."""

    share: Number
    seconds: Number


class Method(TypedDict, total=False):
    """How a run measures."""

    warmup: Required[Warmup]
    duration_s: Required[Number]
    client_runtime: Required[str]
    pin_services: Required[list[Count]]
    pin_clients: Required[list[Count]]
    neighbours: list[str]


class Until(TypedDict, total=False):
    """When a run has enough blocks."""

    width: Number
    seconds: Number
    verdict: bool


class Absent(TypedDict):
    """A system that could not be measured under a runtime, and why."""

    system: str
    runtime: str
    reason: Sentence


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


class UserService(TypedDict, total=False):
    """A service of the user's own, as far as reports use it."""

    name: Required[str]
    requests: Required[Requests]
    protocol: str
    command: str | Hidden
    targets: list[Target]


class Host(TypedDict):
    """A host of a layout, as far as reports use it."""

    name: str
    address: str


class Layout(TypedDict):
    """Where services and clients ran."""

    hosts: dict[str, Host]
    services_on: str
    clients_on: list[str]


class Outside(TypedDict, total=False):
    """A system that is not one of gilscope's."""

    title: Required[str]
    file: str


class Plan(TypedDict, total=False):
    """The plan of a run."""

    name: Required[str]
    blocks: Required[Count]
    scale: Required[Number]
    runtimes: Required[list[str]]
    rows: Required[list[Row]]
    description: str
    view: str
    aa: bool
    until: Until
    margin: Share
    judged_steps: list[str]
    fail_if_slower: Number
    extended: bool
    method: Method
    own: dict[str, Any] | None
    absent: list[Absent]
    layout: dict[str, Any] | None
    outside: dict[str, Outside]


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
    """An interpreter that a run had."""

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


class MachineFacts(TypedDict, total=False):
    """Facts of a machine. A value is null if the machine does not report it."""

    cpu: str | None
    architecture: str | None
    governor: str | None
    os: str | None
    kernel: str | None
    python: str | None
    commit: str | None
    cores: Count | None
    cores_usable: Count | None
    memory_bytes: Count | None
    cores_quota: Number | None
    load: list[Number] | None
    limits: dict[str, int | str] | None
    quiet: dict[str, Any] | None


class Link(TypedDict):
    """A host's way to the services: round trips, and bytes a second one way."""

    least_ns: Count
    median_ns: Count
    bytes_per_s: Count


class HostFacts(MachineFacts, total=False):
    """A host of a run."""

    runtimes: dict[str, str] | None
    builds: dict[str, RuntimeFacts] | None
    link: Link | None
    with_runner: bool
    uv: bool
    clock_error_ns: Count


class Machine(MachineFacts, total=False):
    """The machine of a run, and its hosts."""

    hosts: dict[str, HostFacts] | None


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
    """The share that a function or a lock has in the CPU time and the context switches of a service."""

    symbol: str
    dso: str
    share: Number
    switch_share: Number | None
    lock: str


class Profile(TypedDict, total=False):
    """A profile of a service, by `perf`, `python`, `locks` or `memory`."""

    cell_id: str
    system: Required[str]
    runtime: Required[str]
    sentence: Required[Sentence]
    kind: str
    params: Parameters
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
    watched_ns: Count
    requests: Count
    in_flight_ns: Count
    waiting_ns: Count
    stops: Count
    stopping_ns: Count
    stood_ns: Count
    cpu_samples: Count
    lost: Count
    count_share: Number
    waiting_cpu_share: Number
    hot: list[HotFunction]
    kernel_counted: bool
    lost_share: Number
    contended: list[LockLine]
    stopping: list[LockLine]
    moments: dict[str, dict[str, Count]]


class Interpreter(TypedDict, total=False):
    """The interpreter of an environment, as a digest."""

    executable: str
    version: str
    build: str
    digest: str


class Environment(TypedDict, total=False):
    """What services or clients were measured with."""

    interpreter: Interpreter
    packages: dict[str, str]
    installed: str
    programs: dict[str, str]


class Fingerprints(TypedDict, total=False):
    """What cells were measured with, by the ids that they name."""

    code: dict[str, dict[str, str]]
    environments: dict[str, dict[str, Environment]]


class Head(TypedDict, total=False):
    """result.json without its cells."""

    run_id: Required[str]
    started_at: Required[str]
    seed: Required[Annotated[int, Meta(ge=0)]]
    command: Required[list[str]]
    plan: Required[Plan]
    machine: Required[Machine]
    runtimes: Required[dict[str, RuntimeFacts]]
    missing: dict[str, Sentence]
    finished_at: str
    spent_ns: dict[str, Count]
    comparisons: "list[Comparison]"
    profiles: list[Profile]
    fingerprints: Fingerprints
    schema: Count


# ---- a comparison --------------------------------------------------------------------------------------------------


class Ratio(TypedDict, total=False):
    """A ratio and its interval; null if there is none."""

    ratio: Number | None
    low: Number | None
    high: Number | None


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
    requests_per_s: Number | None
    low: Number | None
    high: Number | None


class Capacity(Ratio, total=False):
    """What the services of both arms could serve by themselves."""

    measured: bool
    denominator: Serves
    numerator: Serves


class Tail(Ratio, total=False):
    """The ratio of a percentile."""

    p: Number | None
    verdict: Verdict


class Setting(TypedDict):
    """A setting that a comparison is over."""

    system: str
    params: Parameters


class Comparison(Ratio, total=False):
    """A comparison, as reports.facts.comparisons keeps it."""

    system: str
    params: Parameters
    numerator: str
    denominator: str
    step: Literal["version", "patch", "build", "lock", "jit", "whole", "aa", "other", "best"]
    p: Number | None
    verdict: Verdict
    why: Sentence
    blocks: Count
    noise_floor: Number | None
    confounds: list[Sentence]
    notes: list[Sentence]
    obstacle: Sentence
    blocks_needed: Count | None
    saturation: Number | None
    cores_in_use: Number | None
    disturbed: Number | None
    others: Number | None
    is_beside_others: bool
    settings: list[Setting]
    between_services: bool
    factors: AllFactors
    capacity: Capacity
    tails: dict[str, Tail]
    far_slower: dict[str, Count]
    dependence: Number | None
    noise: Numbers
