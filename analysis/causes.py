"""Causes that cost a service throughput, from its profiles: lines of code that wait for locks,
contended locks and pauses; and how much can be gained at most if the time of a cause is saved.

A profile is an entry of Run.profiles, a dict with the keys of record/result_parts.py: Profile. The
samples of a profile of `--profile python` are counted in batches, successive periods of equal
length; shares are of working time, the samples of threads at work. docs/why.md derives the bounds
of the gain. A row (analysis/cell_index.py: Row) is one setting under one runtime. The sections
locks, waits and lost_time of reports/sections show the results.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf, isfinite
from operator import itemgetter
from typing import Any, NamedTuple

from analysis.cell_index import Row, grouped, is_open
from analysis.formats import percent
from analysis.gates import cores_of
from analysis.metrics import all_cores_used, cores_used
from analysis.stats import Estimate, difference, effect, share
from core.messages import NOTHING, Json, Message, message
from core.runtime import RuntimeName
from core.system import CLIENT, SERVICE
from record.saved_run import Run

Profile = Json  # a profile, or one of its lines (record/result_parts.py: Line)
LEAST_GAIN = 0.03  # of the throughput; the report lists causes that can gain less last
LEAST_BUSY = 0.01  # least value of the shares that bound() divides by, so that a gain is finite
# types of the locks of Python code; a profile counts the spinning for these, but not for others
LOCKS = frozenset({"_thread.lock", "_thread.RLock"})
LEAST_SHARE = 0.02  # of working time; the low end of a finding's interval is above it
LOCK = "lock"  # the key of Line.waits for waiting for a lock


# ---- contended locks and pauses: profiles of `--profile locks` -----------------------------------


def lock_profiles(run: Run) -> list[Profile]:
    """Return the lock profiles of a run that contain measured results."""
    return [one for one in run.profiles if one.get("kind") == "locks" and "contended" in one]


def stops_per_request(profile: Profile) -> float:
    """Return the number of stop-the-world pauses per request."""
    return float(profile["stops"] / max(1, profile["requests"]))


def share_of_time(profile: Profile, name: str) -> float:
    """Return the share of the total request time that a profile's field, such as waiting_ns,
    accounts for.
    """
    return float(min(1.0, profile[name] / max(1, profile["in_flight_ns"])))


# ---- lines of code that wait: profiles of `--profile python` -------------------------------------


class WaitingLine(NamedTuple):
    """A line of code at which threads wait for a lock, with the share of their working time that
    they wait there.

    caller: the line of the user's own code that called the function
    """

    runtime: str
    function: str
    place: str
    file: str
    caller: str
    share: Estimate


class WaitChange(NamedTuple):
    """A line of code that waits for a lock longer under one runtime than under another, in shares
    of working time.
    """

    wait: WaitingLine
    other: str
    other_share: float
    by: Estimate


def python_profiles(run: Run) -> list[list[Profile]]:
    """Return the profiles of `--profile python` that name lines of code, grouped by setting, in the
    plan's order.
    """
    found: list[Profile] = [
        one for one in run.profiles if one.get("kind") == "python" and "lines" in one
    ]
    return [*grouped(found, lambda profile: f"{profile['system']} {profile['params']}").values()]


def waits(profile: Profile, profiles: Iterable[Profile]) -> list[WaitingLine]:
    """Return the lines of code in *profile* that wait significantly for a lock, longest wait first.

    profiles: all profiles whose lines are tested together
    """
    tests = sum(len(_waiting(each)) for each in profiles)
    shown = (_waiting_line(profile, line, tests) for line in _waiting(profile))
    return sorted(
        (wait for wait in shown if wait.share.low > LEAST_SHARE), key=lambda wait: -wait.share.value
    )


def _waiting(profile: Profile) -> list[Profile]:
    return [line for line in profile["lines"] if line["file"] and LOCK in line.get("waits", ())]


def _waiting_line(profile: Profile, line: Profile, tests: int = 1) -> WaitingLine:
    waiting = share(line["waits"][LOCK], profile["batches"], tests)
    caller = line.get("caller", "")
    return WaitingLine(
        profile["runtime"], line["function"], place_of(line), line["file"], caller, waiting
    )


def place_of(line: Profile) -> str:
    """Return a line of code as 'file:line', or the file alone if the line number is not known."""
    return f"{line['file']}:{line['line']}" if line["line"] else str(line["file"])


def changes(profiles: Sequence[Profile]) -> list[WaitChange]:
    """Return the lines of code that wait significantly more under one of two runtimes, largest
    difference first.
    """
    pairs = [pair for one, other in pairwise(profiles) for pair in ((one, other), (other, one))]
    # Bonferroni: the intervals must hold for all lines of all pairs together
    tests = sum(len(_waiting(profile)) for profile, _ in pairs)
    found = []
    for profile, other in pairs:
        version, other_version = (RuntimeName(one["runtime"]).version for one in (profile, other))
        for line in _waiting(profile):
            other_waits = _same_line_waits(other, line, is_alike=version == other_version)
            by = difference(
                line["waits"][LOCK], profile["batches"], other_waits, other["batches"], tests
            )
            if by.low > LEAST_SHARE:
                other_share = sum(other_waits) / max(1, sum(other["batches"]))
                found.append(
                    WaitChange(_waiting_line(profile, line), other["runtime"], other_share, by)
                )
    return sorted(found, key=lambda one: -one.by.value)


def _same_line_waits(profile: Profile, line: Profile, *, is_alike: bool) -> list[int]:
    """Return how many samples of *profile* show the code line *line* waiting for a lock, by batch
    of samples.

    is_alike: False if library versions may differ; lines of libraries are then matched by function
    """
    names = (
        ("function", "file", "line")
        if is_alike or not line.get("is_library")
        else ("function", "file")
    )
    place_of_line = itemgetter(*names)
    same = [
        other["waits"][LOCK]
        for other in _waiting(profile)
        if place_of_line(other) == place_of_line(line)
    ]
    return list(map(sum, zip(*same, strict=True))) or [0] * len(profile["batches"])


# ---- how much can be gained ----------------------------------------------------------------------


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
        used, of_services = all_cores_used(cell), cores_used(cell, cell.services)
        if used and of_services is not None and cores:
            # cores of other processes count as idle
            busy = (used - (burnt or 0) * of_services) / cores
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


def row_of(rows: Iterable[Row], profile: Json) -> Row | None:
    """Return the table row of the system, parameters and runtime that were profiled; None if they
    were not measured.
    """
    arm = _arm_of(profile)
    return next((row for row in rows if (row.system, row.params, row.runtime) == arm), None)


def _arm_of(profile: Json) -> tuple[Any, ...]:
    return profile["system"], profile.get("params"), profile["runtime"]


def bound_of_lock(
    run: Run,
    rows: Iterable[Row],
    profile: Json,
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
