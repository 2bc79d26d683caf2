"""Parse the output of `perf script`, and sum up CPU time and context switches by function and lock. Does no I/O."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from core.messages import NOTHING, Message, chained, listed, message, plural

SWITCHES = "switches"
UNKNOWN = "[unknown]"
SMALL_SHARE = 0.01

_HEADER = re.compile(r"^\s*(\d+)\s+(\S+):\s*$")
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \(([^()]*(?:\([^()]*\))?)\)$")
_KERNEL = re.compile(r"^\[(?!unknown\])")  # matches [kernel.kallsyms], [vdso], or a kernel module such as [nf_tables]
_SUFFIX = re.compile(r"(@@?[A-Z]+_[\d.]+|\.(isra|part|constprop|cold|lto_priv|llvm)(\.\d+)?|\[k\])+$")
LOCKS = {
    "gil": (message("the GIL"), re.compile(r"^(take_gil|drop_gil(_impl)?|_?PyEval_(Acquire|Release)Lock)$")),
    "stop_the_world": (message("a stop-the-world pause"), re.compile(
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


class Sample(NamedTuple):
    """One sample that perf took, with its call stack.

    event: what perf counted; weight: how many events the sample represents
    stack: (symbol, file) of each frame, innermost first
    """

    event: str
    weight: int
    stack: tuple[tuple[str, str], ...]


class HotFunction(NamedTuple):
    """A function with its share of the service's CPU time and context switches.

    symbol: the function's name; dso: the program or library that contains it, or [kernel]
    share: share of the service's CPU time, 0..1, including kernel work on behalf of the function
    switch_share: share of the service's context switches, voluntary or not, 0..1; None if they were not counted
    lock: a key of LOCKS, or "". A lock's shares include all work of taking and releasing it, contended or not
    """

    symbol: str
    dso: str
    share: float
    switch_share: float | None
    lock: str


class HotSpots(NamedTuple):
    """The hot spots of a service, hottest first. Each sample counts for one hot spot, so the shares add up to 1.

    samples: the number of CPU time samples
    kernel_counted: whether perf may inspect the kernel; if not, the shares do not include time in the kernel
    lost_share: share of all samples that perf lost, 0..1
    """

    hot: tuple[HotFunction, ...]
    samples: int
    kernel_counted: bool
    lost_share: float = 0.0

    def to_json(self, limit: int = 20) -> dict[str, Any]:
        """Return the content for result.json: a summary sentence, and up to *limit* hottest functions and locks."""
        hot = [function._asdict() for function in self.hot[:limit]]
        return {**self._asdict(), "hot": hot, "sentence": self.sentence().to_json()}

    def sentence(self) -> Message:
        """Return a sentence that names the hottest function, the hottest lock, and the number of samples."""
        return chained([_hottest_function(self.hot), _hottest_lock(self.hot), self._basis()])

    def _basis(self) -> Message:
        samples = plural("based on {count} sample", "based on {count:,} samples", count=self.samples)
        if self.lost_share:
            samples = message(
                "{samples} ({lost} of all samples were lost)", samples=samples, lost=percent(self.lost_share)
            )
        if self.kernel_counted:
            return samples
        return message(
            "{samples}, without kernel samples because perf is not permitted to inspect the kernel here",
            samples=samples,
        )


def parse_samples(lines: Iterable[str]) -> Iterator[Sample]:
    """Parse the output of `perf script`. Each sample is a header, one line per frame, and an empty line."""
    header: re.Match[str] | None = None
    stack: list[tuple[str, str]] = []
    for line in chain(lines, [""]):
        if frame := _FRAME.match(line):
            stack.append((_SUFFIX.sub("", frame[1]), frame[2]))
        elif header and not line.strip():
            yield Sample(header[2], int(header[1]), tuple(stack))
            header, stack = None, []
        elif match := _HEADER.match(line):
            header = match


def count_hot_spots(samples: Iterable[Sample]) -> HotSpots:
    """Sum the weights of perf samples by the function or lock to which each sample is attributed."""
    cpu, switches = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    cpu_samples, kernel_counted = 0, True
    for event, weight, stack in samples:
        name, _, modifiers = event.partition(":")
        owner = attribute(stack)
        if name == SWITCHES:
            switches[owner] += weight
        else:
            cpu[owner] += weight
            cpu_samples += 1
            kernel_counted = kernel_counted and "u" not in modifiers
    hot = [
        HotFunction(
            symbol=symbol,
            dso=dso,
            share=round(cpu[symbol, dso, lock] / max(1, cpu.total()), 4),
            switch_share=round(switches[symbol, dso, lock] / switches.total(), 4) if switches else None,
            lock=lock,
        )
        for symbol, dso, lock in {**cpu, **switches}
    ]
    hot.sort(key=lambda function: (-function.share, -(function.switch_share or 0), function.symbol))
    return HotSpots(hot=tuple(hot), samples=cpu_samples, kernel_counted=kernel_counted)


def attribute(stack: Sequence[tuple[str, str]]) -> tuple[str, str, str]:
    """Return the function to which a sample with this *stack* is attributed: its symbol, its program, and its lock.

    It is the outermost function that takes or releases a lock, because this is the lock that the program asked for;
    the locks that implement it are further in. Without a lock it is the innermost function outside the kernel, or else
    the innermost function.
    """
    for symbol, dso in reversed(stack):
        if lock := lock_kind(symbol):
            return symbol, _short(dso), lock
    outside = (frame for frame in stack if frame[0] != UNKNOWN and not _KERNEL.match(frame[1]))
    symbol, dso = next(outside, stack[0] if stack else (UNKNOWN, UNKNOWN))
    return symbol, _short(dso), ""


def lock_kind(symbol: str) -> str:
    """Return the kind of lock (a key of LOCKS) that the function *symbol* takes or releases; "" if none."""
    return next((lock for lock, (_, names) in LOCKS.items() if names.search(symbol)), "")


def _short(dso: str) -> str:
    return "[kernel]" if dso.startswith("[kernel") else dso.rpartition("/")[2]


def _hottest_function(hot: Sequence[HotFunction]) -> Message:
    hottest = next((function for function in hot if not function.lock), None)
    if hottest is None:
        return NOTHING
    share = percent(hottest.share)
    return message("the hottest function is {symbol} ({share} of CPU time)", symbol=hottest.symbol, share=share)


def _hottest_lock(hot: Sequence[HotFunction]) -> Message:
    """Return a sentence that names the hottest lock.

    All functions of the GIL count together because there is only one GIL. For other kinds of locks, each function
    counts alone because there may be many locks of that kind.
    """
    groups: dict[str, list[HotFunction]] = {}
    for function in hot:
        if function.lock:
            groups.setdefault("" if function.lock == "gil" else function.symbol, []).append(function)
    group = max(groups.values(), key=_heat, default=[])
    if _heat(group) < SMALL_SHARE:
        return message(
            "no lock accounts for {share} or more of CPU time or context switches", share=percent(SMALL_SHARE)
        )
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


def _heat(group: Sequence[HotFunction]) -> float:
    return max(sum(function.share for function in group), sum(function.switch_share or 0 for function in group))


def percent(share: float) -> str:
    """Format a share between 0 and 1 as a percentage, such as '12 %'."""
    return f"{share * 100:.0f} %"
