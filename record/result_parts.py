"""Declare keys of parts of result.json: of cells, the plan, hosts, fingerprints and profiles.

record/child_lines.py declares Count, Known and the other kinds of values.

lab/ makes these values, and analysis/ and reports/ read them. A Struct is checked when the file is
decoded. A TypedDict describes a plain dictionary, which record/run_file.py checks against it.
"""

from typing import Required, TypedDict

from msgspec import Struct

from core.messages import Message
from record.child_lines import Count, Known, Number, Numbers, Parameters, Time

# ---- a cell --------------------------------------------------------------------------------------


class SlowCause(Struct, frozen=True, kw_only=True):
    """The share of one cause, such as garbage collection, in the time of slow requests and in the
    whole measured time.

    share: of the slow requests' time
    window: of the whole window
    """

    share: Number
    window: Number


class Slow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requests slower than a percentile, and what took their time.

    threshold_ns, requests: the percentile, and the number of slower requests
    causes: by cause, as far as known: `collection` (garbage collection), `service` and `client`
        (waits of their threads for a core), and `steal` (the hypervisor took the cores). Each has
        its `share` of these requests' time, and of all time (`window`)
    """

    threshold_ns: Count
    requests: Count
    causes: dict[str, SlowCause] = {}


class AnswersByTime(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The number of answers in each slice of time.

    start_ns: its start, after the clients' start
    """

    width_ns: Count = 0
    start_ns: Time = 0
    counts: list[Count] = []


class OtherProcesses(TypedDict):
    """CPU time of other processes while clients were timed.

    busiest, neighbours: share of each process by name
    """

    cores: Count
    window_ns: Count
    share: Number
    busiest: Numbers
    neighbours: Numbers


class Window(TypedDict, total=False):
    """The state of a machine while clients were timed; null for a value that the machine does not
    report.

    window_ns: its length
    steal: share of all cores' time that the hypervisor took
    others: as in [a cell](#a-cell), where it is a separate key
    swapped_pages: swapped in or out
    throttles: how often heat slowed a core
    quota_stalled_ns: how long CPU quotas throttled threads
    """

    others: OtherProcesses | None
    window_ns: Known
    steal: Known
    swapped_pages: Known
    throttles: Known
    quota_stalled_ns: Known


class Quiet(TypedDict, total=False):
    """How quiet a host was when the run began: its settings, and its activity during a short
    window.
    """

    cores: Known
    governors: list[str] | None
    turbo: bool | None
    smt: bool | None
    cores_quota: Number | str | None
    aslr: Known
    window: Window


class CellHost(TypedDict, total=False):
    """A host that took part in a measurement: its clock's offset, and the start time of its
    clients.
    """

    offset_ns: Time
    error_ns: Count
    released_ns: Count
    late_ns: Count


# ---- a run ---------------------------------------------------------------------------------------


class Hidden(TypedDict):
    """The text that a file stores in place of a secret (core.secret)."""

    hidden: str
    name: str


class SavedRequest(TypedDict, total=False):
    """The method and path of a request to a user's service, as reports use them."""

    method: str
    path: str | Hidden


class Requests(TypedDict):
    """The requests that clients send to a user's service."""

    requests: list[SavedRequest]
    think_time_s: Number


class SavedTarget(TypedDict):
    """A user's service that was already running before the measurement."""

    name: str
    url: str | Hidden


class OwnService(TypedDict, total=False):
    """A user's service as reports use it: its name, requests, protocol, and command or
    addresses.
    """

    name: Required[str]
    requests: Required[Requests]
    protocol: str
    command: str | Hidden
    targets: list[SavedTarget]


class Link(TypedDict):
    """The network link from a host to the services' host: round-trip times, and bytes/s in one
    direction.
    """

    least_ns: Count
    median_ns: Count
    bytes_per_s: Count


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
    """The code and environments that measurements used, by the ids that the
    measurements contain.
    """

    code: dict[str, dict[str, str]]
    environments: dict[str, dict[str, Environment]]


# ---- profiles (--profile): where a service spends its time ---------------------------------------


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
    """A contended lock, or a cause of stop-the-world pauses, with the stack at which
    it was seen.
    """

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


class PythonProfile(TypedDict, total=False):
    """Sampled stacks and states of the threads of all Python processes of all services.

    rate_hz, processes: samples per second of each process, and number of processes
    samples: of threads at work, to which the shares below refer
    idle_share: share of all samples in which a thread waited for work
    missed_share: share of the due samples that were not taken or could not be read
    sampler_cores: CPU time of the samplers, in cores
    states: shares of `run`, `ready`, `gil`, `lock` and `io`
    batches: samples at work in each of up to 40 successive periods of equal length
    lines: the 30 lines with the most waiting for locks, the most waiting for the GIL, and the most
        time
    tree: stacks as in a flame graph: `name`, `value`, `children`; without parts under 0.3 %
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

    watched_ns: at most a minute
    requests, in_flight_ns: requests answered in this time, and the sum of their latencies
    waiting_ns: time that threads waited for contended locks, added up, estimated from samples
    contended, stopping: the 20 lines with the most waiting, and those that spent the most time on
        pauses
    stops: stop-the-world pauses
    stopping_ns: time that the requesting threads spent on pauses, with waiting for one another
    stood_ns: how long all threads of a process were paused, for the process with the longest time
    cpu_samples: CPU samples
    count_share, waiting_cpu_share: shares of these in functions that count references shared by
        threads (a lower bound), and in threads that spin on a lock
    lost: missed calls
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


class Profile(PythonProfile, LocksProfile, total=False):
    """A profile of a service by Python stack samples or locks. The keys depend on this kind.

    kind: `python` or `locks`
    cell_id, system, runtime, params: as in the cell
    sentence: a message with the result, or why the keys of the kind are missing
    """

    kind: Required[str]
    cell_id: str
    system: Required[str]
    runtime: Required[str]
    params: Parameters
    sentence: Required[Message]
