"""Which functions and which locks a profile is made of: the output of perf script, read and counted. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple

from core.messages import NOTHING, Message, chained, listed, message, plural

SWITCHES = "switches"
UNKNOWN = "[unknown]"
SMALL_SHARE = 0.01

_HEADER = re.compile(r"^\s*(\d+)\s+(\S+):\s*$")
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \(([^()]*(?:\([^()]*\))?)\)$")
_KERNEL = re.compile(r"^\[(?!unknown\])")  # [kernel.kallsyms], [vdso], a module such as [nf_tables]
_SUFFIX = re.compile(r"(@@?[A-Z]+_[\d.]+|\.(isra|part|constprop|cold|lto_priv|llvm)(\.\d+)?|\[k\])+$")
LOCKS = {
    "gil": (message("the GIL"), re.compile(r"^(take_gil|drop_gil(_impl)?|_?PyEval_(Acquire|Release)Lock)$")),
    "stop_the_world": (message("a stop of all threads"), re.compile(
        r"^(stop_the_world|start_the_world|_PyEval_(Stop|Start)TheWorld\w*)$")),
    "critical_section": (message("a critical section"), re.compile(r"^_?PyCriticalSection2?_\w+$")),
    "threading_lock": (message("a threading lock"), re.compile(
        r"^(lock_PyThread_\w+|PyThread_(acquire|release)_lock\w*|acquire_timed|rlock_\w+)$")),
    "mutex": (message("a PyMutex"), re.compile(
        r"^_?Py(Mutex|RawMutex|RWMutex|RecursiveMutex|ParkingLot|Semaphore)_\w+$")),
    "kernel_lock": (message("a kernel lock"), re.compile(
        r"^(native_queued_spin_lock_\w+|(_raw|queued)_(spin|read|write)_(try)?lock\w*"
        r"|__?mutex_lock\w*|mutex_(lock|unlock)\w*|(rwsem_)?down_(read|write)\w*|osq_lock)$")),
    "lock": (message("a lock"), re.compile(
        r"futex|lll_lock|pthread_(mutex|cond|rwlock|spin)_|^(__new_)?sem_\w*(wait|post)"
        r"|lock_(slow|contended)|park_slow|ObjectMonitor|Unsafe_Park")),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One sample: what was counted, how much it stands for, and (symbol, object) of each frame, innermost first."""

    event: str
    weight: int
    stack: tuple[tuple[str, str], ...]


class Function(NamedTuple):
    """What a sample counts for; lock as in Hot."""

    symbol: str
    dso: str
    lock: str


@dataclass(frozen=True, kw_only=True)
class Hot:
    """A function, and what the service spent in it.

    symbol, dso: its name, and the program, library or [kernel] that it is in
    share: 0..1, of the service's CPU time; what the kernel does for a function is the function's
    switch_share: 0..1, of its context switches, voluntary or not; None: not counted
    lock: a key of LOCKS, or "". A lock's shares hold all that is done in it and for it, contended or not
    """

    symbol: str
    dso: str
    share: float
    switch_share: float | None
    lock: str


@dataclass(frozen=True, kw_only=True)
class HotSpots:
    """Functions and locks, the hottest first; each sample counts for one of them, so that the shares add up to 1.

    samples: of CPU time; lost_share: 0..1, of all samples, as far as perf said
    kernel_counted: False if perf may not inspect the kernel: what happens there is then in no share
    """

    hot: tuple[Hot, ...]
    samples: int
    kernel_counted: bool
    lost_share: float = 0.0

    def to_json(self, most: int = 20) -> dict[str, Any]:
        """What result.json keeps: the sentence, and the hottest *most*."""
        hot = [asdict(function) for function in self.hot[:most]]
        return {**asdict(self), "hot": hot, "sentence": self.sentence().to_json()}

    def sentence(self) -> Message:
        """The hottest function, the hottest lock, and what that is based on."""
        return chained([_hottest_function(self.hot), _hottest_lock(self.hot), self._basis()])

    def _basis(self) -> Message:
        samples = plural("from {count} sample", "from {count:,} samples", count=self.samples)
        if self.lost_share:
            samples = message("{samples} ({lost} were lost)", samples=samples, lost=percent(self.lost_share))
        if self.kernel_counted:
            return samples
        return message("{samples}, none of them in the kernel, which perf may not inspect here", samples=samples)


def parsed(lines: Iterable[str]) -> Iterator[Sample]:
    """The samples in the output of perf script: a header, a line for each frame, an empty line."""
    header: re.Match[str] | None = None
    stack: list[tuple[str, str]] = []
    for line in chain(lines, [""]):
        if frame := _FRAME.match(line):
            stack.append((_SUFFIX.sub("", frame[1]), frame[2]))
        elif header and not line.strip():
            yield Sample(event=header[2], weight=int(header[1]), stack=tuple(stack))
            header, stack = None, []
        elif match := _HEADER.match(line):
            header = match


def profile_of(samples: Iterable[Sample]) -> HotSpots:
    """Count what each sample stands for, for the lock or function that it belongs to."""
    cpu, switches, events = Counter[Function](), Counter[Function](), Counter[str]()
    for sample in samples:
        (switches if _is_switch(sample.event) else cpu)[owner_of(sample.stack)] += sample.weight
        events[sample.event] += 1
    hot = [
        Hot(
            **owner._asdict(),
            share=round(cpu[owner] / max(1, cpu.total()), 4),
            switch_share=round(switches[owner] / switches.total(), 4) if switches else None,
        )
        for owner in {**cpu, **switches}
    ]
    of_cpu = [event for event in events if not _is_switch(event)]
    return HotSpots(
        hot=tuple(sorted(hot, key=lambda function: (-function.share, -(function.switch_share or 0), function.symbol))),
        samples=sum(events[event] for event in of_cpu),
        kernel_counted=not any("u" in event.partition(":")[2] for event in of_cpu),
    )


def _is_switch(event: str) -> bool:
    return event.partition(":")[0] == SWITCHES


def owner_of(stack: Sequence[tuple[str, str]]) -> Function:
    """The frame that the sample counts for.

    That is the outermost that takes or gives back a lock (the one that the program asked for: what it is made of is
    further in), or the innermost outside the kernel, or the innermost.
    """
    for symbol, dso in reversed(stack):
        if lock := lock_of(symbol):
            return Function(symbol, _short(dso), lock)
    outside = (frame for frame in stack if frame[0] != UNKNOWN and not _KERNEL.match(frame[1]))
    symbol, dso = next(outside, stack[0] if stack else (UNKNOWN, UNKNOWN))
    return Function(symbol, _short(dso), "")


def lock_of(symbol: str) -> str:
    """Which lock a function of this name takes or gives back: a key of LOCKS, or ''."""
    return next((lock for lock, (_, names) in LOCKS.items() if names.search(symbol)), "")


def _short(dso: str) -> str:
    return "[kernel]" if dso.startswith("[kernel") else dso.rpartition("/")[2]


def _hottest_function(hot: Sequence[Hot]) -> Message:
    hottest = next((function for function in hot if not function.lock), None)
    if hottest is None:
        return NOTHING
    share = percent(hottest.share)
    return message("the hottest function is {symbol} ({share} of CPU time)", symbol=hottest.symbol, share=share)


def _hottest_lock(hot: Sequence[Hot]) -> Message:
    """Functions of the same lock are taken together: there is one GIL, but there are many mutexes."""
    groups: dict[str, list[Hot]] = {}
    for function in hot:
        if function.lock:
            groups.setdefault("" if function.lock == "gil" else function.symbol, []).append(function)
    group = max(groups.values(), key=_heat, default=[])
    if _heat(group) < SMALL_SHARE:
        return message("no lock takes {share}", share=percent(SMALL_SHARE))
    symbols, kind = listed(function.symbol for function in group[:2]), LOCKS[group[0].lock][0]
    lock, detail = (kind, symbols) if group[0].lock == "gil" else (symbols, kind)
    cpu_share = percent(sum(function.share for function in group))
    if group[0].switch_share is None:
        return message(
            "the hottest lock is {lock} ({detail}: {share} of CPU time)", lock=lock, detail=detail, share=cpu_share
        )
    return message(
        "the hottest lock is {lock} ({detail}: {share} of CPU time, {switch_share} of context switches)",
        lock=lock,
        detail=detail,
        share=cpu_share,
        switch_share=percent(sum(function.switch_share or 0 for function in group)),
    )


def _heat(group: Sequence[Hot]) -> float:
    return max(sum(function.share for function in group), sum(function.switch_share or 0 for function in group))


def percent(share: float) -> str:
    """Return a share of 0..1 in percent."""
    return f"{share * 100:.0f} %"
