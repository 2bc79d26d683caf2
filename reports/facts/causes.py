"""Causes that cost a service throughput or latency, and how much the end of each can gain at most. Pure.

docs/why.md derives the bounds. What helps against a cause: reports/facts/advice.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from core.messages import Message
from core.result import Run
from core.runtime import RuntimeName
from core.system import CLIENT, SERVICE
from reports.document.model import estimate
from reports.document.values import percent
from reports.facts.cells import Row
from reports.facts.figures import cpu_ns
from reports.facts.hosts import cores_of
from reports.statistics.stats import Estimate, effect

LEAST_GAIN = 0.03
LEAST_BUSY = 0.01
LOCKS = frozenset({"_thread.lock", "_thread.RLock"})


@dataclass(frozen=True, kw_only=True)
class Bound:
    """At most so much more throughput, and so much less of p99: shares, over the blocks; None if that is not known."""

    throughput: Estimate | None
    p99: Estimate | None = None

    @property
    def little(self) -> str:
        """The gain of throughput if it is so little that the cause is no reason of a ratio; else nothing."""
        known = [one for one in (self.throughput, self.p99) if one]
        is_little = all(most(one) < LEAST_GAIN for one in known)
        return estimate(self.throughput, percent) if self.throughput and is_little else ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What was found, in words. bound: how much its end can gain; None if that is unknown"""

    found: Message
    bound: Bound | None = None

    @property
    def is_little(self) -> bool:
        """Whether it is known that its end can gain next to nothing."""
        return bool(self.bound and self.bound.little)


@dataclass(frozen=True, kw_only=True)
class Cost(Fact):
    """What takes *share* of something, 0..1."""

    share: float


@dataclass(frozen=True, kw_only=True)
class Collecting(Cost):
    """Garbage collections of a service. share: of the time of its processes

    holds_up: whether they were found to hold up its slow requests (reports.topics.pauses)
    """

    longest_ns: int
    holds_up: bool = False


@dataclass(frozen=True, kw_only=True)
class LockWait(Cost):
    """Threads that wait for a lock at a line. share: of the time of requests, or of the threads' time at work

    owner: type of the object whose lock it is, [FILE] of which it is a variable, "" where that is not known
    files: of the line, then of those that led there
    under_gil: where containers have no locks, so that it is one of the program's or of an extension
    """

    owner: str
    files: tuple[str, ...] = ()
    under_gil: bool = False


@dataclass(frozen=True, kw_only=True)
class Stops(Cost):
    """Stops of all threads at a line. share: of the time of requests; function: that has the line"""

    runtime: str
    per_request: float
    function: str = ""


@dataclass(frozen=True, kw_only=True)
class SharedCounts(Cost):
    """Reference counts that several threads change. share: of CPU time, a lower bound"""


@dataclass(frozen=True, kw_only=True)
class SlowRelease(Fact):
    """A patch release of the free-threaded build that is slower than another runtime, and stops all threads."""


@dataclass(frozen=True, kw_only=True)
class Stressed(Fact):
    """A finding of a stress: its kind (reports.terminal.stress), and the lines that were noticed."""

    kind: str
    only_without_gil: bool
    lines: tuple[str, ...] = ()


def most(bound: Estimate) -> float:
    """Return the upper end of a bound's interval; of fewer than 3 blocks the bound itself."""
    return bound.high if isfinite(bound.high) else bound.value


def bound(row: Row | None, run: Run, share: float, burnt: float | None, p99: Estimate | None = None) -> Bound:
    """Return what a cause that takes *share* of the time of *row*'s requests can gain.

    burnt: share of the services' CPU time that the cause itself takes at most; None if that is not known, for then
    there may be any amount of CPU time to save
    """
    cores = cores_of(run, SERVICE, CLIENT)
    of_its_own = 1 / max(LEAST_BUSY, 1 - share) - 1
    gains = []
    for cell in row.good if row else ():
        ours, services = cpu_ns([*cell.services, *cell.clients]), cpu_ns(cell.services)
        if ours and services is not None and cores:
            busy = (ours - (burnt or 0) * services) / cell.wall_ns / cores  # a core that others use may become ours
            of_idle = max(0.0, 1 / max(LEAST_BUSY, busy) - 1)
            gains.append(of_its_own if burnt is None else min(of_its_own, of_idle))
    return Bound(throughput=effect(gains) if gains else None, p99=p99)


def row_of(rows: Iterable[Row], profile: Mapping[str, Any]) -> Row | None:
    """Return the row of the arm that was profiled; None if it was not measured."""
    arm = profile["system"], profile["params"], profile["runtime"]
    return next((row for row in rows if (row.system, row.params, row.runtime) == arm), None)


def bound_of_lock(
    run: Run, rows: Iterable[Row], profile: Mapping[str, Any], share: float, owners: Iterable[str] = ("",)
) -> Bound:
    """Return what the end of waiting for locks can gain, which takes *share* of the time in *profile*.

    owners: types of the objects whose locks these are. Who waits sleeps under a GIL. Without one, threads spin first,
    which a profile of locks counts for the locks of Python code. A container is also slower while its lock moves from
    core to core: what that takes nobody counts, so there is no bound.
    """
    burnt: float | None = 0.0
    if not RuntimeName.parse(profile["runtime"]).gil_enabled:
        if not LOCKS.issuperset(owners):
            return Bound(throughput=None)
        arm = ("system", "params", "runtime")
        alike = [one for one in run.profiles if all(one.get(key) == profile[key] for key in arm)]
        burnt = next((one["waiting_cpu_share"] for one in alike if "waiting_cpu_share" in one), None)
    return bound(row_of(rows, profile), run, share, burnt)
