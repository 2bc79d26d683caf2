"""Declare the keys of the profiles in result.json (see record.child)."""

from typing import Required, TypedDict

from core.messages import Message
from record.child import Count, Number, Numbers, Parameters


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


class Profile(PythonProfile, LocksProfile, total=False):
    """A profile of a service by Python stack samples or locks. The keys depend on this kind.

    kind: `python` or `locks`
    cell_id, system, runtime, params: as in the cell
    sentence: a message with the result of the profile. If the service was not profiled, the message gives the reason,
        and the keys of the kind are missing
    """

    kind: Required[str]
    cell_id: str
    system: Required[str]
    runtime: Required[str]
    params: Parameters
    sentence: Required[Message]
