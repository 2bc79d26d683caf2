"""Read and sum up the samples of Python stacks that were taken inside a service by core/inside/stacks_sampler.py.

A sample holds one thread's stack and state. The states are: running, ready but without a CPU core, waiting for the GIL,
for a lock or for I/O, and idle, which means parked until there is work. Shares are shares of the threads' time at work,
which is all samples except the idle ones. This module does no I/O.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from core.messages import Message, message

SLICE_NS = 100_000_000
WORK = ("run", "ready", "gil", "lock", "io")
WAITS = ("lock", "gil")
MOST_SLICES = 6_000
MOST_LINES = 30
BATCHES = 40
MOST_COUNT = 1 << 20
LONGEST_NAME = 300

LIBRARY = re.compile(r"^.*/(?:(?:site|dist)-packages|lib(?:64)?/python3[.0-9]*t?)/")


class StackFrame(NamedTuple):
    """One frame of a stack: a function and the line that it executes.

    file: as reports show it, without its folder or its site-packages; "" if the frame could not be read in time
    """

    file: str
    line: int
    function: str
    is_library: bool

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file  # some instructions have no line
        return f"{self.function} ({place})"


UNKNOWN = StackFrame("", 0, "", is_library=True)
Stack = tuple[StackFrame, ...]
Counts = Counter[tuple[str, Stack]]


@dataclass(kw_only=True)
class Samples:
    """The stack samples of all processes of a cell in its timed window.

    slices: for each tenth of a second, the number of samples by (state, stack)
    missed: samples that could not be taken, over all processes
    cpu_ns: CPU time that the samplers used in the window
    """

    reader: str = ""
    rate_hz: int = 0
    processes: int = 0
    slices: list[Counts] = field(default_factory=list)
    missed: int = 0
    cpu_ns: int = 0

    @property
    def total(self) -> Counts:
        """The number of samples by thread state and stack, in all time slices together."""
        return sum(self.slices, Counter())

    @property
    def at_work(self) -> Counts:
        """The number of samples of threads that were not idle, by thread state and stack."""
        return Counter({key: count for key, count in self.total.items() if key[0] in WORK})


class _FileLine(msgspec.Struct):
    """A line of the file that a stack sampler writes. Each line has only some of the fields."""

    reader: str = ""
    rate_hz: int = 0
    frame: tuple[str, int, str] | None = None
    stack: list[int] | None = None
    at: int = 0
    counts: list[tuple[str, int, int]] = []
    missed: int = 0
    unread: int = 0
    cpu_ns: int = 0


_DECODER = msgspec.json.Decoder(_FileLine)


def read(files: Iterable[bytes], start_ns: int, end_ns: int, directory: str) -> Samples:
    """Return the samples that the sample files contain for the time from *start_ns* to *end_ns*.

    files: the files' contents; each is read up to its first malformed line
    directory: the folder where the service was started; names of files below it are relative to it
    """
    slices = min(MOST_SLICES, (end_ns - start_ns) // SLICE_NS)
    samples = Samples(slices=[Counter() for _ in range(slices)])
    for content in files:
        _add(samples, content, start_ns, directory)
    return samples


def _add(samples: Samples, content: bytes, start_ns: int, directory: str) -> None:
    frames: list[StackFrame] = []
    stacks: list[Stack] = []
    used_ns = [0]
    for line in _lines(content):
        if line.frame:
            frames.append(_make_frame(*line.frame, directory))
        elif line.stack is not None:
            stacks.append(tuple(frames[number] for number in line.stack if 0 <= number < len(frames)))
        elif line.reader:
            samples.reader, samples.rate_hz = line.reader[:LONGEST_NAME], line.rate_hz
            samples.processes += 1
        else:
            place = (line.at - start_ns) // SLICE_NS
            if line.at >= start_ns and place < len(samples.slices):
                samples.slices[place] += _counted(line, stacks)
                samples.missed += line.missed + line.unread
                used_ns.append(line.cpu_ns)
            elif line.at < start_ns:
                used_ns = [line.cpu_ns]
    samples.cpu_ns += max(0, used_ns[-1] - used_ns[0])


def _lines(content: bytes) -> Iterator[_FileLine]:
    for text in content.split(b"\n")[:-1]:
        try:
            yield _DECODER.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return


def _counted(line: _FileLine, stacks: Sequence[Stack]) -> Counts:
    return Counter(
        {
            (state, stacks[number]): count
            for state, number, count in line.counts
            if 0 <= number < len(stacks) and stacks[number] and 0 < count < MOST_COUNT and state in (*WORK, "idle")
        }
    )


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
    return StackFrame(short[-LONGEST_NAME:], max(0, line), function[:LONGEST_NAME], bool(is_library) or file[:1] == "<")


def to_json(samples: Samples) -> dict[str, Any]:
    """Return the content for result.json of a profile of Python stacks.

    These are the share of each state, and the lines that wait or run most, with their waits in successive intervals.
    """
    at_work, everything = samples.at_work, samples.total.total()
    total = at_work.total()
    states = _by_state(at_work)
    due = samples.rate_hz * samples.processes * len(samples.slices) * SLICE_NS // 10**9
    batches = _batches(samples.slices)
    return {
        "reader": samples.reader,
        "rate_hz": samples.rate_hz,
        "processes": samples.processes,
        "samples": total,
        "idle_share": _share(everything - total, everything),
        "missed_share": min(1.0, _share(samples.missed, due)),
        "sampler_cores": _share(samples.cpu_ns, len(samples.slices) * SLICE_NS),
        "states": {state: _share(states[state], total) for state in WORK},
        "batches": [sum(count for (state, _), count in batch.items() if state in WORK) for batch in batches],
        "lines": [_line(frame, at_work, batches) for frame in _hottest(at_work)],
    }


def sentence(samples: Samples) -> Message:
    """Return a sentence with the share of time in each thread state and the number of samples."""
    at_work = samples.at_work
    states, total = _by_state(at_work), at_work.total()
    shares = {state: f"{states[state] / total * 100:.0f} %" for state in WORK}
    return message(
        "threads that are not idle spend {run} of their time running, {gil} waiting for the GIL, {lock} waiting for a "
        "lock, {io} waiting for I/O and {ready} waiting for a CPU core; based on {count:,} samples by {reader}",
        **shares, count=total, reader=samples.reader,
    )  # fmt: skip


def _share(part: int, whole: int) -> float:
    return round(part / max(1, whole), 4)


def _by_state(counts: Counts) -> Counter[str]:
    states = Counter[str]()
    for (state, _), count in counts.items():
        states[state] += count
    return states


def _batches(slices: Sequence[Counts]) -> list[Counter[tuple[str, StackFrame]]]:
    """Count samples by thread state and innermost line, in each of BATCHES successive intervals of equal length."""
    batches: list[Counter[tuple[str, StackFrame]]] = [Counter() for _ in range(min(BATCHES, len(slices)))]
    for number, part in enumerate(slices):
        batch = batches[number * len(batches) // len(slices)]
        for (state, stack), count in part.items():
            batch[state, stack[0]] += count
    return batches


def _hottest(at_work: Counts) -> list[StackFrame]:
    """Return the lines with most waiting for locks, then for the GIL, then the lines with most samples."""
    lines: list[StackFrame] = []
    for states in (("lock",), ("gil",), WORK):
        spent = Counter[StackFrame]()
        for (state, stack), count in at_work.items():
            if state in states:
                spent[stack[0]] += count
        lines += [frame for frame, _ in spent.most_common(MOST_LINES)]
    return list(dict.fromkeys(lines))


def _line(
    frame: StackFrame, at_work: Counts, batches: Sequence[Mapping[tuple[str, StackFrame], int]]
) -> dict[str, Any]:
    mine = Counter({key: count for key, count in at_work.items() if key[1][0] == frame})
    states, callers = _by_state(mine), Counter[StackFrame]()
    for (_, stack), count in mine.items():
        callers[_own_caller(stack)] += count
    caller = callers.most_common(1)[0][0]
    return {
        "function": frame.function,
        "file": frame.file,
        "line": frame.line,
        "is_library": frame.is_library,
        "caller": "" if caller == UNKNOWN else str(caller),
        "states": {state: _share(states[state], at_work.total()) for state in WORK},
        "waits": {wait: [batch.get((wait, frame), 0) for batch in batches] for wait in WAITS if states[wait]},
    }


def _own_caller(stack: Stack) -> StackFrame:
    """Return the frame that called a library: the nearest in the user's code, or else in another library."""
    if not stack[0].is_library:
        return UNKNOWN
    package = stack[0].file.partition("/")[0]
    others = (frame for frame in stack if frame.file.partition("/")[0] != package)
    return next((frame for frame in stack if not frame.is_library), next(others, UNKNOWN))
