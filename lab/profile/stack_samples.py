"""Read and sum up the samples of Python stacks that were taken inside a service by
core/inside/stacks_sampler.py.

A sample holds one thread's stack and state. The states are: running, ready but without a CPU core,
waiting for the GIL, for a lock or for I/O, and idle, which means parked until there is work. Shares
are shares of the threads' time at work, which is all samples except the idle ones. This module does
no I/O.
lab/run/profiling.py calls read() with the files that the samplers wrote. They are not trusted,
because processes of a user can write them. to_json() makes what PythonProfile of
record/result_parts.py declares, and folded() a file for other tools. A stack is a tuple of frames,
innermost first.
Format: https://github.com/brendangregg/FlameGraph
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from core.inside import SLICE_NS, STACKS_HZ
from core.messages import Json, message

# the states of a thread at work; `idle` is the only other one
WORK = ("run", "ready", "gil", "lock", "io")
# the states whose samples to_json() counts by line and batch
WAITS = ("lock", "gil")
# slices of SLICE_NS (0.1 s) that are read: the first 10 minutes of a window
MOST_SLICES = 6_000
# lines for each of the three orders of _hottest()
MOST_LINES = 30
# equal parts of the window, whose spread shows how uncertain a share is
BATCHES = 40
# a larger count of one stack in one slice is ignored as malformed
MOST_COUNT = 1 << 20
# characters of a file's or function's name that are kept
LONGEST_NAME = 300
LEAST_SHARE = 0.003  # of the samples; smaller nodes are not part of a flame graph

# frames of messages between processes, which _awaits_orders() skips
PIPES = "multiprocessing/connection.py"
# Supervisors of servers and of multiprocessing, whose processes and threads serve no request
SUPERVISORS = re.compile(
    r"(uvicorn/supervisors|granian/server)/|(gunicorn/arbiter|hypercorn/run)\.py"
    r"|multiprocessing/(resource_tracker|forkserver)\.py"
)
# the beginning of the path of a library's file, up to the name of its package
LIBRARY = re.compile(r"^.*/(?:(?:site|dist)-packages|lib(?:64)?/python3[.0-9]*t?)/")


class StackFrame(NamedTuple):
    """One frame of a stack: a function and the line that it executes.

    file: as reports show it, without its folder or its site-packages; "" if the frame could not be
        read in time
    """

    file: str
    line: int
    function: str
    is_library: bool

    def __str__(self) -> str:
        # some instructions have no line
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{self.function} ({place})"


# the frame of a wait whose stack could not be read in time; it also stands for "no caller"
UNKNOWN = StackFrame("", 0, "", is_library=True)
Stack = tuple[StackFrame, ...]
# numbers of samples by the thread's state, and by its stack or innermost line
StackCounts = Counter[tuple[str, Stack]]
LineCounts = Counter[tuple[str, StackFrame]]


@dataclass(kw_only=True)
class Samples:
    """The stack samples of all processes of a cell in its timed window.

    slices: the length of the window in tenths of a second
    total: the number of samples by (state, stack)
    batches: the number of samples of threads that were not idle, by (state, innermost line), in
        each of several successive intervals of equal length
    missed: samples that could not be taken, over all processes
    cpu_ns: CPU time that the samplers used in the window
    """

    slices: int
    batches: list[LineCounts]
    total: StackCounts = field(default_factory=Counter)
    processes: int = 0
    missed: int = 0
    cpu_ns: int = 0

    @property
    def at_work(self) -> StackCounts:
        """The number of samples of threads that were not idle, by thread state and stack."""
        return Counter({key: count for key, count in self.total.items() if key[0] in WORK})


class _FileLine(msgspec.Struct):
    """A line of the file that a stack sampler writes. Each line has only some of the fields."""

    frame: tuple[str, int, str] | None = None
    stack: list[int] | None = None
    at: int = 0
    counts: list[tuple[str, int, int]] = []
    missed: int = 0
    cpu_ns: int = 0


_DECODER = msgspec.json.Decoder(_FileLine)


def read(files: Iterable[bytes], start_ns: int, end_ns: int, directory: str) -> Samples:
    """Return the samples that the sample files contain for the time from *start_ns* to *end_ns*.

    files: the files' contents; each is read up to its first malformed line
    directory: the folder where the service was started; names of files below it are relative to it
    """
    slices = min(MOST_SLICES, (end_ns - start_ns) // SLICE_NS)
    samples = Samples(slices=slices, batches=[Counter() for _ in range(min(BATCHES, slices))])
    for content in files:
        _add(samples, content, start_ns, directory)
    return samples


def _add(samples: Samples, content: bytes, start_ns: int, directory: str) -> None:
    frames: list[StackFrame] = []
    stacks: list[Stack] = []
    used_ns = [0]
    for text in content.split(b"\n")[:-1]:
        try:
            line = _DECODER.decode(text)
        except (msgspec.DecodeError, RecursionError):
            break
        if line.frame:
            frames.append(_make_frame(*line.frame, directory))
        elif line.stack is not None:
            stacks.append(
                tuple(frames[number] for number in line.stack if 0 <= number < len(frames))
            )
        elif line.at < start_ns:
            # the CPU time that the sampler had used when the window began
            used_ns = [line.cpu_ns]
        elif (place := (line.at - start_ns) // SLICE_NS) < samples.slices:
            batch = samples.batches[place * len(samples.batches) // samples.slices]
            for state, number, count in line.counts:
                stack = stacks[number] if 0 <= number < len(stacks) else ()
                if stack and 0 < count < MOST_COUNT and state in (*WORK, "idle"):
                    actual = "idle" if state == "io" and _awaits_orders(stack) else state
                    samples.total[actual, stack] += count
                    if actual in WORK:
                        batch[actual, stack[0]] += count
            samples.missed += line.missed
            used_ns.append(line.cpu_ns)
    samples.cpu_ns += max(0, used_ns[-1] - used_ns[0])
    samples.processes += bool(frames)


def _awaits_orders(stack: Stack) -> bool:
    """Return whether a thread that waits for I/O in *stack* waits for a message between a
    supervisor and its processes. Other frames of a supervisor are outside of those of requests.
    """
    caller = next((frame for frame in stack if frame.file != PIPES), UNKNOWN)
    return bool(SUPERVISORS.match(caller.file))


def _make_frame(file: str, line: int, function: str, directory: str) -> StackFrame:
    """Return a stack frame with a short file name for reports.

    The name of a library's file starts with its package. Other names are relative to *directory*.
    """
    if not file:
        return UNKNOWN
    short, is_library = LIBRARY.subn("", file)
    if not is_library:
        inside = file.startswith(f"{directory}/")
        short = file[len(directory) + 1 :] if inside else "/".join(file.rsplit("/", 2)[-2:])
    return StackFrame(
        short[-LONGEST_NAME:],
        max(0, line),
        function[:LONGEST_NAME],
        bool(is_library) or file[:1] == "<",
    )


def to_json(samples: Samples) -> Json:
    """Return the content for result.json of a profile of Python stacks.

    These are the share of each state, the lines that wait or run most, with their waits in
    successive intervals, a flame graph, and a sentence.
    """
    at_work, everything = samples.at_work, samples.total.total()
    total = at_work.total()
    by_state = {state: _spent(at_work, state).total() for state in WORK}
    percentages = {state: f"{count / total * 100:.0f} %" for state, count in by_state.items()}
    sentence = message(
        "threads that are not idle spend {run} of their time running, {gil} waiting for the GIL, "
        "{lock} waiting for a lock, {io} waiting for I/O and {ready} waiting for a CPU core; based "
        "on {count:,} samples",
        **percentages,
        count=total,
    )
    due = STACKS_HZ * samples.processes * samples.slices * SLICE_NS // 10**9
    return {
        "rate_hz": STACKS_HZ,
        "processes": samples.processes,
        "samples": total,
        "idle_share": _share(everything - total, everything),
        "missed_share": min(1.0, _share(samples.missed, due)),
        "sampler_cores": _share(samples.cpu_ns, samples.slices * SLICE_NS),
        "states": {state: _share(count, total) for state, count in by_state.items()},
        "batches": [batch.total() for batch in samples.batches],
        "lines": [_line(frame, at_work, samples.batches) for frame in _hottest(at_work)],
        "tree": tree(samples),
        "sentence": sentence.to_json(),
    }


def _share(part: int, whole: int) -> float:
    return round(part / max(1, whole), 4)


def _spent(at_work: StackCounts, *states: str) -> Counter[StackFrame]:
    """Return the number of samples of threads in one of *states*, by innermost line."""
    spent = Counter[StackFrame]()
    for (state, stack), count in at_work.items():
        if state in states:
            spent[stack[0]] += count
    return spent


def _hottest(at_work: StackCounts) -> list[StackFrame]:
    """Return the lines with most waiting for locks, then for the GIL, then the lines with most
    samples.
    """
    spent = [_spent(at_work, "lock"), _spent(at_work, "gil"), _spent(at_work, *WORK)]
    return list(
        dict.fromkeys(frame for counts in spent for frame, _ in counts.most_common(MOST_LINES))
    )


def _line(frame: StackFrame, at_work: StackCounts, batches: Sequence[LineCounts]) -> Json:
    states, callers = Counter[str](), Counter[StackFrame]()
    for (state, stack), count in at_work.items():
        if stack[0] == frame:
            states[state] += count
            callers[_own_caller(stack)] += count
    caller = callers.most_common(1)[0][0]
    waits = {}
    for wait in filter(states.get, WAITS):
        waits[wait] = [batch[wait, frame] for batch in batches]
    return {
        "function": frame.function,
        "file": frame.file,
        "line": frame.line,
        "is_library": frame.is_library,
        "caller": "" if caller == UNKNOWN else str(caller),
        "states": {state: _share(states[state], at_work.total()) for state in WORK},
        "waits": waits,
    }


def _own_caller(stack: Stack) -> StackFrame:
    """Return the frame that called a library: the nearest in the user's code, or else in another
    library.
    """
    if not stack[0].is_library:
        return UNKNOWN
    package = stack[0].file.partition("/")[0]
    others = (frame for frame in stack if frame.file.partition("/")[0] != package)
    return next((frame for frame in stack if not frame.is_library), next(others, UNKNOWN))


def tree(samples: Samples) -> Json:
    """Return stacks of non-idle threads as a flame graph tree, without nodes below LEAST_SHARE of
    the samples.

    The innermost node of each stack is the thread's state.
    """
    at_work, counts = samples.at_work, Counter[tuple[str, ...]]()
    for (state, stack), count in at_work.items():
        path = (*_names(stack), f"[{state}]")
        for depth in range(len(path)):
            counts[path[: depth + 1]] += count
    total = at_work.total()
    # by the names from the outermost frame on; a caller comes before what it calls
    nodes: dict[tuple[str, ...], dict[str, Any]] = {(): {"name": "", "value": total}}
    for path, count in counts.items():
        if count >= LEAST_SHARE * total:
            nodes[path] = {"name": path[-1], "value": count}
            nodes[path[:-1]].setdefault("children", []).append(nodes[path])
    return nodes[()]


def _names(stack: Stack) -> list[str]:
    """Return the names of a stack's frames for display, outermost first.

    Only the innermost name has a line number, so calls from several lines of one function share a
    node.
    """
    outer = [f"{frame.function} ({frame.file})" for frame in reversed(stack[1:])]
    return [*outer, str(stack[0]) if stack[0] != UNKNOWN else "?"]


def folded(samples: Samples) -> str:
    """Return collapsed stacks: a line per stack with its frames, outermost first, thread state, and
    sample count.
    """
    lines = Counter[str]()
    for (state, stack), count in samples.total.items():
        frames = [str(frame).replace(";", ":") for frame in reversed(stack)]
        lines[";".join([*frames, f"[{state}]"])] += count
    return "".join(f"{line} {count}\n" for line, count in sorted(lines.items()))
