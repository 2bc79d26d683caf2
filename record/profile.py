"""Declare the keys of the profiles in result.json (--profile): where a service spends its time.

lab/profile makes them, and reports/sections read them. They are plain dictionaries, which
record/run_file.py checks against Profile when it reads a file.
"""

from typing import Required, TypedDict

from core.messages import Message
from record.child_lines import Count, Number, Numbers, Parameters


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
