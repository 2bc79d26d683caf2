"""How much a cause can gain at most, by what was measured; docs/why.md derives the formulas. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from core.result import CellResult, Run
from core.runtime import RuntimeName
from core.system import CLIENT, SERVICE
from reports.facts.cells import Row, setting_key
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
    def is_little(self) -> bool:
        """Whether the cause can gain less than LEAST_GAIN: it is no reason of a ratio."""
        known = [one for one in (self.throughput, self.p99) if one]
        return self.throughput is not None and all(most(one) < LEAST_GAIN for one in known)


def most(bound: Estimate) -> float:
    """Return the upper end of a bound's interval; of fewer than 3 blocks the bound itself."""
    return bound.high if isfinite(bound.high) else bound.value


def bound(row: Row | None, run: Run, share: float, burnt: float | None, p99: Estimate | None = None) -> Bound:
    """Return what a cause that takes *share* of the time of *row*'s requests can gain.

    burnt: share of the services' CPU time that the cause itself takes at most; None if that is not known, for then
    there may be any amount of CPU time to save
    """
    cores = cores_of(run, SERVICE, CLIENT)
    gains = [gain for cell in (row.good if row else ()) if (gain := _gain(cell, cores, share, burnt)) is not None]
    return Bound(throughput=effect(gains) if gains else None, p99=p99)


def _gain(cell: CellResult, cores: int, share: float, burnt: float | None) -> float | None:
    ours, services = cpu_ns([*cell.services, *cell.clients]), cpu_ns(cell.services)
    if not ours or services is None or not cores:
        return None
    of_its_own = 1 / max(LEAST_BUSY, 1 - share) - 1
    if burnt is None:
        return of_its_own
    busy = (ours - burnt * services) / cell.wall_ns / cores  # a core that others use may become ours
    return max(0.0, min(of_its_own, 1 / max(LEAST_BUSY, busy) - 1))


def row_of(rows: Iterable[Row], profile: Mapping[str, Any]) -> Row | None:
    """Return the row of the arm that was profiled; None if it was not measured."""
    arm = (*setting_key(profile["system"], profile["params"]), profile["runtime"])
    return next((row for row in rows if (*setting_key(row.system, row.params), row.runtime) == arm), None)


def bound_of_lock(
    run: Run, rows: Iterable[Row], profile: Mapping[str, Any], share: float, owners: Iterable[str] = ("",)
) -> Bound:
    """Return what the end of waiting for locks can gain, which takes *share* of the time in *profile*.

    owners: types of the objects whose locks these are. Who waits sleeps under a GIL. Without one, threads spin first,
    which a profile of locks counts for the locks of Python code. A container is also slower while its lock moves from
    core to core: what that takes nobody counts, so there is no bound.
    """
    alike = [
        one for one in run.profiles if all(one.get(key) == profile[key] for key in ("system", "params", "runtime"))
    ]
    known = [one["waiting_cpu_share"] for one in alike if "waiting_cpu_share" in one]
    under_gil = RuntimeName.parse(profile["runtime"]).gil_enabled
    if not under_gil and not LOCKS.issuperset(owners):
        return Bound(throughput=None)
    return bound(row_of(rows, profile), run, share, 0.0 if under_gil else next(iter(known), None))
