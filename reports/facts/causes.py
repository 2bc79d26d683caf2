"""Causes that cost a service throughput or latency, and how much can be gained at most if one is removed.

Pure: no input or output. docs/why.md derives the bounds. reports/topics/advice.py has the advice against each cause.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple

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


class Bound(NamedTuple):
    """The most that removing a cause can gain, in throughput and in p99, as shares (0.1 = 10 %); None if unknown."""

    throughput: Estimate | None
    p99: Estimate | None = None

    @property
    def little(self) -> str:
        """The possible throughput gain as text if removing the cause gains next to nothing; otherwise empty.

        Then the gains in throughput and p99 are below LEAST_GAIN, and cannot explain a ratio between runtimes.
        """
        known = [one for one in (self.throughput, self.p99) if one]
        is_little = all(most(one) < LEAST_GAIN for one in known)
        return estimate(self.throughput, percent) if self.throughput and is_little else ""


def most(bound: Estimate) -> float:
    """Return the largest gain that *bound* allows: the upper end of its interval, or its value if it has no interval.

    With fewer than 3 blocks there is no interval.
    """
    return bound.high if isfinite(bound.high) else bound.value


def bound(row: Row | None, run: Run, share: float, burnt: float | None, p99: Estimate | None = None) -> Bound:
    """Return the upper bound of the gain from removing a cause that takes *share* of the request time of *row*.

    burnt: upper bound of the share of the services' CPU time that the cause takes; None if unknown, because removing
        the cause may then save any amount of CPU time
    """
    cores = cores_of(run, SERVICE, CLIENT)
    of_its_own = 1 / max(LEAST_BUSY, 1 - share) - 1
    gains = []
    for cell in row.good if row else ():
        ours, services = cpu_ns([*cell.services, *cell.clients]), cpu_ns(cell.services)
        if ours and services is not None and cores:
            busy = (ours - (burnt or 0) * services) / cell.wall_ns / cores  # cores of other processes count as idle
            of_idle = max(0.0, 1 / max(LEAST_BUSY, busy) - 1)
            gains.append(of_its_own if burnt is None else min(of_its_own, of_idle))
    return Bound(throughput=effect(gains) if gains else None, p99=p99)


def row_of(rows: Iterable[Row], profile: Mapping[str, Any]) -> Row | None:
    """Return the table row of the system, parameters and runtime that were profiled; None if they were not measured."""
    arm = profile["system"], profile["params"], profile["runtime"]
    return next((row for row in rows if (row.system, row.params, row.runtime) == arm), None)


def bound_of_lock(
    run: Run, rows: Iterable[Row], profile: Mapping[str, Any], share: float, owners: Iterable[str] = ("",)
) -> Bound:
    """Return the upper bound of the gain from removing lock waits that take *share* of the time in *profile*.

    owners: types of the objects that have the locks
    With a GIL, waiting threads sleep. Without a GIL, threads spin first; a profile of locks counts the spinning for
    locks of Python code only. There is no bound for the locks of containers, because moving such a lock between cores
    takes CPU time that is not counted.
    """
    burnt: float | None = 0.0
    if not RuntimeName(profile["runtime"]).gil_enabled:
        if not LOCKS.issuperset(owners):
            return Bound(throughput=None)
        arm = ("system", "params", "runtime")
        alike = [one for one in run.profiles if all(one.get(key) == profile[key] for key in arm)]
        burnt = next((one["waiting_cpu_share"] for one in alike if "waiting_cpu_share" in one), None)
    return bound(row_of(rows, profile), run, share, burnt)
