"""Causes that cost a service throughput, and how much can be gained at most if the time that one
takes is saved.

docs/why.md derives the bounds. reports/sections/lost_time.py finds the causes, and takes the bound
of each from here. A profile is an entry of Run.profiles, a dict with the keys of
record/profile.py: Profile. A row (analysis/cell_index.py: Row) is one setting under one runtime.
"""

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any

from analysis.cell_index import Row
from analysis.formats import percent
from analysis.host_facts import cores_of
from analysis.metrics import cpu_ns
from analysis.open_loop import is_open
from analysis.stats import effect
from core.messages import NOTHING, Message, message
from core.runtime import RuntimeName
from core.system import CLIENT, SERVICE
from record.saved_run import Run

LEAST_GAIN = 0.03  # of the throughput; the report lists causes that can gain less last
LEAST_BUSY = 0.01  # least value of the shares that bound() divides by, so that a gain is finite
# types of the locks of Python code; a profile counts the spinning for these, but not for others
LOCKS = frozenset({"_thread.lock", "_thread.RLock"})


def bound(row: Row | None, run: Run, share: float, burnt: float | None) -> float | None:
    """Return how much the throughput of *row* can rise at most if a cause takes none of the
    requests' time any more.

    The gain is a share, the largest that the spread of the blocks allows; None if unknown, or at a
    fixed rate (RATE), which sets the throughput.
    share: the share of the requests' time that the cause takes
    burnt: upper bound of the share of the services' CPU time that the cause takes; None if unknown,
        because removing the cause may then save any amount of CPU time
    """
    cores = cores_of(run, SERVICE, CLIENT)
    # if a request takes only the rest of its time, throughput is 1 / (1 - share) times as high
    of_its_own = 1 / max(LEAST_BUSY, 1 - share) - 1
    gains = []
    for cell in row.good if row and not is_open(row.params) else ():
        ours, services = cpu_ns([*cell.services, *cell.clients]), cpu_ns(cell.services)
        if ours and services is not None and cores and cell.wall_ns:
            busy = (
                (ours - (burnt or 0) * services) / cell.wall_ns / cores
            )  # cores of other processes count as idle
            # with the same CPU time per request, throughput cannot exceed that of busy cores
            of_idle = max(0.0, 1 / max(LEAST_BUSY, busy) - 1)
            gains.append(of_its_own if burnt is None else min(of_its_own, of_idle))
    if not gains:
        return None
    seen = effect(gains)
    # fewer than 3 blocks have no interval
    return seen.high if isfinite(seen.high) else max(gains)


def gain_words(gain: float | None, most: float = inf) -> Message:
    """Return a sentence on what saving the time of a cause can gain; empty if it is unknown, or
    *most* or more.
    """
    if gain is None or gain >= most:
        return NOTHING
    return message(
        "Eliminating this time alone would raise throughput by at most {gain}.", gain=percent(gain)
    )


def row_of(rows: Iterable[Row], profile: Mapping[str, Any]) -> Row | None:
    """Return the table row of the system, parameters and runtime that were profiled; None if they
    were not measured.
    """
    arm = _arm_of(profile)
    return next((row for row in rows if (row.system, row.params, row.runtime) == arm), None)


def _arm_of(profile: Mapping[str, Any]) -> tuple[Any, ...]:
    return profile["system"], profile.get("params"), profile["runtime"]


def bound_of_lock(
    run: Run,
    rows: Iterable[Row],
    profile: Mapping[str, Any],
    share: float,
    owners: Iterable[str] = ("",),
) -> float | None:
    """Return the upper bound of the gain from removing lock waits that take *share* of the time in
    *profile*.

    owners: types of the objects that have the locks
    With a GIL, waiting threads sleep. Without a GIL, threads spin first; a profile of locks counts
    the spinning for locks of Python code only. There is no bound for the locks of containers,
    because moving such a lock between cores takes CPU time that is not counted.
    """
    burnt: float | None = 0.0
    if not RuntimeName(profile["runtime"]).gil_enabled:
        if not LOCKS.issuperset(owners):
            return None
        alike = [one for one in run.profiles if _arm_of(one) == _arm_of(profile)]
        burnt = next(
            (one["waiting_cpu_share"] for one in alike if "waiting_cpu_share" in one), None
        )
    return bound(row_of(rows, profile), run, share, burnt)
